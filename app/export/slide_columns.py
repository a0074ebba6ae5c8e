"""The tokens of one round side by side, with q_draft, p_target and the tests below each.

Knows rounds and how many columns a slide has room for. Computes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.export.slide_charts import Picture, Series, add_chart
from app.export.slide_deck import CONTENT, Box, Look
from app.export.slide_fates import token_box
from app.export.slide_text import Paragraph, Run, words
from app.viewmodels.numbers import probability, token_label
from engine.trace.events import Fate

if TYPE_CHECKING:
    from app.export.slide_deck import Page
    from engine.trace.events import DraftedToken, Round

MOST = 8  # columns: with more of them a token is too narrow to be read
_BOX_HEIGHT = 40.0
_TOP = 34.0  # below the top of the content: a line of text stands above
_CHART_HEIGHT = 212.0


@dataclass(frozen=True)
class Columns:
    """Which tokens of a round are shown.

    Attributes
    ----------
    slots
        Of the draft, in order; those around the rejected one where there is no room for all.
    """

    round: Round
    slots: tuple[int, ...]

    @property
    def width(self) -> float:
        """Of a column, points; one more is kept for the closing token."""
        return CONTENT.width / max(4, len(self.slots) + 1)

    @property
    def left_out(self) -> str:
        """Which tokens are shown, in words; "" if all are."""
        drafted = len(self.round.drafted)
        if len(self.slots) == drafted:
            return ""
        return f"Tokens {self.slots[0] + 1} to {self.slots[-1] + 1} of {drafted} drafted ones"

    def place(self, at: int, top: float, height: float) -> Box:
        """Return where something stands in a column."""
        return Box(CONTENT.left + at * self.width + 5.0, top, self.width - 10.0, height)


def columns_of_round(one: Round) -> Columns:
    """Choose which drafted tokens of a round are shown."""
    drafted = len(one.drafted)
    most = MOST - 1
    if drafted <= most:
        return Columns(one, tuple(range(drafted)))
    rejected = next((i for i, t in enumerate(one.drafted) if t.fate is Fate.REJECTED), 0)
    first = min(max(0, rejected - most + 2), drafted - most)
    return Columns(one, tuple(range(first, first + most)))


def token_columns(
    page: Page,
    columns: Columns,
    *,
    revealed: int,
    target: bool,
    chart: bool = True,
    at: int | None = None,
    closing: bool = False,
) -> None:
    """Add a round's tokens in boxes, and below them what is known of each.

    Parameters
    ----------
    revealed
        How many verdicts have fallen.
    target
        Whether the target's pass is over.
    chart
        Bars of q_draft and p_target below the boxes; else the tests in numbers.
    at
        The token whose verdict falls.
    closing
        Whether the closing token is there.
    """
    one, theme = columns.round, page.theme
    top = CONTENT.top + (_TOP if chart else 0.0)
    for place, slot in enumerate(columns.slots):
        token = one.drafted[slot]
        fate = str(token.fate) if slot < revealed else "pending"
        token_box(page, columns.place(place, top, _BOX_HEIGHT), token_label(token.piece), fate)
    after = columns.place(len(columns.slots), top, _BOX_HEIGHT)
    if closing and one.closing is not None:
        token_box(page, after, token_label(one.closing.piece), str(one.closing.kind))
    elif target and not closing:
        look = Look(outline=theme.target, dash="dash", weight=1.5, rounded=True, anchor="ctr")
        line = words("+ 1", 14.0, theme.target, bold=True, align="centre")
        alt = "One place more: the same pass gives the target's law for it too"
        page.text(after, [line], look, name="One place more", alt=alt, keep=True)
    if chart:
        _bars(page, columns, top + _BOX_HEIGHT + 6.0, target=target)
    else:
        _tests(page, columns, top + _BOX_HEIGHT + 4.0, revealed, at, closing=closing)


def _bars(page: Page, columns: Columns, top: float, *, target: bool) -> None:
    one, theme = columns.round, page.theme
    tokens = [one.drafted[slot] for slot in columns.slots]
    spare = max(4, len(tokens) + 1) - len(tokens)
    names = tuple(f"“{token_label(token.piece)}”" for token in tokens) + (" ",) * spare
    missing: tuple[float | None, ...] = (None,) * spare
    series = [Series("q_draft", theme.drafter, (*(t.q_draft for t in tokens), *missing))]
    if target:
        reached = (*(t.p_target for t in tokens), *missing)
        series.append(Series("p_target", theme.target, reached))
    picture = Picture("columns", names, tuple(series), top=1.2, bare=True, gap=60, size=13.0)
    box = Box(CONTENT.left, top, CONTENT.width, _CHART_HEIGHT)
    alt = "Of each drafted token: " + "; ".join(_spoken(t, target=target) for t in tokens)
    add_chart(page, box, picture, "Probabilities of the drafted tokens", alt)
    key = [Run("■ ", 14.0, theme.drafter), Run("q_draft", 14.0, theme.drafter, bold=True)]
    key.append(Run(": in the law it was drawn from", 14.0, theme.muted))
    if target:
        key += [Run("     ■ ", 14.0, theme.target), Run("p_target", 14.0, theme.target, bold=True)]
        key.append(Run(": in the target's law", 14.0, theme.muted))
    if columns.left_out:
        key.append(Run(f"     {columns.left_out}", 14.0, theme.muted))
    place = Box(CONTENT.left, box.bottom + 6.0, CONTENT.width, 22.0)
    page.text(place, [Paragraph(tuple(key))], name="Key", keep=True)


def _spoken(token: DraftedToken, *, target: bool) -> str:
    said = f"{token_label(token.piece)}, q_draft {probability(token.q_draft)}"
    return f"{said}, p_target {probability(token.p_target)}" if target else said


def _tests(
    page: Page, columns: Columns, top: float, revealed: int, at: int | None, *, closing: bool
) -> None:
    """Write under each token what became of it and the numbers that decided."""
    one, theme = columns.round, page.theme
    for place, slot in enumerate(columns.slots):
        token = one.drafted[slot]
        fate = str(token.fate) if slot < revealed else "pending"
        colour = theme.fates[fate].colour
        lines = [words(fate, 14.0, colour, bold=slot == at or at is None, align="centre")]
        numbers = _compared(token) if slot < revealed else ""
        if numbers:
            lines.append(words(numbers, 12.0, theme.muted, align="centre"))
        box = columns.place(place, top, 44.0)
        page.text(box, lines, name=f"Fate of token {slot + 1}", keep=True)
    if closing and one.closing is not None:
        kind = str(one.closing.kind)
        box = columns.place(len(columns.slots), top, 44.0)
        line = words(kind, 14.0, theme.fates[kind].colour, bold=True, align="centre")
        page.text(box, [line], name="The closing token", keep=True)


def _compared(token: DraftedToken) -> str:
    if token.u is None or token.acceptance_probability is None:
        return ""
    if token.fate not in (Fate.ACCEPTED, Fate.REJECTED):
        return ""
    sign = "<" if token.fate is Fate.ACCEPTED else "≥"
    return f"{probability(token.u)} {sign} {probability(token.acceptance_probability)}"
