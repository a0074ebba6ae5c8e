"""A figure in pixels. Knows Qt's writer of PNG and the names that PNG gives to what is said in it.

The same figure gives the same bytes: nothing in the file is of the day it is written on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QImage, QPainter

from app.export.figure import PIXELS_PER_INCH, SLIDE, figure_of
from app.export.figure_words import SOFTWARE
from app.export.in_memory import packed
from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from pathlib import Path

    from app.export.options import Options, Progress
    from app.export.source import Source

_METRE = 39.3701  # inches


def write_png(source: Source, out: Path, options: Options, progress: Progress) -> None:
    """Write one moment as a PNG.

    Raises
    ------
    DraftscopeError
        If there is no such moment, or no memory for such a size.
    OSError
        If it cannot be written.
    """
    progress(0, 2, "Painting")
    figure = figure_of(source, options, SLIDE)
    width, height = figure.size
    image = QImage(width, height, QImage.Format.Format_RGB32)
    if image.isNull():
        raise DraftscopeError(
            f"A picture of {width:,} x {height:,} pixels is too large: take a smaller size, or SVG."
        )
    image.setDotsPerMeterX(round(PIXELS_PER_INCH * _METRE))
    image.setDotsPerMeterY(round(PIXELS_PER_INCH * _METRE))
    painter = QPainter(image)
    figure.paint(painter)
    painter.end()
    progress(1, 2, "Writing")
    image.setText("Title", figure.title)
    image.setText("Description", figure.description)
    image.setText("Source", "\n".join(f"{name}: {words}" for name, words in figure.provenance))
    image.setText("Software", SOFTWARE)
    image.setText("Creation Time", figure.recorded)
    data = packed(image)
    if not data:
        raise DraftscopeError("The picture could not be packed as PNG: take a smaller size.")
    out.write_bytes(data)
