"""What was painted, on a canvas of a colour that no theme has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtGui import QColor, QImage, QPainter

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

GROUND = (255, 0, 255)


def pixels(width: int, height: int, paint: Callable[[QPainter], object]) -> npt.NDArray[np.uint8]:
    """Return what was painted, shape [height, width, 3]."""
    image = QImage(width, height, QImage.Format.Format_RGB888)
    image.fill(QColor(*GROUND))
    painter = QPainter(image)
    paint(painter)
    painter.end()
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(height, image.bytesPerLine())
    return rows[:, : 3 * width].reshape(height, width, 3).copy()


def untouched(picture: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Return where nothing was painted."""
    return np.asarray((picture == GROUND).all(axis=2))


def colours(picture: npt.NDArray[np.uint8]) -> int:
    """Return how many colours there are."""
    red, green, blue = np.moveaxis(picture.astype(np.int32), 2, 0)
    return int(np.bincount((red << 16 | green << 8 | blue).ravel()).astype(bool).sum())
