"""The first lines of a file as an export would write it, made by the command itself on the side.

Knows a process, a temporary folder and how much is shown. Knows no format's inside and no widget.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from app.exporting import Export, Exported
from app.throttle import Throttle

if TYPE_CHECKING:
    from app.viewmodels.export_plan import ExportPlan

_MOST_BYTES = 24_000
_MOST_LINES, _LONGEST_LINE = 60, 400
_LAG_MS = 150


class Sample(QObject):
    """At most one sample at a time; the newest wish replaces the one under way."""

    made = Signal(str, str)  # its first lines, and a sentence about all of it

    def __init__(self) -> None:
        super().__init__()
        self._export = Export()
        self._export.finished.connect(self._show)
        self._export.failed.connect(self._fail)
        self._export.ended.connect(self._go_on)
        self._later = Throttle(self._start, _LAG_MS, _LAG_MS)
        self._wish: tuple[ExportPlan, Path] | None = None
        self._folder: Path | None = None

    @property
    def running(self) -> bool:
        """Whether a process is at work for it."""
        return self._export.running

    def ask(self, plan: ExportPlan, trace: Path) -> None:
        """Make a sample of this, soon; nothing else is shown any more."""
        self._wish = (plan, trace)
        if self._export.running:
            self._export.cancel()  # what ends begins the next
        else:
            self._later.ask()

    def stop(self) -> None:
        """Make none."""
        self._wish = None
        self._later.stop()
        self._export.cancel()

    def close(self) -> None:
        """End a process and leave nothing behind."""
        self._wish = None
        self._later.stop()
        self._export.close()
        self._clear()

    def _start(self) -> None:
        if self._wish is None or self._export.running:
            return
        plan, trace = self._wish
        self._wish = None
        self._clear()
        self._folder = Path(tempfile.mkdtemp(prefix="draftscope-sample-"))
        out = self._folder / f"sample{plan.made.suffixes[0]}"
        self._export.start(plan.arguments(trace, out), out)

    @Slot(object)
    def _show(self, exported: Exported) -> None:
        if self._wish is not None:
            return
        try:
            with exported.path.open("rb") as file:
                begin = file.read(_MOST_BYTES)
        except OSError:
            return  # swept away meanwhile: the next sample comes
        text = begin.decode("utf-8", errors="replace")
        size = f"The whole file has {exported.size / 1000:,.1f} kB."
        if "\0" in text or "\N{REPLACEMENT CHARACTER}" in text[:200]:
            self.made.emit("", f"The file is packed and cannot be read as text. {size}")
            return
        lines = [line[:_LONGEST_LINE] for line in text.splitlines()[:_MOST_LINES]]
        self.made.emit("\n".join(lines), " ".join((size, *exported.notices)))

    @Slot(str)
    def _fail(self, sentence: str) -> None:
        if self._wish is None:
            self.made.emit("", sentence)

    @Slot()
    def _go_on(self) -> None:
        self._clear()
        if self._wish is not None:
            self._later.ask()

    def _clear(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
