"""Ctrl-C and a polite kill, taken by somebody else for a while. Knows signals; knows no command."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def end_signals(handler: Callable[[int, Any], object]) -> Iterator[None]:
    """Let SIGINT and SIGTERM call `handler` while entered; a signal that is ignored stays so.

    Elsewhere than in the main thread, which alone has signals, nothing is changed.
    """
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for taken, old in before.items():
            signal.signal(taken, signal.SIG_DFL if old is None else old)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Hold back a wish to end the process while a library is loaded.

    What a signal raises meanwhile ends in Qt's loader, which dies of it or forgets it.
    """
    came: list[int] = []
    try:
        with end_signals(lambda number, frame: came.append(number)):
            yield
    finally:
        for wish in came:
            signal.raise_signal(wish)
