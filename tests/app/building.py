"""A build of the compiled plan that tests steer: nothing is compiled, and nothing is tried."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from engine.models.native.build import Record
from engine.models.native.process import BuildCancelled

if TYPE_CHECKING:
    from collections.abc import Callable

FASTER = Record(over_packed=0.52, difference=1e-5, compiler="g++", seconds=3.3)
NO_FASTER = Record(over_packed=0.97, difference=1e-5, compiler="g++", seconds=3.3)


class Building:
    """Stands for the compiler and for what it leaves behind."""

    def __init__(self) -> None:
        self.record: Record | None = None  # of what is built
        self.hindrance: str | None = None
        self.outcome: Record | Exception = FASTER
        self.gate = threading.Event()  # the build waits for it
        self.calls = 0

    def warm_up(
        self, progress: Callable[[int, int, str], None], cancelled: Callable[[], bool]
    ) -> Record:
        self.calls += 1
        progress(1, 4, "Trying it beside the packed plan")
        while not self.gate.wait(0.005):
            if cancelled():
                raise BuildCancelled
        if isinstance(self.outcome, Exception):
            raise self.outcome
        self.record = self.outcome
        return self.outcome
