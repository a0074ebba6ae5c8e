"""Put the window where it was, as far as that still makes sense, and remember where it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QGuiApplication

from app.geometry import Box, fit

if TYPE_CHECKING:
    from app.settings import Settings
    from app.views.main_window import MainWindow

_HIDES_COORDINATES = ("wayland",)


def place(window: MainWindow, settings: Settings) -> None:
    """Restore the geometry and the arrangement, before the window is shown."""
    saved = settings["window.geometry"]
    maximised = len(saved) == 5 and bool(saved[4])
    box = fit(Box(*saved[:4]) if len(saved) == 5 else None, _screens(), positions_known=_known())
    window.resize(box.width, box.height)
    if _known():
        window.move(box.x, box.y)
    if not window.docks.restore(settings["window.arrangement"]):
        window.docks.arrange()
    if maximised:
        window.showMaximized()


def remember(window: MainWindow, settings: Settings) -> None:
    """Store the geometry and the arrangement; the frame's place, the content's size."""
    normal = window.normalGeometry()
    size = normal if window.isMaximized() or window.isFullScreen() else window.geometry()
    place_ = window.pos() if not window.isMaximized() else normal.topLeft()
    box = [place_.x(), place_.y(), size.width(), size.height(), int(window.isMaximized())]
    settings["window.geometry"] = box
    settings["window.arrangement"] = window.docks.saved()


def _known() -> bool:
    return not QGuiApplication.platformName().startswith(_HIDES_COORDINATES)


def _screens() -> list[Box]:
    primary = QGuiApplication.primaryScreen()
    screens = sorted(QGuiApplication.screens(), key=lambda screen: screen is not primary)
    boxes = [screen.availableGeometry() for screen in screens]
    return [Box(box.x(), box.y(), box.width(), box.height()) for box in boxes]
