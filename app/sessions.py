"""Sessions as files: open, save, recent ones, and the HTML replay.

Knows file dialogs and what is said about files. Knows neither a worker nor a format.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog

if TYPE_CHECKING:
    from app.desk import Desk
    from app.exporting import Export
    from app.settings import Settings
    from app.views.main_window import MainWindow

SESSIONS = "Draftscope sessions (*.jsonl *.jsonl.zst)"
OPENED = (
    "Sessions and statistics (*.jsonl *.jsonl.zst *.json *.log *.txt *.prom);;"
    f"{SESSIONS};;All files (*)"
)
PAGES = "HTML pages (*.html)"
_EXPORTED = "exported:"


class Sessions(QObject):
    """Asks for files and hands them to the desk."""

    def __init__(self, window: MainWindow, desk: Desk, export: Export, settings: Settings) -> None:
        super().__init__()
        self._window = window
        self._desk = desk
        self._export = export
        self._settings = settings
        self._asked: Path | None = None  # by the user; a journal or the demo is not theirs
        window.recent_requested.connect(self.open)
        window.file_dropped.connect(self.open)
        window.banners.chosen.connect(self._choose)
        desk.opened.connect(self._after_opening)
        desk.saved.connect(self._after_saving)
        export.finished.connect(self._after_export)
        export.failed.connect(window.banners.show_error)

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

    def ask_export(self) -> None:
        """Ask where to write the HTML replay."""
        path = self._ask_path("Export an HTML replay", "replay.html", PAGES)
        if path is not None and self._desk.source is not None:
            self._export.start("html", self._desk.source, path)

    def _ask_path(self, title: str, name: str, kinds: str) -> Path | None:
        folder = Path(self._settings["files.folder"] or Path.home())
        chosen, _ = QFileDialog.getSaveFileName(self._window, title, str(folder / name), kinds)
        if not chosen:
            return None
        path = Path(chosen)
        return path if path.suffix else path.with_suffix(Path(name).suffix)

    def _after_opening(self, path: Path) -> None:
        if path == self._asked:
            self._remember(path)

    def _after_saving(self, path: Path) -> None:
        self._remember(path)
        self._window.banners.show_notice(f"Saved as {path.name}.")

    def _after_export(self, path: Path) -> None:
        self._window.banners.show_banner(
            f"{_EXPORTED}{path}",
            "notice",
            f"{path.name} is written: one page that plays offline in any browser.",
            (("show", "Open it"),),
        )

    def _choose(self, key: str, name: str) -> None:
        if key.startswith(_EXPORTED):
            self._window.banners.remove(key)
            QDesktopServices.openUrl(QUrl.fromLocalFile(key.removeprefix(_EXPORTED)))

    def _remember(self, path: Path) -> None:
        self._settings.remember_file(path)
        self._window.set_recent(self._settings["files.recent"])
