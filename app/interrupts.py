"""Ctrl+C in the terminal and a polite kill close the window as its button does.

Python runs a signal's handler only between two of its own instructions, which Qt's event loop may
not reach for long; a socket that Python writes to at once wakes it.
"""

from __future__ import annotations

import signal
import socket
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSocketNotifier

if TYPE_CHECKING:
    from collections.abc import Callable


class Interrupts(QObject):
    """Calls `close` for SIGINT and SIGTERM until `end`."""

    def __init__(self, close: Callable[[], object]) -> None:
        super().__init__()
        self._close = close
        self._read, self._write = socket.socketpair()
        for end in (self._read, self._write):
            end.setblocking(False)
        self._notifier = QSocketNotifier(self._read.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._wake)
        self._old_fd = signal.set_wakeup_fd(self._write.fileno(), warn_on_full_buffer=False)
        self._old = {
            number: signal.signal(number, self._note) for number in (signal.SIGINT, signal.SIGTERM)
        }

    def end(self) -> None:
        """Give the signals back."""
        for number, handler in self._old.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._old_fd)
        self._notifier.setEnabled(False)
        self._read.close()
        self._write.close()

    def _note(self, number: int, frame: object) -> None:
        """Do nothing here: the socket has been written to, and Qt calls `_wake`."""

    def _wake(self) -> None:
        self._read.recv(64)
        self._close()
