"""How a command is asked to end: Ctrl-C as a wish, then at once; a polite kill in good order."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from app.end_signals import end_signals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType, TracebackType
    from typing import Self


ENDED = 143  # the exit code of a process that was asked to end


class Ending:
    """What `ending` gives out: whether the command was asked to end.

    What a signal raises may be lost in a library that is just being loaded: `check` raises it
    again.
    """

    def __init__(self) -> None:
        self._fault: BaseException | None = None

    def check(self) -> None:
        """Leave if it was asked for."""
        if self._fault is not None:
            raise self._fault

    def came(self, number: int, frame: object) -> None:
        """Leave, as a signal asks."""
        self._fault = KeyboardInterrupt() if number == signal.SIGINT else SystemExit(ENDED)
        raise self._fault


@contextmanager
def ending() -> Iterator[Ending]:
    """Leave in good order when asked to end meanwhile, so that no half file stays behind.

    A library in which the wish came may make another fault of it: the wish is what counts.
    """
    asked = Ending()
    with end_signals(asked.came):
        try:
            yield asked
        except Exception:
            asked.check()
            raise


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
