"""How much of the draft the target kept: in total, by position, over time, by length.

Knows the figures of `engine.trace.statistics` and puts them into words. Knows no Qt. The one
thing computed here is the curve over the rounds, whose last point is the figure itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from app.viewmodels.charts import Bar, Chart
from app.viewmodels.columns import columns_of, window_ratio
from app.viewmodels.definitions import ACCEPTANCE, EXPECTED, TOKENS_PER_PASS, YIELD
from app.viewmodels.draft_ends import ShortDrafts
from app.viewmodels.imported import acceptance_readings, imported_notice
from app.viewmodels.imported_steps import tested_sums
from app.viewmodels.readings import DASH, How, Reading, count, number, percent
from engine.trace.events import DraftEnd

if TYPE_CHECKING:
    import numpy.typing as npt

    from app.viewmodels.columns import RoundColumns
    from app.viewmodels.document import Document
    from engine.trace.figures import Figures

    Array = npt.NDArray[np.float64]

WINDOW = 20  # rounds of the rolling curve


class AcceptanceModel:
    """What the acceptance panel shows over the rounds shown so far.

    Attributes
    ----------
    readings
        Acceptance, draft yield, tokens per pass, expected.
    positions, lengths
        The charts by draft position and of accepted lengths.
    cumulative, rolling
        Acceptance after each round, over all rounds so far and over the last 20; shape [rounds],
        NaN where nothing was tested.
    notice
        Why the acceptance may mislead, or "".
    short
        How many drafts were shorter than k and why, or "" where none was or `notice` says it.
    """

    def __init__(self, document: Document, visible: int = 0) -> None:
        self._document = document
        self.update(visible)

    def update(self, visible: int) -> None:
        """Show the first `visible` rounds."""
        columns = columns_of(self._document)
        end = min(visible, len(columns)) + 1
        accepted, tested = columns.sums("accepted")[:end], columns.sums("tested")[:end]
        if self._document.imported is not None:
            accepted, tested = tested_sums(self._document.imported)
        self.cumulative: Array = window_ratio(accepted, tested)
        self.rolling: Array = window_ratio(accepted, tested, WINDOW)
        figures = self._document.figures_at(visible)
        self.note = _why_nothing(figures)
        self.readings = acceptance_readings(figures.imported) or _readings(figures, self.note)
        self.positions = _positions(figures, self.note)
        self.lengths = _lengths(figures, self.note)
        drafts = _short_drafts(columns, end - 1, self._document)
        warning, words = drafts.warning(), drafts.words()
        told = imported_notice(self._document.imported)
        self.notice = " ".join(filter(None, (warning, _repetition(figures), told)))
        self.short = f"Short drafts in {words}." if words and not warning else ""

    def readout(self, index: int) -> tuple[str, str]:
        """Write the curves' values in a round, for the line under the pointer."""
        return _share(self.cumulative[index]), _share(self.rolling[index])


def _short_drafts(columns: RoundColumns, rounds: int, document: Document) -> ShortDrafts:
    """Return the short drafts of the first `rounds` rounds, from the columns' running sums."""
    sums = {end: int(columns.sums(end)[rounds]) for end in DraftEnd}
    exhausted, drafted = columns.sums("exhausted"), columns.sums("drafted")
    if not exhausted[rounds]:
        return ShortDrafts(rounds, sums)
    first = int(np.searchsorted(exhausted, 1.0)) - 1
    drafter = document.drafter_at(first)
    return ShortDrafts(
        rounds=rounds,
        ends=sums,
        exhausted=int(exhausted[rounds]),
        first_exhausted=first,
        resumed=bool(drafted[rounds] > drafted[first]),
        context_length=0 if drafter is None else drafter.context_length,
    )


def _repetition(figures: Figures) -> str:
    if not figures.repetitive or figures.repeated_share is None:
        return ""
    return (
        f"Repetition: {percent(figures.repeated_share)} % of the text's 3-grams had been "
        "there before, so the acceptance says little about other text."
    )


def _share(value: float) -> str:
    return f"{percent(float(value))} %" if np.isfinite(value) else DASH


def _why_nothing(figures: Figures) -> str:
    """Return why there is no acceptance, or "" if there is one."""
    if figures.acceptance is not None:
        return ""
    if figures.imported is not None:
        return f"not told by {figures.imported.program}"
    if not figures.rounds:
        return "no round yet"
    return "nothing tested yet" if figures.drafted or figures.cut else "nothing drafted yet"


def _readings(figures: Figures, reason: str) -> tuple[Reading, ...]:
    tested = f"{count(figures.accepted)}/{count(figures.tested)} tested"
    drafted = f"{count(figures.accepted)}/{count(figures.drafted)} drafted"
    passes = f"{count(figures.emitted)}/{count(figures.rounds)} passes"
    acceptance = figures.acceptance
    of = f"a = {percent(acceptance)} %" if acceptance is not None else ""
    of = of.replace(" ", "\N{NO-BREAK SPACE}")  # an equation stays in one line
    return (
        _reading("acceptance", acceptance, tested, ACCEPTANCE, reason, share=True),
        _reading("draft yield", figures.draft_yield, drafted, YIELD, reason, share=True),
        _reading(
            "tokens per pass",
            figures.tokens_per_pass,
            passes,
            TOKENS_PER_PASS,
            "no round yet",
        ),
        _reading(
            "expected",
            figures.expected_tokens_per_pass,
            of,
            EXPECTED,
            reason or "no whole round yet",
            how=How.DERIVED,
        ),
    )


def _reading(
    name: str,
    value: float | None,
    detail: str,
    definition: str,
    reason: str,
    *,
    share: bool = False,
    how: How = How.MEASURED,
) -> Reading:
    if value is None:
        return Reading(name, DASH, "", how, reason, definition)
    text, unit = (percent(value), "%") if share else (number(value), "")
    return Reading(name, text, unit, how, detail, definition)


def _positions(figures: Figures, note: str) -> Chart:
    told = figures.imported
    positions, overall = figures.positions, figures.acceptance
    if told is not None:
        positions, overall = told.positions, told.acceptance
    bars = tuple(
        Bar(
            label=str(place + 1),
            share=one.acceptance,
            value=percent(one.acceptance) if one.acceptance is not None else DASH,
            counts=f"{count(one.accepted)}/{count(one.tested)}",
        )
        for place, one in enumerate(positions)
    )
    return Chart(
        bars,
        axis="draft position · accepted/tested",
        reference=overall,
        reference_label="all positions",
        note=note,
    )


def _lengths(figures: Figures, note: str) -> Chart:
    told = figures.imported if figures.imported is not None else figures
    rounds = sum(told.accepted_lengths)
    # As many bars as tokens were ever drafted: a length that never came is a figure too.
    longest = max(len(told.accepted_lengths), len(told.positions) + 1)
    counts = (*told.accepted_lengths, *(0,) * (longest - len(told.accepted_lengths)))
    if told is not figures and not rounds:
        counts = ()
    bars = tuple(
        Bar(
            label=str(length),
            share=many / rounds if rounds else None,
            value=count(many),
            counts=f"{100 * many / rounds:.0f} %" if rounds else "",
        )
        for length, many in enumerate(counts)
    )
    top = max((bar.share for bar in bars if bar.share is not None), default=1.0)
    return Chart(
        bars,
        axis="accepted tokens in a round · rounds",
        top=top or 1.0,
        note=note or "no whole drafted round yet",
    )
