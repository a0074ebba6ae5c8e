"""A bar chart as values: heights, labels and counts. Knows no figure and no painter."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bar:
    """One bar.

    Attributes
    ----------
    label
        Below the bar: a draft position or an accepted length.
    share
        Height in [0, 1], or None where there is nothing to show.
    value
        Above the bar.
    counts
        Below the label: what `share` divides.
    """

    label: str
    share: float | None
    value: str
    counts: str


@dataclass(frozen=True)
class Chart:
    """Bars with the words around them.

    Attributes
    ----------
    axis
        What the labels count.
    top
        The share at the upper edge.
    reference
        A dashed line at this share, named by `reference_label`.
    note
        Shown instead of bars where there are none.
    """

    bars: tuple[Bar, ...]
    axis: str
    top: float = 1.0
    reference: float | None = None
    reference_label: str = ""
    note: str = ""
