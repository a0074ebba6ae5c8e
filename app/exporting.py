"""An export in a process of its own, so that cancel ends it and the window never waits.

Knows how `draftscope export` is started. Knows no format and no widget.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, Signal, Slot

_ROOT = Path(__file__).parent.parent
_SILENT = "its process ended and said nothing."


class Export(QObject):
    """At most one export at a time."""

    finished = Signal(object)  # Path of what was written
    failed = Signal(str)  # one sentence
    ended = Signal()  # whatever happened

    def __init__(self) -> None:
        super().__init__()
        self._process: QProcess | None = None
        self._path = Path()
        self._cancelled = False

    @property
    def running(self) -> bool:
        """Whether an export is under way."""
        return self._process is not None

    def start(self, kind: str, trace: Path, path: Path) -> None:
        """Export a trace file as `kind` to `path`; an export under way goes on instead."""
        if self._process is not None:
            return
        self._path = path
        self._cancelled = False
        program, arguments = command(kind, trace, path)
        process = QProcess(self)
        process.setProcessEnvironment(environment())
        process.finished.connect(self._end)
        process.errorOccurred.connect(self._stumble)
        self._process = process
        process.start(program, arguments)

    def cancel(self) -> None:
        """End the export under way."""
        self._cancelled = True
        if self._process is not None:
            self._process.kill()

    def close(self) -> None:
        """End the export and wait until its process is gone."""
        process, self._process = self._process, None
        if process is not None:
            process.finished.disconnect(self._end)
            process.errorOccurred.disconnect(self._stumble)
            process.kill()
            process.waitForFinished(2000)

    @Slot(int, QProcess.ExitStatus)
    def _end(self, code: int, status: QProcess.ExitStatus) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        words = bytes(process.readAllStandardError().data()).decode(errors="replace").strip()
        process.deleteLater()
        if not self._cancelled:
            if code == 0 and status is QProcess.ExitStatus.NormalExit:
                self.finished.emit(self._path)
            else:
                reason = words.splitlines()[-1].removeprefix("draftscope: ") if words else _SILENT
                self.failed.emit(f"The export failed: {reason}")
        self.ended.emit()

    @Slot(QProcess.ProcessError)
    def _stumble(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart and self._process is not None:
            process, self._process = self._process, None
            process.deleteLater()
            self.failed.emit("The export could not be started; install Draftscope again.")
            self.ended.emit()


def command(kind: str, trace: Path, path: Path) -> tuple[str, list[str]]:
    """Return the program and the arguments of an export."""
    return draftscope(["export", "--format", kind, str(trace), str(path)])


def draftscope(arguments: list[str]) -> tuple[str, list[str]]:
    """Return the program that is `draftscope`, this very one, and what it is called with."""
    frozen = getattr(sys, "frozen", False)
    return sys.executable, [*([] if frozen else ["-m", "app"]), *arguments]


def environment() -> QProcessEnvironment:
    """Return the environment in which it finds itself, wherever it is started from."""
    found = QProcessEnvironment.systemEnvironment()
    inherited = found.value("PYTHONPATH")
    search = f"{_ROOT}{';' if sys.platform == 'win32' else ':'}{inherited}"
    found.insert("PYTHONPATH", search if inherited else str(_ROOT))
    return found
