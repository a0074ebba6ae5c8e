"""Ctrl-C as a wish: the first asks to end in good order, the second ends at once."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, TracebackType
    from typing import Self


class Interrupt:
    """While entered, turns the first interrupt into a call of `wish`.

    Attributes
    ----------
    asked
        Whether an interrupt came.
    """

    def __init__(self, wish: Callable[[], None] | None = None) -> None:
        self.asked = False
        self._wish = wish
        self._before: Any = None  # what signal.signal returned, which has no better type

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._came)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _came(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        if self._wish is not None:
            self._wish()
