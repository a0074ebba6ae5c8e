"""What Qt writes to a device, as bytes: so that Python writes the file and a full disk is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QByteArray, QIODevice
from PySide6.QtGui import QImageWriter

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QImage


def written(write: Callable[[QIODevice], object]) -> bytes:
    """Return what a function writes to the device that it is given."""
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    write(buffer)
    buffer.close()
    return bytes(data.data())


def packed(image: QImage) -> bytes:
    """Return a picture as PNG; empty if there is no memory for it."""
    return written(lambda device: QImageWriter(device, QByteArray(b"png")).write(image))
