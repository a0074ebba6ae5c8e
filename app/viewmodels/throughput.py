"""How fast this run is beside the plain target, and how tokens arrive.

Knows the figures of `engine.trace.statistics` and says how each was obtained. Knows no Qt. The
one thing computed here is the curve over the rounds, whose last point is the figure itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from app.viewmodels.columns import columns_of, window_ratio
from app.viewmodels.definitions import LATENCY, PACED, PLAIN, PREDICTED, RUN, SPEEDUP, C
from app.viewmodels.imported import rate_readings, small_readings, times_words, whose_words
from app.viewmodels.imported_steps import timed_sums
from app.viewmodels.readings import DASH, DISTURBED, How, Reading, kind_of_rounds, number, plural

if TYPE_CHECKING:
    import numpy.typing as npt

    from app.viewmodels.document import Document
    from engine.trace.figures import Figures, PlainMeasure

    Array = npt.NDArray[np.float64]

WINDOW = 20  # rounds of the rolling curve
NO_PLAIN = "no plain round measured yet"
NO_ROUND = "no round yet"


class ThroughputModel:
    """What the throughput panel shows over the rounds shown so far.

    Attributes
    ----------
    readings
        Speed-up, this run, plain target.
    small
        Time between tokens, c, predicted speed-up.
    cumulative, rolling
        Tokens per second after each round, over all rounds so far and over the last 20; shape
        [rounds].
    plain
        The plain target as measured, or None.
    top
        Upper end of the curve's axis, tokens per second.
    source
        Where the rates come from, and whether the drafter pays, in one line.
    warning
        Why the times are not to be believed, if they are not.
    """

    def __init__(self, document: Document, visible: int = 0) -> None:
        self._document = document
        self.update(visible)

    def update(self, visible: int) -> None:
        """Show the first `visible` rounds."""
        columns = columns_of(self._document)
        end = min(visible, len(columns)) + 1
        emitted, seconds = columns.sums("emitted")[:end], columns.sums("round_ns")[:end] / 1e9
        if self._document.imported is not None:
            emitted, seconds = timed_sums(self._document.imported)
        self.cumulative: Array = window_ratio(emitted, seconds)
        self.rolling: Array = window_ratio(emitted, seconds, WINDOW)
        figures = self._document.figures_at(visible)
        self.plain: PlainMeasure | None = figures.plain
        told = figures.imported
        self.readings = rate_readings(told) or (_speedup(figures), _run(figures), _plain(figures))
        self.small = small_readings(told) or (_latency(figures), _c(figures), _predicted(figures))
        self.top = self._top(figures)
        self.source = _source(figures)
        told_by = whose_words(self._document.imported)
        self.warning = DISTURBED if figures.disturbed else told_by

    @property
    def note(self) -> str:
        """Say why the curve is empty."""
        imported = self._document.imported
        return NO_ROUND if imported is None else f"{imported.program} tells no times of rounds"

    def readout(self, index: int) -> tuple[str, str]:
        """Write the curves' values in a round, for the line under the pointer."""
        return _rate(self.cumulative[index]), _rate(self.rolling[index])

    def _top(self, figures: Figures) -> float:
        rates = [one for one in (self.cumulative, self.rolling) if np.isfinite(one).any()]
        highest = max((float(np.nanmax(one)) for one in rates), default=0.0)
        if figures.plain is not None:
            # A first pair of probes can give an interval without an upper end worth an axis.
            edge = figures.plain.high_tokens_per_second or 0.0
            highest = max(highest, min(edge, 1.5 * figures.plain.tokens_per_second))
        return nice_top(highest)


def nice_top(highest: float) -> float:
    """Return the round number that leaves a little air above the highest value."""
    if not np.isfinite(highest) or highest <= 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(highest))
    steps = (1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.5)
    return float(next(step * power for step in steps if step * power >= 1.04 * highest))


def _rate(value: float) -> str:
    return number(float(value)) if np.isfinite(value) else DASH


def _interval(low: float | None, high: float | None) -> str:
    if low is None:
        return "no interval yet"
    ends = f"over {number(low)}" if high is None else f"{number(low)}–{number(high)}"
    return f"95 %: {ends}".replace(" ", "\N{NO-BREAK SPACE}")  # stays in one line


def _speedup(figures: Figures) -> Reading:
    reason = NO_PLAIN if figures.rounds else NO_ROUND
    if figures.speedup is None:
        return Reading("speed-up", DASH, "", How.MEASURED, reason, SPEEDUP)
    detail = f"this run / plain, {_interval(figures.speedup_low, figures.speedup_high)}"
    return Reading("speed-up", f"{number(figures.speedup)}×", "", How.MEASURED, detail, SPEEDUP)


def _run(figures: Figures) -> Reading:
    definition = RUN + (PACED if figures.paced else "")
    definition += f" {DISTURBED}" if figures.disturbed else ""
    if figures.tokens_per_second is None:
        return Reading("this run", DASH, "", How.MEASURED, NO_ROUND, definition)
    rounds = kind_of_rounds(figures.paced, figures.disturbed)
    seconds = number(figures.round_ns / 1e9)
    detail = f"{plural(figures.emitted, 'token')} / {seconds} s of {rounds}"
    rate = number(figures.tokens_per_second)
    return Reading("this run", rate, "tok/s", How.MEASURED, detail, definition)


def _plain(figures: Figures) -> Reading:
    plain = figures.plain
    if plain is None:
        return Reading("plain target", DASH, "", How.MEASURED, NO_PLAIN, PLAIN)
    noun = "probe" if figures.plain_source == "probes" else "baseline round"
    interval = _interval(plain.low_tokens_per_second, plain.high_tokens_per_second)
    detail = f"{interval}, {plural(plain.samples, noun)}"
    definition = PLAIN
    other = figures.baseline if figures.plain_source == "probes" else figures.probes
    if other is not None:
        name = "baseline" if figures.plain_source == "probes" else "probes"
        rate = number(other.tokens_per_second)
        detail += f"; {name} {rate}"
        definition += f" The {name} gave {rate} tokens per second."
    return Reading(
        "plain target", number(plain.tokens_per_second), "tok/s", How.MEASURED, detail, definition
    )


def _latency(figures: Figures) -> Reading:
    name = "time between tokens p50/p95/p99"
    latency = figures.latency_ms
    if latency is None:
        return Reading(name, DASH, "", How.MEASURED, "no second round yet", LATENCY)
    text = " / ".join(_ms(value) for value in (latency.p50, latency.p95, latency.p99))
    return Reading(name, text, "ms", How.MEASURED, "milliseconds between arrivals", LATENCY)


def _ms(value: float) -> str:
    return f"{value:,.0f}" if value >= 20 else f"{value:.2g}" if value < 1 else f"{value:.1f}"


def _c(figures: Figures) -> Reading:
    if figures.c is None:
        reason = NO_PLAIN if figures.plain is None else "nothing drafted yet"
        return Reading("c", DASH, "", How.MEASURED, reason, C)
    text = f"{figures.c:.3f}" if figures.c < 0.0995 else number(figures.c)
    return Reading("c", text, "", How.MEASURED, "drafted token / plain round", C)


def _predicted(figures: Figures) -> Reading:
    value = figures.predicted_speedup
    if value is None:
        reason = NO_PLAIN if figures.plain is None else "nothing tested yet"
        return Reading("speed-up", DASH, "", How.PREDICTED, reason, PREDICTED)
    detail = "from acceptance and c" if value >= 1 else "below 1: slower than plain"
    return Reading("speed-up", f"{number(value)}×", "", How.PREDICTED, detail, PREDICTED)


def _source(figures: Figures) -> str:
    """Say where the rates come from; whether the drafter pays only where the interval is clear."""
    if figures.imported is not None:
        return times_words(figures.imported)
    if not figures.rounds:
        return ""
    paced = "Paced: rates" if figures.paced else "Rates"
    return f"{_pays(figures)}{paced} come from summed round times."


def _pays(figures: Figures) -> str:
    """Say whether the drafter pays, where both sides were measured in the same conditions."""
    if figures.plain_source == "baseline":
        return "The plain run was measured by itself, after these rounds. "
    if figures.speedup_high is not None and figures.speedup_high < 1:
        return "Slower than plain. "
    if figures.speedup_low is not None and figures.speedup_low > 1:
        return "Faster than plain. "
    return ""
