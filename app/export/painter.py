"""Painting without a window or a screen: Qt's application, the bundled fonts and a canvas.

Knows Qt, which is loaded when something is to be painted. Knows no panel and no format.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from app.end_signals import undisturbed

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt
    from PySide6.QtCore import QCoreApplication
    from PySide6.QtGui import QImage, QPainter


@cache
def ready() -> QCoreApplication:
    """Make painting possible in this process and return its application, made if there is none.

    One that is made needs no display, whatever the environment says of one.
    """
    with undisturbed():
        from PySide6.QtGui import QGuiApplication
        from PySide6.QtSvg import QSvgGenerator  # noqa: F401  # all of Qt that pictures need

    from app.fonts import load_fonts

    application = QGuiApplication.instance()
    if application is None:
        application = QGuiApplication([sys.argv[0] or "draftscope", "-platform", "offscreen"])
    load_fonts()
    return application


class Canvas:
    """Opaque pixels that are painted over again and again.

    Parameters
    ----------
    size
        Width and height in pixels.
    """

    def __init__(self, size: tuple[int, int]) -> None:
        from PySide6.QtGui import QImage

        ready()
        self.size = size
        self.image: QImage = QImage(*size, QImage.Format.Format_RGB32)

    def paint(self, paint: Callable[[QPainter], object]) -> None:
        """Let something paint over everything."""
        from PySide6.QtGui import QPainter

        with QPainter(self.image) as painter:
            paint(painter)

    def pixels(self) -> npt.NDArray[np.uint8]:
        """Return blue, green, red and 255 of each pixel, shape [height, width, 4]; a view."""
        width, height = self.size
        return np.frombuffer(self.image.constBits(), np.uint8).reshape(height, width, 4)
