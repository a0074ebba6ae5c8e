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
    return len(np.unique(picture.reshape(-1, 3), axis=0))
