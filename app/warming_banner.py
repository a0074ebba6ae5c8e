"""What the window says while the compiled plan is being built, and once it is.

Knows banners and the build's state. Builds nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

if TYPE_CHECKING:
    from app.views.banner import BannerArea
    from app.warming import Warming

_KEY = "warm-up"


class WarmingBanner(QObject):
    """One banner with progress and cancel; dismissed, it stays away until the next build."""

    def __init__(self, banners: BannerArea, warming: Warming) -> None:
        super().__init__()
        self._banners = banners
        self._warming = warming
        self._begun = False
        banners.chosen.connect(self._choose)
        warming.changed.connect(self._follow)
        warming.finished.connect(banners.show_notice)

    def _follow(self) -> None:
        state = self._warming.state
        if not state.building:
            self._begun = False
            self._banners.remove(_KEY)
            return
        if not self._begun:
            self._begun = True
            self._banners.show_banner(_KEY, "notice", "", (("cancel", "Cancel"),))
        banner = self._banners.banner(_KEY)
        if banner is not None:
            what = state.waiting.what if state.waiting is not None else "Beginning"
            banner.set_text(f"Building the faster plan: {what[:1].lower()}{what[1:]}…")
            banner.set_progress(state.waiting.fraction if state.waiting is not None else None)

    def _choose(self, key: str, name: str) -> None:
        if key == _KEY:
            self._warming.cancel()
