"""A figure in pixels. Knows the names that PNG gives to what is said in it.

The same figure gives the same bytes: nothing in the file is of the day it is written on.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from app.export.figure import PIXELS_PER_INCH, SLIDE, figure_of
from app.export.figure_words import SOFTWARE
from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from pathlib import Path

    from app.export.options import Options, Progress
    from app.export.source import Source

MOST_PIXELS = 1 << 28  # a gigabyte of memory


def write_png(source: Source, out: Path, options: Options, progress: Progress) -> None:
    """Write one moment as a PNG.

    Raises
    ------
    DraftscopeError
        If there is no such moment, or one that is too large.
    OSError
        If it cannot be written.
    """
    from app.painting.devices import png_of

    progress(0, 2, "Painting")
    figure = figure_of(source, options, SLIDE)
    if math.prod(figure.size) > MOST_PIXELS:
        raise _too_large(figure.size)
    words = {
        "Title": figure.title,
        "Description": figure.description,
        "Source": "\n".join(f"{name}: {words}" for name, words in figure.provenance),
        "Software": SOFTWARE,
        "Creation Time": figure.recorded,
    }
    data = png_of(figure.size, figure.paint, PIXELS_PER_INCH, words)
    if not data:
        raise _too_large(figure.size)
    progress(1, 2, "Writing")
    out.write_bytes(data)


def _too_large(size: tuple[int, int]) -> DraftscopeError:
    width, height = size
    return DraftscopeError(
        f"A picture of {width:,} x {height:,} pixels is too large: take a smaller size, or SVG."
    )
