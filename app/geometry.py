"""Where the window may open. Pure: rectangles in, a rectangle out; knows no Qt.

A saved place can be stale: the monitor is gone, or the platform hides coordinates.
"""

from __future__ import annotations

from typing import NamedTuple

FIRST_SIZE = (1440, 900)
FRAME = (8, 40)  # room for the frame and its title bar; their sizes are known only afterwards
LEAST_VISIBLE = 96  # pixels of the title bar that must stay within reach


class Box(NamedTuple):
    """A rectangle in screen coordinates."""

    x: int
    y: int
    width: int
    height: int


def fit(saved: Box | None, screens: list[Box], *, positions_known: bool = True) -> Box:
    """Return where to open the window.

    Parameters
    ----------
    saved
        The last place, if there was one.
    screens
        What each screen offers, the primary one first; may be empty.
    positions_known
        False where the compositor hides coordinates (Wayland): only the size is used.
    """
    if not screens:
        return saved or Box(0, 0, *FIRST_SIZE)
    home = screens[0]
    if saved is None or saved.width < 1 or saved.height < 1:
        return _centred(FIRST_SIZE, home)
    if not positions_known:
        return _centred((saved.width, saved.height), home)
    for screen in screens:
        if _reachable(saved, screen):
            return _within(saved, screen)
    return _centred((saved.width, saved.height), home)


def _centred(size: tuple[int, int], screen: Box) -> Box:
    width = min(size[0], screen.width - FRAME[0])
    height = min(size[1], screen.height - FRAME[1])
    x = screen.x + (screen.width - FRAME[0] - width) // 2
    return Box(x, screen.y + (screen.height - FRAME[1] - height) // 2, width, height)


def _reachable(box: Box, screen: Box) -> bool:
    visible = min(box.x + box.width, screen.x + screen.width) - max(box.x, screen.x)
    top_inside = screen.y <= box.y + 4 and box.y < screen.y + screen.height - 24
    return visible >= min(LEAST_VISIBLE, box.width) and top_inside


def _within(box: Box, screen: Box) -> Box:
    """Keep the place, but never larger than fits the screen with a frame."""
    width = min(box.width, screen.width - FRAME[0])
    return Box(box.x, max(box.y, screen.y), width, min(box.height, screen.height - FRAME[1]))
