"""How a command is asked to end: Ctrl-C as a wish, then at once; a polite kill in good order."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, TracebackType
    from typing import Self


ENDED = 143  # the exit code of a process that was asked to end


class Ending:
    """While entered, leaves in good order when asked to end, so that no half file stays behind.

    What a signal raises may be lost in a library that is just being loaded: `check` raises it
    again.
    """

    def __init__(self) -> None:
        self._fault: BaseException | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup and shells want it
                    self._before[number] = signal.signal(number, self._came)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def check(self) -> None:
        """Leave if it was asked for."""
        if self._fault is not None:
            raise self._fault

    def _came(self, number: int, frame: FrameType | None) -> None:
        self._fault = KeyboardInterrupt() if number == signal.SIGINT else SystemExit(ENDED)
        raise self._fault


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
