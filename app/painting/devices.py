"""What is painted as bytes: pixels as PNG, a drawing as SVG, a page as PDF, as Qt writes them.

Knows Qt's writers. Knows no picture and no file: so a full disk is told by whoever writes there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QRect, QSize, QSizeF
from PySide6.QtGui import QImage, QImageWriter, QPageSize, QPainter, QPdfWriter
from PySide6.QtSvg import QSvgGenerator

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Paint = Callable[[QPainter], object]

_INCHES_PER_METRE = 39.3701


def png_of(
    size: tuple[int, int], paint: Paint, pixels_per_inch: int, words: Mapping[str, str]
) -> bytes:
    """Return opaque pixels as PNG, with words under PNG's own names; empty without the memory."""
    image = QImage(*size, QImage.Format.Format_RGB32)
    if image.isNull():
        return b""
    dots = round(pixels_per_inch * _INCHES_PER_METRE)
    image.setDotsPerMeterX(dots)
    image.setDotsPerMeterY(dots)
    with QPainter(image) as painter:
        paint(painter)
    for name, text in words.items():
        image.setText(name, text)
    return packed(image)


def svg_of(size: tuple[int, int], paint: Paint) -> str:
    """Return a drawing as SVG, a unit a pixel; as wordy as Qt makes it."""

    def write(device: QIODevice) -> None:
        generator = QSvgGenerator()
        generator.setOutputDevice(device)
        generator.setSize(QSize(*size))
        generator.setViewBox(QRect(0, 0, *size))
        with QPainter(generator) as painter:
            paint(painter)

    return written(write).decode("utf-8", "replace")


def pdf_of(points: tuple[int, int], paint: Paint, pixels_per_inch: int, xmp: str) -> bytes:
    """Return one page as PDF, with the day on which it was written.

    Parameters
    ----------
    points
        Width and height of the page, which Qt takes whole.
    xmp
        All that the page's metadata say.
    """

    def write(device: QIODevice) -> None:
        writer = QPdfWriter(device)
        exactly = QPageSize.SizeMatchPolicy.ExactMatch
        writer.setPageSize(QPageSize(QSizeF(*points), QPageSize.Unit.Point, "", exactly))
        writer.setPageMargins(QMarginsF(0, 0, 0, 0))
        writer.setResolution(pixels_per_inch)
        writer.setDocumentXmpMetadata(QByteArray(xmp.encode()))
        with QPainter(writer) as painter:
            paint(painter)

    return written(write)


def packed(image: QImage) -> bytes:
    """Return a picture as PNG; empty if there is no memory for it."""
    return written(lambda device: QImageWriter(device, QByteArray(b"png")).write(image))


def written(write: Callable[[QIODevice], object]) -> bytes:
    """Return what a function writes to the device that it is given."""
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    write(buffer)
    buffer.close()
    return bytes(data.data())
