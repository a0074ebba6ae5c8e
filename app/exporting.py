"""An export in a process of its own, so that cancel ends it and the window never waits.

Knows how `draftscope export` is started, what it says of itself and how it ends. Knows no format
and no widget.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, QTimer, Signal, Slot

from engine.whole import remove_parts

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROOT = Path(__file__).parent.parent
_SILENT = "its process ended and said nothing."
_PATIENCE_MS = 1000  # between asking a process to end and ending it


@dataclass(frozen=True)
class Exported:
    """What an export has written."""

    path: Path
    size: int = 0  # bytes
    notices: tuple[str, ...] = ()  # sentences about what of the session could not be read


class _Line(msgspec.Struct):
    """A line that the command says: how far it is, or what it has written."""

    done: int = 0
    total: int = 0
    what: str = ""
    written: str = ""
    bytes: int = 0
    notices: tuple[str, ...] = ()


class Export(QObject):
    """At most one export at a time."""

    began = Signal()
    progressed = Signal(int, int, str)  # done, total (0: nobody knows), what
    finished = Signal(object)  # Exported
    failed = Signal(str)  # one sentence
    ended = Signal()  # whatever happened

    def __init__(self) -> None:
        super().__init__()
        self._process: QProcess | None = None
        self._pid = 0
        self._path = Path()
        self._cancelled = False
        self._rest = b""  # of what it said: the beginning of a line
        self._said = _Line()
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.timeout.connect(self._kill)

    @property
    def running(self) -> bool:
        """Whether an export is under way."""
        return self._process is not None

    @property
    def path(self) -> Path:
        """What is, or was last, written."""
        return self._path

    def start(self, arguments: Sequence[str], path: Path) -> None:
        """Export to `path`; an export under way goes on instead.

        Parameters
        ----------
        arguments
            What `draftscope export` is called with, `path` among them.
        """
        if self._process is not None:
            return
        self._path, self._pid = path, 0
        self._cancelled = False
        self._rest, self._said = b"", _Line()
        program, words = draftscope(["export", *arguments, "--json"])
        process = QProcess(self)
        process.setProcessEnvironment(environment())
        process.readyReadStandardOutput.connect(self._listen)
        process.started.connect(self._note_start)
        process.finished.connect(self._end)
        process.errorOccurred.connect(self._stumble)
        self._process = process
        process.start(program, words)
        self.began.emit()

    def cancel(self) -> None:
        """End the export under way: it takes its half file along, or is ended by force."""
        self._cancelled = True
        if self._process is not None:
            self._process.terminate()
            self._patience.start(_PATIENCE_MS)

    def close(self) -> None:
        """End the export and wait until its process is gone."""
        self._patience.stop()
        process, self._process = self._process, None
        if process is not None:
            process.finished.disconnect(self._end)
            process.errorOccurred.disconnect(self._stumble)
            process.readyReadStandardOutput.disconnect(self._listen)
            process.terminate()
            if not process.waitForFinished(_PATIENCE_MS):
                process.kill()
                process.waitForFinished(2 * _PATIENCE_MS)
            self._sweep()

    @Slot()
    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()

    @Slot()
    def _note_start(self) -> None:
        if self._process is not None:
            self._pid = self._process.processId()

    @Slot()
    def _listen(self) -> None:
        if self._process is None:
            return
        self._rest += bytes(self._process.readAllStandardOutput().data())
        *lines, self._rest = self._rest.split(b"\n")
        for line in lines:
            try:
                said = msgspec.json.decode(line, type=_Line)
            except msgspec.DecodeError:
                continue  # a library's own words
            if said.written:
                self._said = said
            elif not self._cancelled:
                self.progressed.emit(said.done, said.total, said.what)

    @Slot(int, QProcess.ExitStatus)
    def _end(self, code: int, status: QProcess.ExitStatus) -> None:
        self._listen()
        self._patience.stop()
        process, self._process = self._process, None
        if process is None:
            return
        words = bytes(process.readAllStandardError().data()).decode(errors="replace").strip()
        process.deleteLater()
        done = code == 0 and status is QProcess.ExitStatus.NormalExit
        if not done:
            self._sweep()
        if done and not self._cancelled:
            self.finished.emit(Exported(self._path, self._said.bytes, self._said.notices))
        elif not self._cancelled:
            reason = words.splitlines()[-1].removeprefix("draftscope: ") if words else _SILENT
            self.failed.emit(f"The export failed: {reason}")
        self.ended.emit()

    def _sweep(self) -> None:
        """Remove what a process that was ended by force left half written."""
        if self._pid:
            remove_parts(self._path, self._pid)

    @Slot(QProcess.ProcessError)
    def _stumble(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart and self._process is not None:
            self._patience.stop()
            process, self._process = self._process, None
            process.deleteLater()
            self.failed.emit("The export could not be started; install Draftscope again.")
            self.ended.emit()


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
