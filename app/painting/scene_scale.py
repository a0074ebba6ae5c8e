"""How large a logical pixel is in a picture of some size, so that its text can be read.

Knows sizes alone.
"""

from __future__ import annotations

import math

_SIDE = 960.0  # of the square that holds as much as a scene does, in logical pixels
_NARROW = 0.83  # of it, at least, where a picture is higher than wide: it is seen on a phone
_PANEL_SIDE = 700.0  # one panel alone


def scene_scale(size: tuple[int, int]) -> float:
    """Return pixels of a logical one in a whole scene."""
    width, height = size
    shape = min(1.0, max(_NARROW, math.sqrt(width / height)))
    return math.sqrt(width * height) / (_SIDE * shape)


def panel_scale(size: tuple[int, int]) -> float:
    """Return pixels of a logical one in a figure of one panel."""
    return math.sqrt(size[0] * size[1]) / _PANEL_SIDE
