"""The 255 colours of a GIF: those of the theme as they are, and the best for what lies between.

Knows colours and how often they occur. Knows no encoder and no panel. A flat surface keeps its
colour: nothing is dithered.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from app.theme import FateStyle

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from app.theme import Theme

COLOURS = 255  # and one that is transparent
_FREQUENT = 96  # of those, so many stand for the colours that fill most of the pictures
_UNKNOWN = 255  # index that no colour has


def theme_colours(theme: Theme) -> list[int]:
    """Return every colour of a theme as 0xrrggbb, once each, in order."""
    found: list[str] = []
    for field in fields(theme):
        value = getattr(theme, field.name)
        if isinstance(value, str) and value.startswith("#"):
            found.append(value)
    for style in theme.fates.values():
        assert isinstance(style, FateStyle)
        found += [style.colour, style.fill]
    return list(dict.fromkeys(int(colour[1:], 16) for colour in found))


def codes_of(pixels: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint32]:
    """Return 0xrrggbb of each pixel.

    Parameters
    ----------
    pixels
        Blue, green, red and 255, shape [height, width, 4].
    """
    packed: npt.NDArray[np.uint32] = np.ascontiguousarray(pixels).view("<u4")[..., 0]
    return packed & np.uint32(0xFFFFFF)


class Palette:
    """Colours, and which of them stands for any other.

    Parameters
    ----------
    pictures
        Some of those that are to be shown, as codes.
    """

    def __init__(self, theme: Theme, pictures: Iterable[npt.NDArray[np.uint32]]) -> None:
        counts = np.zeros(1 << 24, np.uint32)
        for picture in pictures:
            codes, times = np.unique(picture, return_counts=True)
            counts[codes] += times.astype(np.uint32)
        self.codes = _chosen(theme, counts)  # [at most COLOURS], 0xrrggbb
        self._channels = _channels(self.codes).astype(np.int32)
        self._index = np.full(1 << 24, _UNKNOWN, np.uint8)  # of each colour, once it was met
        self._index[self.codes] = np.arange(len(self.codes))

    def indices(self, picture: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint8]:
        """Return the palette's nearest colour for each pixel."""
        found = self._index[picture]
        missing = np.unique(picture[found == _UNKNOWN])
        if len(missing):
            self._learn(missing)
            found = self._index[picture]
        return found

    def _learn(self, codes: npt.NDArray[np.uint32]) -> None:
        for start in range(0, len(codes), 4096):
            part = codes[start : start + 4096]
            apart = _channels(part).astype(np.int32)[:, None] - self._channels[None]
            far = (apart * apart) @ np.array([3, 6, 1])  # about as the eye weighs them
            self._index[part] = far.argmin(axis=1)


def _channels(codes: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint8]:
    """Return red, green and blue, shape [n, 3]."""
    return np.stack([codes >> 16 & 255, codes >> 8 & 255, codes & 255], axis=1).astype(np.uint8)


def _chosen(theme: Theme, counts: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """Take the theme's colours that occur, the most frequent ones, then what fits the rest best."""
    kept = [code for code in theme_colours(theme) if counts[code]]
    present = np.flatnonzero(counts)
    often = present[np.argsort(counts[present], kind="stable")[::-1][:_FREQUENT]]
    kept = list(dict.fromkeys([*kept, *often.tolist()]))[:COLOURS]
    others = np.setdiff1d(present, np.array(kept, present.dtype))
    free = COLOURS - len(kept)
    if len(others) <= free:
        kept += others.tolist()
    elif free > 1:
        kept += _best(others, counts[others], free)
    return np.array(list(dict.fromkeys(kept)), np.uint32)


def _best(codes: npt.NDArray[np.int64], counts: npt.NDArray[np.uint32], most: int) -> list[int]:
    """Return at most so many colours near these; one that occurs often weighs more."""
    times = np.minimum(1 + np.sqrt(counts).astype(np.int64), 60)
    repeated = _channels(np.repeat(codes, times).astype(np.uint32))
    image = Image.fromarray(repeated[None])
    reduced = image.quantize(most, method=Image.Quantize.MEDIANCUT, kmeans=2)
    found = np.array(reduced.getpalette("RGB"), np.uint32).reshape(-1, 3)[:most]
    return [int(code) for code in found @ np.array([1 << 16, 1 << 8, 1], np.uint32)]
