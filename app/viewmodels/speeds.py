"""Presentation speeds: which are offered, and how one is written. Knows no clock and no widget.

The toolbar's box, the actions and the settings speak of these.
"""

from __future__ import annotations

import math

AS_IT_COMES = "As it comes"

# The speeds that are offered, the slowest first; None shows each round when the engine has it.
SPEEDS: tuple[float | None, ...] = (0.25, 0.5, 1.0, 2.0, 4.0, None)


def speed_label(speed: float | None) -> str:
    """Write a presentation speed."""
    return AS_IT_COMES if speed is None else f"{speed:g}×"


def nearest_speed(speed: float | None, steps: int = 0) -> float | None:
    """Return the offered speed nearest to `speed`, or the one `steps` further up the list."""
    if speed is None:
        index = len(SPEEDS) - 1
    else:
        finite = [value for value in SPEEDS if value is not None]
        index = min(range(len(finite)), key=lambda at: abs(math.log(finite[at] / speed)))
    return SPEEDS[max(0, min(len(SPEEDS) - 1, index + steps))]
