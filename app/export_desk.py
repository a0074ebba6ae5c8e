"""Exports from the window: the dialog, its preview, the process, and what is said at the end.

Knows the dialog, the process and the banners. Writes nothing itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices

from app.asking import ask_where
from app.sampling import Sample
from app.viewmodels.export_plan import moments_offered, recalled
from app.viewmodels.gallery import called

if TYPE_CHECKING:
    from app.appearance import Appearance
    from app.desk import Desk
    from app.exporting import Export, Exported
    from app.sessions import Sessions
    from app.settings import Settings
    from app.views.export import ExportDialog
    from app.views.main_window import MainWindow

_UNDER_WAY = "exporting"
_WRITTEN = "exported"
_FAILED = "export failed"  # one banner each: they take no other's place
_MAKING = "Making the first lines…"


class ExportDesk(QObject):
    """Keeps dialog, banner and process of an export in step."""

    def __init__(
        self,
        window: MainWindow,
        desk: Desk,
        export: Export,
        sessions: Sessions,
        appearance: Appearance,
        settings: Settings,
    ) -> None:
        super().__init__()
        self._window, self._desk, self._export = window, desk, export
        self._sessions, self._appearance, self._settings = sessions, appearance, settings
        self._dialog: ExportDialog | None = None
        self.sample = Sample()
        self.sample.made.connect(self._show_lines)
        self._words, self._ending, self._failed = "", "", False
        self._fraction: float | None = None
        self._written = Path()
        export.progressed.connect(self._progress)
        export.finished.connect(self._finish)
        export.failed.connect(self._fail)
        export.ended.connect(self._end)
        appearance.theme_changed.connect(self._dress)
        window.banners.chosen.connect(self._choose)
        desk.cleared.connect(self._close_dialog)

    def open(self) -> None:
        """Show the dialog with the format and options that were chosen last."""
        dialog = self.dialog()
        document, cursor = self._desk.document, self._desk.presentation.cursor
        runs, run = self._sessions.runs
        kept = dialog.plan if dialog.isVisible() else recalled(self._settings["export.plan"])
        dialog.form.offer_runs(runs or ("",), document.session_note.title)
        dialog.set_plan(msgspec.structs.replace(kept, run=run))
        dialog.form.offer_moments(moments_offered(document, cursor))
        self._window.banners.remove(_UNDER_WAY)
        if dialog.isVisible():  # behind another window, perhaps
            dialog.activateWindow()
        dialog.show()
        self._show(afresh=True)
        self._show_progress()

    def dialog(self) -> ExportDialog:
        """Return the dialog, made at the first wish."""
        from app.views.export import ExportDialog

        if self._dialog is None:
            self._dialog = dialog = ExportDialog(self._window)
            dialog.edited.connect(self._show)
            dialog.export_requested.connect(self._start)
            dialog.cancel_requested.connect(self._export.cancel)
            dialog.finished.connect(self._leave)
            self._dress()
        return self._dialog

    def close(self) -> None:
        """End what is under way with the window."""
        self.sample.close()
        if self._dialog is not None:
            self._dialog.preview.stop()

    # The dialog

    def _show(self, afresh: bool = False) -> None:
        """Show what was chosen, whether it makes sense, and how it will look."""
        dialog, desk = self.dialog(), self._desk
        plan, document = dialog.plan, desk.document
        same_run = plan.run == self._sessions.runs[1]
        problem = plan.problem(document) if same_run else ""
        if not (document.rounds or document.imported) or desk.source is None:
            problem = "There is no round to export yet."
        dialog.say(problem, running=self._export.running)
        note = document.session_note
        dialog.preview.show_plan(document, plan, note.title, note.note, afresh=afresh)
        if not same_run and plan.look != "lines":
            dialog.preview.say("The preview is of the run on show, not of the one chosen here.")
        self._settings["export.plan"] = plan.kept()
        if plan.look != "lines" or problem or desk.source is None:
            self.sample.stop()
            return
        dialog.preview.show_lines("", _MAKING)
        self.sample.ask(plan, desk.source)

    def _show_lines(self, text: str, words: str) -> None:
        if self._dialog is not None and self._dialog.plan.look == "lines":
            self._dialog.preview.show_lines(text, words)

    def _leave(self) -> None:
        self.sample.stop()
        self.dialog().preview.stop()
        self._show_progress()

    def _close_dialog(self) -> None:
        """Close the dialog: what it shows is gone."""
        if self._dialog is not None and self._dialog.isVisible():
            self._dialog.close()

    def _dress(self) -> None:
        if self._dialog is not None:
            self._dialog.set_theme(self._appearance.theme)

    # The process

    def _start(self) -> None:
        """Ask where, then export what the file holds at this moment."""
        plan, source = self.dialog().plan, self._desk.source
        if source is None or self._export.running:
            return
        name = plan.file_name(called(self._desk.document, source))
        folder = Path(self._settings["files.folder"] or Path.home())
        kinds = f"{plan.made.title} (*{plan.made.suffixes[0]})"
        title = f"Export: {plan.made.title}"
        path = ask_where(self.dialog(), title, folder / name, kinds, plan.with_suffix)
        if path is None:
            return
        if path.parent.is_dir():  # or else the export says so
            self._settings["files.folder"] = str(path.resolve().parent)
        self._words, self._fraction = f"Writing {path.name}…", None
        self._export.start(plan.arguments(source, path), path)
        self._show_progress()

    def _progress(self, done: int, total: int, what: str) -> None:
        self._words = f"{what}…"
        self._fraction = min(1.0, done / total) if total > 0 else None
        self._show_progress()

    def _show_progress(self) -> None:
        """Show it in the dialog, or in a banner where that is closed."""
        banners, running = self._window.banners, self._export.running
        dialog = self._dialog
        if dialog is not None and dialog.isVisible():
            dialog.follow(self._fraction, self._words if running else "")
            dialog.say(dialog.problem.text(), running=running)
            banners.remove(_UNDER_WAY)
        elif running:
            banner = banners.banner(_UNDER_WAY) or banners.show_banner(
                _UNDER_WAY, "notice", "", (("cancel", "Cancel"),)
            )
            banner.set_text(f"Exporting {self._export.path.name}: {self._words}")
            banner.set_progress(self._fraction)
        else:
            banners.remove(_UNDER_WAY)

    def _fail(self, sentence: str) -> None:
        self._window.banners.show_banner(_FAILED, "error", sentence)
        self._ending, self._failed = sentence, True

    def _finish(self, exported: Exported) -> None:
        self._written = exported.path
        size = f"{exported.size / 1000:,.0f} kB"
        words = self._ending = f"{exported.path.name} is written ({size})."
        self._window.banners.show_banner(
            _WRITTEN,
            "notice",
            " ".join((words, *exported.notices)),
            (("open", "Open it"), ("folder", "Show folder")),
        )

    def _end(self) -> None:
        self._words, self._fraction = "", None
        self._show_progress()
        if self._dialog is not None and self._dialog.isVisible():
            self._dialog.tell(self._ending, failed=self._failed)  # the banner stands behind it
        self._ending, self._failed = "", False

    def _choose(self, key: str, name: str) -> None:
        if key == _UNDER_WAY:
            self._export.cancel()
        elif key == _WRITTEN:
            path = self._written
            self._window.banners.remove(key)
            shown = path if name == "open" else path.parent
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(shown)))
