"""What each action of the table does.

Knows the window and the desk, and turns what is asked of the one into wishes to the other. Imports
neither a worker nor torch.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QMessageBox

from app.actions import ACTIONS, PANELS
from app.viewmodels.speeds import nearest_speed
from engine.errors import DraftscopeError
from engine.models.registry import DEFAULT_MODEL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

    from app.appearance import Appearance
    from app.choosing import Choosing
    from app.desk import Desk
    from app.exporting import Export
    from app.sessions import Sessions
    from app.settings import Settings
    from app.training_desk import TrainingDesk
    from app.viewmodels.desk import DeskState
    from app.views.main_window import MainWindow
    from app.views.palette import CommandPalette
    from app.views.prompt import PromptView
    from app.warming import Warming

log = logging.getLogger("draftscope")


class Deeds(QObject):
    """Does what actions ask for."""

    rejected_toggled = Signal(bool)
    demo_requested = Signal()
    fetch_offered = Signal(str)  # a model that a run needs, by name

    def __init__(
        self,
        window: MainWindow,
        prompt: PromptView,
        desk: Desk,
        export: Export,
        sessions: Sessions,
        choosing: Choosing,
        warming: Warming,
        training: TrainingDesk,
        appearance: Appearance,
        settings: Settings,
        further: Mapping[str, Callable[[], object]],
    ) -> None:
        """Bind actions; `further` ones, by id, are done by others."""
        super().__init__()
        self._window = window
        self._prompt = prompt
        self._desk = desk
        self._export = export
        self._sessions = sessions
        self._choosing = choosing
        self._warming = warming
        self._training = training
        self._appearance = appearance
        self._settings = settings
        self._palette: CommandPalette | None = None
        self._table = {**self._bind(), **further}
        assert self._table.keys() == ACTIONS.keys()
        window.actions_.requested.connect(self.do)
        window.speed_requested.connect(self.set_speed)
        window.status.cancel_requested.connect(desk.stop)
        desk.failed.connect(self.fail)
        desk.noted.connect(window.banners.show_notice)
        choosing.changed.connect(self.refresh)
        warming.changed.connect(self.refresh)
        warming.failed.connect(self.fail)
        export.began.connect(self.refresh)
        export.ended.connect(self.refresh)

    def _bind(self) -> dict[str, Callable[[], object]]:
        desk, window = self._desk, self._window
        sessions, choosing = self._sessions, self._choosing
        table: dict[str, Callable[[], object]] = {
            "session.open": sessions.ask_open,
            "session.save": sessions.ask_save,
            "export.cancel": self._export.cancel,
            "marks.pause": self._toggle_pauses,
            "app.quit": window.close,
            "run.start": self.run,
            "run.pause": desk.pause,
            "run.continue": desk.play,
            "run.step_phase": self.step_phase,
            "run.step_round": self.step_round,
            "run.stop": desk.stop,
            "run.clear": self.clear,
            "speed.slower": lambda: self._step_speed(-1),
            "speed.faster": lambda: self._step_speed(1),
            "speed.live": lambda: self.set_speed(None),
            "models.choose": choosing.choose,
            "models.load": choosing.load,
            "models.fetch": lambda: desk.fetch(DEFAULT_MODEL),
            "models.cancel_fetch": desk.cancel_fetch,
            "models.train": self._training.open,
            "models.build_plan": self._warming.start,
            "models.cancel_build": self._warming.cancel,
            "view.restore": window.docks.arrange,
            "view.rejected": self._toggle_rejected,
            "view.full_screen": self._toggle_full_screen,
            "help.palette": self.open_palette,
            "help.shortcuts": self.show_shortcuts,
            "help.demo": self.demo_requested.emit,
            "help.about": self.show_about,
        }
        for role in ("target", "drafter"):
            for kind in ("folder", "file"):
                table[f"models.{role}_{kind}"] = partial(choosing.open_model, role, kind)
        for name, _ in PANELS:
            table[f"go.{name}"] = partial(window.go_to, name)
            if name != "text":
                table[f"panel.{name}"] = partial(window.toggle_panel, name)
        for choice in ("system", "light", "dark"):
            table[f"theme.{choice}"] = partial(self.choose_theme, choice)
        return table

    def do(self, name: str) -> None:
        """Do what an action asks for, if it makes sense now."""
        if ACTIONS[name].enabled(self.state):
            self._table[name]()
        self.refresh()

    @property
    def state(self) -> DeskState:
        """The desk's state, with what the window adds to it."""
        return replace(
            self._desk.state,
            has_prompt=bool(self._prompt.state.prompt.strip()),
            exporting=self._export.running,
            warm_up=self._warming.state,
        )

    def refresh(self) -> None:
        """Enable what makes sense now, everywhere."""
        state = self.state
        self._window.apply(state)
        self._prompt.apply(state)
        for choice in ("system", "light", "dark"):
            checked = self._appearance.choice == choice
            self._window.actions_[f"theme.{choice}"].setChecked(checked)

    # Runs

    def run(self) -> None:
        """Run the prompt as the panel says."""
        self._run("")

    def _run(self, first: str) -> None:
        if not ACTIONS["run.start"].enabled(self.state):
            return
        self._window.banners.remove_passing()
        state = self._prompt.state
        if self._choosing.lacks(state.target):
            self.fetch_offered.emit(state.target)  # and what is on show stays
            return
        self._desk.run(state.target, state.request, first=first)

    def step_round(self) -> None:
        """Show one round more; with nothing on show, begin a run and hold after its first."""
        if self._bare:
            self._run("round")
        else:
            self._desk.step_round()

    def step_phase(self) -> None:
        """Show one phase more; with nothing on show, begin a run and hold after its first."""
        if self._bare:
            self._run("phase")
        else:
            self._desk.step_phase()

    @property
    def _bare(self) -> bool:
        return not self.state.has_events and not self.state.busy

    def clear(self) -> None:
        """Show nothing."""
        self._window.banners.remove_passing()
        self._desk.clear()

    def load(self) -> None:
        """Load target and drafter now."""
        self._window.banners.remove_passing()
        self._desk.load(self._prompt.state.target, self._prompt.state.drafter)

    def set_speed(self, speed: float | None) -> None:
        """Set the presentation speed, and remember it."""
        self._desk.set_speed(speed)
        self._window.set_speed(speed)
        self._settings["view.speed"] = speed or 0.0

    def _step_speed(self, steps: int) -> None:
        self.set_speed(nearest_speed(self._desk.presentation.speed, steps))

    # The window

    def choose_theme(self, choice: str) -> None:
        """Follow the system, or stay light or dark; remember it."""
        self._settings["view.theme"] = choice
        self._appearance.choose(choice)

    def _toggle_rejected(self) -> None:
        shown = not self._settings["view.show_rejected"]
        self._settings["view.show_rejected"] = shown
        self._window.actions_["view.rejected"].setChecked(shown)
        self.rejected_toggled.emit(shown)

    def _toggle_pauses(self) -> None:
        paused = not self._settings["view.pause_at_markers"]
        self._settings["view.pause_at_markers"] = self._desk.pauses_at_markers = paused
        self._window.actions_["marks.pause"].setChecked(paused)

    def _toggle_full_screen(self) -> None:
        full = not self._window.isFullScreen()
        self._window.setWindowState(self._window.windowState() ^ Qt.WindowState.WindowFullScreen)
        self._window.actions_["view.full_screen"].setChecked(full)

    def open_palette(self) -> None:
        """Open the command palette."""
        from app.views.palette import CommandPalette

        if self._palette is None:
            self._palette = CommandPalette(self._window)
            self._palette.requested.connect(self.do)
        self._palette.open_for(self.state)

    def show_shortcuts(self) -> None:
        """Open the page of shortcuts."""
        from app.views.shortcuts import ShortcutsPage

        page = ShortcutsPage(self._window)
        page.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        page.show()

    def show_about(self) -> None:
        """Say what this is."""
        from engine.version import VERSION

        box = QMessageBox(self._window)
        box.setWindowTitle("About Draftscope")
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(f"Draftscope {VERSION}")
        box.setInformativeText("See speculative decoding happen. Apache-2.0.")
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()

    # Faults

    def fail(self, sentence: str) -> None:
        """Show an error; the window stays usable."""
        self._window.banners.show_error(sentence)

    def report(
        self, kind: type[BaseException], fault: BaseException, trace: TracebackType | None
    ) -> None:
        """Show a fault of the window itself, in place of a traceback on the terminal."""
        if issubclass(kind, KeyboardInterrupt):
            self._window.close()
            return
        if isinstance(fault, DraftscopeError):
            self.fail(str(fault))
            return
        log.error("a fault of the window", exc_info=(kind, fault, trace))
        self.fail(
            f"Something unexpected went wrong: {' '.join(str(fault).split()) or kind.__name__}"
        )
