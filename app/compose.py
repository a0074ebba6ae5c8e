"""Builds the window and what is behind it, and ties the one to the other.

The one file that knows both the worker's side (`app.desk`) and the views. Holds no logic of either:
what is to happen is `Desk`'s, what is shown is the views'.
"""

from __future__ import annotations

import logging
import os
import sys
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from app.appearance import Appearance
from app.choosing import Choosing
from app.deeds import Deeds
from app.desk import Desk
from app.export_desk import ExportDesk
from app.exporting import Export
from app.fonts import load_fonts
from app.gallery import Gallery
from app.interrupts import Interrupts
from app.logs import end_log, start_log
from app.marking import Marking
from app.placement import place, remember
from app.refreshing import Refreshing, View
from app.sessions import Sessions
from app.settings import Settings
from app.training import Training
from app.training_desk import TrainingDesk
from app.viewmodels.prompt import PromptState
from app.views.acceptance import AcceptanceView
from app.views.caches import CachesView
from app.views.court import CourtView
from app.views.main_window import MainWindow
from app.views.prompt import PromptView
from app.views.strip import StripView
from app.views.text import TextView
from app.views.throughput import ThroughputView
from app.views.timeline import TimelineView
from app.warming import Warming
from app.warming_banner import WarmingBanner
from app.welcome import Welcome
from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from app.theme import Theme
    from app.worker import Perform

_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")  # Qt would abort without any

log = logging.getLogger("draftscope")


@dataclass(frozen=True)
class Options:
    """How the window was asked for on the command line."""

    demo: bool = False
    open_path: Path | None = None


class Program:
    """The assembled window. Tests build it as `run` does, and drive it."""

    def __init__(self, app: QApplication, options: Options, engine: Perform | None = None) -> None:
        self.settings = Settings()
        load_fonts()
        self.appearance = Appearance(app, self.settings["view.theme"])
        self.desk = Desk(speed=self.settings["view.speed"] or None, engine=engine)
        self.export = Export()
        self.warming = Warming()
        self.training = Training()
        self.prompt = PromptView()
        self.strip = StripView()
        self.text = TextView(self.strip)
        self.court = CourtView()
        self.timeline = TimelineView()
        self.charts = (AcceptanceView(), ThroughputView(), CachesView())
        acceptance, throughput, caches = self.charts
        panels = {
            "prompt": self.prompt,
            "court": self.court,
            "acceptance": acceptance,
            "throughput": throughput,
            "timeline": self.timeline,
            "caches": caches,
        }
        self.shown = (self.strip, self.court, self.timeline, *self.charts)
        self.refreshing = Refreshing(self.strip, (self.court, self.timeline), self.charts)
        self.window = MainWindow(self.text, panels)
        self._make_deeds()
        self._options = options
        self._closed = False
        self._fill()
        self._tie_panels()
        self._tie_desk()
        self._dress(self.appearance.theme)
        place(self.window, self.settings)

    def _make_deeds(self) -> None:
        """Make those who do what panels and actions ask for."""
        self.sessions = Sessions(self.window, self.desk, self.text, self.settings)
        self.marking = Marking(self.window, self.desk, self.strip, self.text.caption)
        self.gallery = Gallery(self.text, self.desk)
        self.export_desk = ExportDesk(
            self.window, self.desk, self.export, self.sessions, self.appearance, self.settings
        )
        self.choosing = Choosing(self.window, self.prompt, self.desk, self.warming)
        self.training_desk = TrainingDesk(
            self.window, self.prompt, self.desk, self.choosing, self.training, self.appearance
        )
        self.deeds = Deeds(
            self.window,
            self.prompt,
            self.desk,
            self.export,
            self.sessions,
            self.choosing,
            self.warming,
            self.training_desk,
            self.appearance,
            self.settings,
            self._further(),
        )
        self.warming_banner = WarmingBanner(self.window.banners, self.warming)
        self.welcome = Welcome(
            self.window, self.prompt, self.desk, self.deeds, self.choosing, self.gallery
        )

    def _further(self) -> dict[str, Callable[[], object]]:
        """Return what marking, exports and the gallery do, by the ids of actions."""
        return {
            "session.name": self.marking.name_session,
            "export.ask": self.export_desk.open,
            "marks.add": self.marking.mark,
            "marks.list": self.marking.show_list,
            "marks.previous": partial(self.marking.step, -1),
            "marks.next": partial(self.marking.step, 1),
            "help.gallery": self.gallery.ask,
        }

    def show(self) -> None:
        """Put the window on screen; what may take a moment follows."""
        self.window.show()
        self.prompt.editor.setFocus()
        QTimer.singleShot(0, self.window, self._begin)

    def _begin(self) -> None:
        if self._closed:
            return
        if self.settings.notice:
            self.window.banners.show_notice(self.settings.notice)
        if self._options.open_path is not None:
            self.sessions.open(self._options.open_path)
        self.welcome.begin(demo=self._options.demo, busy=self._options.open_path is not None)
        self.gallery.begin()

    def close(self) -> bool:
        """Remember, end everything, and return whether every thread ended in time."""
        if self._closed:
            return True
        self._closed = True
        self.prompt.state.remember(self.settings)
        self.settings["view.more"] = self.prompt.more.open
        remember(self.window, self.settings)
        try:
            self.settings.save()
        except OSError:
            log.exception("the settings could not be saved")
        self.export.close()
        self.export_desk.close()
        self.training_desk.close()
        warmed = self.warming.close()
        self.refreshing.stop()
        self.appearance.close()
        self.window.docks.close()
        return self.desk.close() and warmed

    def _fill(self) -> None:
        for view in self.shown:
            view.set_state(self.desk.document, self.desk.presentation)
        self.prompt.set_state(PromptState.remembered(self.settings))
        self.prompt.more.set_open(self.settings["view.more"])
        self.window.set_speed(self.desk.presentation.speed)
        self.window.set_recent(self.settings["files.recent"])
        self.strip.set_show_drafts(self.settings["view.show_rejected"])
        self.window.actions_["view.rejected"].setChecked(self.settings["view.show_rejected"])
        self.desk.pauses_at_markers = self.settings["view.pause_at_markers"]
        self.window.actions_["marks.pause"].setChecked(self.desk.pauses_at_markers)
        self.deeds.refresh()

    def _tie_panels(self) -> None:
        self.prompt.run_requested.connect(self.deeds.run)
        self.prompt.stop_requested.connect(self.desk.stop)
        self.prompt.edited.connect(self.deeds.refresh)
        self.prompt.settings_edited.connect(self.desk.change_settings)
        self.strip.token_pinned.connect(self.court.pin)
        self.strip.token_unpinned.connect(partial(self.court.pin, None))
        self.court.unpinned.connect(self.strip.unpin)
        self.timeline.seek_requested.connect(self.strip.follow)
        self.timeline.seek_requested.connect(self.desk.seek)
        self.timeline.marker_requested.connect(self.marking.go_to)
        self.timeline.marker_step_requested.connect(self.marking.step)
        self.timeline.play_requested.connect(self.desk.play)
        self.timeline.pause_requested.connect(self.desk.pause)
        self.timeline.step_round_requested.connect(self.deeds.step_round)
        self.timeline.step_phase_requested.connect(self.deeds.step_phase)
        self.deeds.rejected_toggled.connect(self.strip.set_show_drafts)
        acceptance, throughput, caches = self.charts
        followers: dict[str, View] = {
            "court": self.court,
            "timeline": self.timeline,
            "acceptance": acceptance,
            "throughput": throughput,
            "caches": caches,
        }
        for name, view in followers.items():
            dock = self.window.docks[name]
            dock.visibilityChanged.connect(partial(self.refreshing.catch_up, view))

    def _tie_desk(self) -> None:
        self.window.closing.connect(self.close)
        self.window.restored.connect(self._refresh)
        self.appearance.theme_changed.connect(self._dress)
        self.desk.picture_changed.connect(self._refresh)
        self.desk.cleared.connect(self.refreshing.refresh_all)
        self.desk.state_changed.connect(self._show_state)

    def _dress(self, theme: Theme) -> None:
        self.window.set_theme(theme)
        for view in (self.prompt, self.text, *self.shown):
            view.set_theme(theme)

    def _refresh(self) -> None:
        self.refreshing.follow(live=self.desk.presentation.live)

    def _show_state(self) -> None:
        self.deeds.refresh()
        self.timeline.apply(self.desk.state)


def run(options: Options) -> int:
    """Open the window and return the program's exit code once it is closed.

    Raises
    ------
    DraftscopeError
        If there is no display to open it on.
    """
    if sys.platform == "linux" and not any(os.environ.get(name) for name in _DISPLAYS):
        raise DraftscopeError(
            "There is no display to open the window on; `draftscope run` works without one."
        )
    start_log()
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    app.setApplicationName("draftscope")
    app.setApplicationDisplayName("Draftscope")
    app.setDesktopFileName("draftscope")
    program = Program(app, options)
    hook = sys.excepthook
    sys.excepthook = program.deeds.report
    interrupts = Interrupts(program.window.close)
    program.show()
    try:
        code = app.exec()
        ended = program.close()
    finally:
        interrupts.end()
        sys.excepthook = hook
    end_log(forced=not ended)
    return code
