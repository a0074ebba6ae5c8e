"""What each action of the table does, and what is said about it.

Knows the window's and the desk's wishes and turns one into the other. Imports neither a worker nor
torch; the dialogs that it opens are views.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QMessageBox

from app.actions import ACTIONS, PANELS
from app.viewmodels.prompt import nearest_speed
from engine.errors import DraftscopeError
from engine.models.registry import DEFAULT_MODEL
from engine.models.registry import remember as keep_in_list

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from app.appearance import Appearance
    from app.desk import Desk
    from app.exporting import Export
    from app.settings import Settings
    from app.viewmodels.desk import DeskState
    from app.views.main_window import MainWindow
    from app.views.models import ModelsDialog
    from app.views.palette import CommandPalette
    from app.views.prompt import PromptView

log = logging.getLogger("draftscope")

SESSIONS = "Draftscope sessions (*.jsonl)"
PAGES = "HTML pages (*.html)"


class Deeds(QObject):
    """Does what actions ask for."""

    rejected_toggled = Signal(bool)
    demo_requested = Signal()

    def __init__(
        self,
        window: MainWindow,
        prompt: PromptView,
        desk: Desk,
        export: Export,
        appearance: Appearance,
        settings: Settings,
    ) -> None:
        super().__init__()
        self._window = window
        self._prompt = prompt
        self._desk = desk
        self._export = export
        self._appearance = appearance
        self._settings = settings
        self._palette: CommandPalette | None = None
        self._models: ModelsDialog | None = None
        self._table = self._bind()
        assert self._table.keys() == ACTIONS.keys()
        window.actions_.requested.connect(self.do)
        window.speed_requested.connect(self.set_speed)
        window.recent_requested.connect(self.open)
        window.file_dropped.connect(self.open)
        window.status.cancel_requested.connect(desk.stop)
        desk.failed.connect(self.fail)
        desk.noted.connect(window.banners.show_notice)
        desk.saved.connect(self._after_saving)
        export.finished.connect(self._after_export)
        export.failed.connect(self.fail)
        export.ended.connect(self.refresh)

    def _bind(self) -> dict[str, Callable[[], object]]:
        desk, window = self._desk, self._window
        table: dict[str, Callable[[], object]] = {
            "session.open": self.ask_open,
            "session.save": self.ask_save,
            "export.html": self.ask_export,
            "export.cancel": self._export.cancel,
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
            "models.choose": self.choose_models,
            "models.load": self.load,
            "models.fetch": lambda: desk.fetch(DEFAULT_MODEL),
            "models.cancel_fetch": desk.cancel_fetch,
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
                table[f"models.{role}_{kind}"] = partial(self._open_model, role, kind)
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

    def run(self, *, playing: bool = True) -> None:
        """Run the prompt as the panel says."""
        if not ACTIONS["run.start"].enabled(self.state):
            return
        self._window.banners.remove_errors()
        state = self._prompt.state
        self._desk.run(state.target, state.request, playing=playing)

    def step_round(self) -> None:
        """Show one round more; with nothing on show, begin a run and hold after its first."""
        self._begin_held()
        self._desk.step_round()

    def step_phase(self) -> None:
        """Show one phase more; with nothing on show, begin a run and hold."""
        self._begin_held()
        self._desk.step_phase()

    def _begin_held(self) -> None:
        if not self.state.has_events and not self.state.busy:
            self.run(playing=False)

    def clear(self) -> None:
        """Show nothing."""
        self._window.banners.remove_errors()
        self._desk.clear()

    def load(self) -> None:
        """Load target and drafter now."""
        self._window.banners.remove_errors()
        self._desk.load(self._prompt.state.target, self._prompt.state.drafter)

    def set_speed(self, speed: float | None) -> None:
        """Set the presentation speed, and remember it."""
        self._desk.set_speed(speed)
        self._window.set_speed(speed)
        self._settings["view.speed"] = speed or 0.0

    def _step_speed(self, steps: int) -> None:
        self.set_speed(nearest_speed(self._desk.presentation.speed, steps))

    # Sessions

    def open(self, path: Path) -> None:
        """Show a session file, and remember it."""
        self._window.banners.remove_errors()
        if not path.exists():
            self._settings.forget_file(path)
            self._window.set_recent(self._settings["files.recent"])
            self.fail(f"{path.name} is not there any more; open it from where it is now.")
            return
        self._desk.open(path)
        self._remember(path)

    def ask_open(self) -> None:
        """Ask for a session file."""
        folder = self._settings["files.folder"]
        path, _ = QFileDialog.getOpenFileName(self._window, "Open a session", folder, SESSIONS)
        if path:
            self.open(Path(path))

    def ask_save(self) -> None:
        """Ask where to save what is on show."""
        path = self._ask_path("Save the session", "session", ".jsonl", SESSIONS)
        if path is not None:
            self._desk.save(path)

    def ask_export(self) -> None:
        """Ask where to write the HTML replay."""
        path = self._ask_path("Export an HTML replay", "replay", ".html", PAGES)
        if path is not None and self._desk.source is not None:
            self._export.start("html", self._desk.source, path)

    def _ask_path(self, title: str, stem: str, suffix: str, kinds: str) -> Path | None:
        folder = Path(self._settings["files.folder"] or Path.home())
        name, _ = QFileDialog.getSaveFileName(
            self._window, title, str(folder / f"{stem}{suffix}"), kinds
        )
        if not name:
            return None
        path = Path(name)
        return path if path.suffix else path.with_suffix(suffix)

    def _after_saving(self, path: Path) -> None:
        self._remember(path)
        self._window.banners.show_notice(f"Saved as {path.name}.")

    def _after_export(self, path: Path) -> None:
        banner = self._window.banners.show_banner(
            f"export:{path}",
            "notice",
            f"{path.name} is written: one page that plays offline in any browser.",
            (("show", "Open it"),),
        )
        url = QUrl.fromLocalFile(str(path))
        banner.chosen.connect(lambda _key, _name: QDesktopServices.openUrl(url))

    def _remember(self, path: Path) -> None:
        self._settings.remember_file(path)
        self._window.set_recent(self._settings["files.recent"])

    # Models

    def choose_models(self) -> None:
        """Open the dialog of models."""
        self._dialog().open()

    def _open_model(self, role: str, kind: str) -> None:
        dialog = self._dialog()
        dialog.open()
        (dialog.open_folder if kind == "folder" else dialog.open_file)(role)

    def _dialog(self) -> ModelsDialog:
        from app.viewmodels.models import known_models
        from app.views.models import ModelsDialog

        if self._models is None:
            self._models = ModelsDialog(self._window)
            self._models.chosen.connect(self._use)
            self._models.load_requested.connect(self._use_and_load)
            self._models.fetch_requested.connect(self._desk.fetch)
        state = self._prompt.state
        self._models.offer(known_models(), state.target, state.drafter)
        return self._models

    def _use(self, target: str, drafter: str) -> None:
        for opened in (target, drafter.removeprefix("model:")):
            if Path(opened).is_absolute():
                keep_in_list(opened)
        before = self._prompt.state
        self._prompt.set_state(replace(before, target=target, drafter=drafter))
        if drafter != before.drafter:
            self._desk.change_settings(self._prompt.state.settings)
        self.refresh()

    def _use_and_load(self, target: str, drafter: str) -> None:
        self._use(target, drafter)
        self.load()

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
