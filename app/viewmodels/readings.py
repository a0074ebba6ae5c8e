"""One number as a panel shows it: its text, how it was obtained and what it divides by.

Knows the glossary's names and how numbers are written. Knows no statistics (the figures come
from `engine.trace.statistics`) and no Qt.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

DASH = "–"
DISTURBED = "A drafter was being trained meanwhile: these times are not those of a quiet machine."


class How(StrEnum):
    """How a number was obtained."""

    MEASURED = "measured"
    DERIVED = "derived"
    PREDICTED = "predicted"
    IMPORTED = "imported"  # another program counted or measured it


@dataclass(frozen=True)
class Reading:
    """A figure ready to be shown.

    Attributes
    ----------
    name
        The glossary's word.
    text
        The number, or a dash where there is none yet.
    unit
        Written smaller behind the number.
    how
        How it was obtained.
    detail
        What it divides by, or the reason for a dash.
    definition
        One or two sentences for the tooltip.
    """

    name: str
    text: str
    unit: str
    how: How
    detail: str
    definition: str

    @property
    def known(self) -> bool:
        """Whether there is a number."""
        return self.text != DASH

    @property
    def spoken(self) -> str:
        """The whole reading as a sentence, for screen readers."""
        value = f"{self.text} {self.unit}".strip() if self.known else "not known"
        return f"{self.name}: {value}, {self.how}. {self.detail}"


def percent(value: float) -> str:
    """Write a share in [0, 1] as a percentage without its sign: 78.4, and 100 when exact."""
    return "100" if value == 1 else f"{min(100 * value, 99.9) if value < 1 else 100 * value:.1f}"


def kind_of_rounds(paced: bool, disturbed: bool) -> str:
    """Name rounds whose times are summed, with all that has to be known of them."""
    rounds = "paced rounds" if paced else "rounds"
    return f"{rounds} beside a training" if disturbed else rounds


def number(value: float) -> str:
    """Write with three significant digits: 3.12, 38.1, 412, 12,300."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def milliseconds(nanoseconds: float) -> str:
    """Write nanoseconds as milliseconds: 0.004, 0.31, 26.1, 1,240."""
    ms = nanoseconds / 1e6
    return f"{ms:.3f}" if 0 < abs(ms) < 0.1 else number(ms)


def count(value: int) -> str:
    """Write a whole number with separators."""
    return f"{value:,}"


def plural(value: int, word: str) -> str:
    """Write a number with its noun: 1 round, 2 rounds, 2 probes."""
    return f"{count(value)} {word}" if value == 1 else f"{count(value)} {word}s"
