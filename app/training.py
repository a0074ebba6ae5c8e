"""A training in a process of its own, so that cancel ends it at once and the window never waits.

Knows how `draftscope train` is started, read, steered and ended, and what it leaves behind. Knows
no widget, and never reaches torch.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject, QProcess, Signal, Slot

from app.exporting import draftscope, environment
from app.viewmodels.training import TrainingModel
from engine.training.events import from_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from app.viewmodels.training import Phase
    from app.viewmodels.training_plan import Place, TrainingPlan

log = logging.getLogger("draftscope")

NICENESS, MOST_NICE = 10, 19  # a run in the window, and the window itself, go first
_LONGEST_LINE = 1 << 20  # bytes; what is longer is no event
_LAST_WORDS = 4096  # of what it wrote about a fault
_PATIENCE_MS = 1000  # for a process that was asked to end
# Means nothing to one that goes, but that somebody is there: without us it then ends by itself.
_HERE = b"go\n"
_SILENT = "its process ended and said nothing."


class Training(QObject):
    """At most one training at a time.

    Parameters
    ----------
    command
        Makes of the arguments of `draftscope` a program and its arguments.

    Attributes
    ----------
    model
        How far it is and how it does.
    """

    changed = Signal()  # the model is another: as often as the process speaks
    turned = Signal()  # it began, paused, went on or ended
    saved = Signal(str)  # the drafter's name
    failed = Signal(str)  # one sentence

    def __init__(self, command: Callable[[list[str]], tuple[str, list[str]]] | None = None) -> None:
        super().__init__()
        self.model = TrainingModel()
        self._command = command or draftscope
        self._process: QProcess | None = None
        self._place: Place | None = None
        self._before: frozenset[Path] = frozenset()
        self._unread = b""
        self._last_words = b""

    @property
    def under_way(self) -> bool:
        """Whether there is a process."""
        return self._process is not None

    def start(self, plan: TrainingPlan, place: Place, *, resume: bool = False) -> None:
        """Train, or go on with a training; one under way goes on instead."""
        if self._process is not None:
            return
        self.model.begin(plan.name)
        self._place, self._unread, self._last_words = place, b"", b""
        self._before = frozenset({place.out} if resume else place.files())
        try:
            place.folder.mkdir(parents=True, exist_ok=True)
            place.plan.write_bytes(msgspec.json.encode(plan))
        except OSError as fault:
            self._end_with(f"Nothing can be written to {place.folder.name}: {fault.strerror}.")
            return
        program, arguments = self._command(plan.arguments(place.out, resume=resume))
        process = QProcess(self)
        process.setProcessEnvironment(environment())
        process.started.connect(self._step_back)
        process.readyReadStandardOutput.connect(self._read)
        process.readyReadStandardError.connect(self._hear)
        process.finished.connect(self._end)
        process.errorOccurred.connect(self._stumble)
        self._process = process
        process.start(program, arguments)
        process.write(_HERE)
        self.turned.emit()

    def pause(self) -> None:
        """Hold after the step under way."""
        if self.model.phase == "going":
            self._ask("pause", "paused")

    def go_on(self) -> None:
        """Go on after a pause."""
        if self.model.phase == "paused":
            self._ask("go", "going")

    def stop(self) -> None:
        """End soon, and keep the best so far."""
        if self.model.phase in ("going", "paused"):
            self._ask("stop", "stopping")

    def cancel(self) -> None:
        """End at once; nothing is left."""
        if self._process is not None:
            self.model.phase = "cancelled"
            self._process.kill()

    def close(self) -> None:
        """End the process with the window: its checkpoint stays."""
        process, self._process = self._process, None
        if process is None:
            return
        self.blockSignals(True)
        process.closeWriteChannel()
        process.terminate()
        if not process.waitForFinished(_PATIENCE_MS):
            process.kill()
            process.waitForFinished(2 * _PATIENCE_MS)
        if self.model.phase == "cancelled":
            self._clear_away()
        else:
            self._forget_plan()

    def _ask(self, word: str, phase: Phase) -> None:
        if self._process is not None:
            self._process.write(f"{word}\n".encode())
            self.model.phase = phase
            self.turned.emit()

    @Slot()
    def _step_back(self) -> None:
        """Leave the cores to whatever else goes on: before it has made its threads."""
        if self._process is not None and hasattr(os, "setpriority"):
            with contextlib.suppress(OSError):
                own = os.getpriority(os.PRIO_PROCESS, 0)
                pid = int(self._process.processId())
                os.setpriority(os.PRIO_PROCESS, pid, min(MOST_NICE, own + NICENESS))

    @Slot()
    def _read(self) -> None:
        if self._process is None:
            return
        *lines, self._unread = (
            self._unread + bytes(self._process.readAllStandardOutput().data())
        ).split(b"\n")
        if len(self._unread) > _LONGEST_LINE:
            self._unread = b""
        for line in lines:
            try:
                self.model.take(from_line(line))
            except msgspec.DecodeError:  # a library said something
                log.info("training: %s", line[:200])
        if lines:
            self.changed.emit()

    @Slot()
    def _hear(self) -> None:
        if self._process is not None:
            words = self._last_words + bytes(self._process.readAllStandardError().data())
            self._last_words = words[-_LAST_WORDS:]

    @Slot(int, QProcess.ExitStatus)
    def _end(self, code: int, status: QProcess.ExitStatus) -> None:
        if self._process is None:
            return
        self._read()
        self._hear()
        process, self._process = self._process, None
        process.deleteLater()
        if self.model.phase == "cancelled":
            self._clear_away()
            self.turned.emit()
        elif self.model.saved and not self.model.error:
            self.model.phase = "saved"
            self._forget_plan()
            self.turned.emit()
            self.saved.emit(self.model.name)
        else:
            if code or status is not QProcess.ExitStatus.NormalExit or not self.model.error:
                log.warning("training ended with %s: %s", code, self._reason())
            self._end_with(self.model.error or f"The training failed: {self._reason()}")

    def _reason(self) -> str:
        words = self._last_words.decode(errors="replace").strip()
        return words.splitlines()[-1].removeprefix("draftscope: ") if words else _SILENT

    @Slot(QProcess.ProcessError)
    def _stumble(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart and self._process is not None:
            process, self._process = self._process, None
            process.deleteLater()
            self._end_with("The training could not be started; install Draftscope again.")

    def _end_with(self, sentence: str) -> None:
        self.model.error, self.model.phase = sentence, "failed"
        self._forget_plan()
        self.turned.emit()
        self.failed.emit(sentence)

    def _forget_plan(self) -> None:
        """Remove what was asked for, unless it can be gone on with."""
        if self._place is not None and not self._place.checkpoint.exists():
            with contextlib.suppress(OSError):
                self._place.plan.unlink()

    def _clear_away(self) -> None:
        """Remove what the training has written: all that was not there before it."""
        if self._place is not None:
            clear_away(self._place.files() - self._before)


def clear_away(paths: Iterable[Path]) -> None:
    """Remove files and folders, as far as that can be done."""
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                path.unlink()
