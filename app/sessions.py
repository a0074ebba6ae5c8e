"""Sessions as files: open, save, and recent ones; and which of a file's runs is on show.

Knows file dialogs and what is said about files. Knows no worker.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog

from app.asking import ask_where
from app.messages import RunsMet

if TYPE_CHECKING:
    from app.desk import Desk
    from app.messages import Reply
    from app.settings import Settings
    from app.views.main_window import MainWindow
    from app.views.text import TextView

SESSIONS = "Draftscope sessions (*.jsonl *.jsonl.zst)"
OPENED = (
    "Sessions and statistics (*.jsonl *.jsonl.zst *.json *.log *.txt *.prom);;"
    f"{SESSIONS};;All files (*)"
)


class Sessions(QObject):
    """Asks for files and hands them to the desk."""

    def __init__(self, window: MainWindow, desk: Desk, text: TextView, settings: Settings) -> None:
        super().__init__()
        self._window = window
        self._desk = desk
        self._text = text
        self._runs: tuple[str, ...] = ()
        self._run = 0  # of them, on show
        self._refocus = False
        self._settings = settings
        self._asked: Path | None = None  # by the user; a journal or the demo is not theirs
        window.recent_requested.connect(self.open)
        window.file_dropped.connect(self.open)
        desk.opened.connect(self._after_opening)
        desk.saved.connect(self._after_saving)
        desk.replied.connect(self._take)
        desk.cleared.connect(self._forget_runs)
        text.runs.run_requested.connect(self._show_run)

    def open(self, path: Path) -> None:
        """Show a session file, and remember it once it has proved to be one."""
        self._window.banners.remove_passing()
        if not path.exists():
            self._settings.forget_file(path)
            self._window.set_recent(self._settings["files.recent"])
            sentence = f"{path.name} is not there any more; open it from where it is now."
            self._window.banners.show_error(sentence)
            return
        self._asked = path
        self._desk.open(path)

    def ask_open(self) -> None:
        """Ask for a session file."""
        folder = self._settings["files.folder"]
        path, _ = QFileDialog.getOpenFileName(self._window, "Open a session", folder, OPENED)
        if path:
            self.open(Path(path))

    def ask_save(self) -> None:
        """Ask where to save what is on show."""
        path = self._ask_path("Save the session", "session.jsonl", SESSIONS)
        if path is not None:
            self._desk.save(path)

    @property
    def runs(self) -> tuple[tuple[str, ...], int]:
        """The runs of the session on show, in words, and which of them it is."""
        return self._runs, self._run

    def _show_run(self, run: int) -> None:
        source = self._desk.source
        if source is not None and run != self._run:
            self._desk.open(source, run)
            self._refocus = True

    def _take(self, reply: Reply) -> None:
        if isinstance(reply, RunsMet):
            self._runs, self._run = reply.titles, reply.run
            self._text.runs.offer(self._runs, self._run)
            if self._refocus:  # the box was away while nothing was on show
                self._text.runs.box.setFocus()
            self._refocus = False

    def _forget_runs(self) -> None:
        self._runs, self._run = (), 0
        self._text.runs.offer(())

    def _ask_path(self, title: str, name: str, kinds: str) -> Path | None:
        folder = Path(self._settings["files.folder"] or Path.home())
        suffix = Path(name).suffix
        return ask_where(
            self._window,
            title,
            folder / name,
            kinds,
            lambda path: path if path.suffix else path.with_suffix(suffix),
        )

    def _after_opening(self, path: Path) -> None:
        if path == self._asked:
            self._remember(path)

    def _after_saving(self, path: Path) -> None:
        self._remember(path)
        self._window.banners.show_notice(f"Saved as {path.name}.")

    def _remember(self, path: Path) -> None:
        self._settings.remember_file(path)
        self._window.set_recent(self._settings["files.recent"])
