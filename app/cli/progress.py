"""One line of progress on a terminal; nothing where nobody looks. Knows no model."""

from __future__ import annotations

import time
from typing import TextIO

_WIDTH = 28
_INTERVAL_S = 0.05
_UNITS = ("bytes", "kB", "MB", "GB")


class ProgressLine:
    """Shows (done, total, what) on one line that it rewrites and finally removes.

    Parameters
    ----------
    stream
        Standard error.
    in_bytes
        Whether numbers are bytes, shown in larger units.
    """

    def __init__(self, stream: TextIO, *, in_bytes: bool = False) -> None:
        self._stream = stream
        self._shown = stream.isatty()
        self._in_bytes = in_bytes
        self._length = 0
        self._last = 0.0
        self._said = ""

    def __call__(self, done: int, total: int, what: str) -> None:
        """Show where it stands; many calls a second cost one line each twentieth."""
        if not self._shown:
            if self._in_bytes and what != self._said:  # a long wait deserves a word in a log
                self._said = what
                print(what, file=self._stream, flush=True)
            return
        now = time.monotonic()
        if done < total and now - self._last < _INTERVAL_S:
            return
        self._last = now
        share = min(1.0, done / total) if total > 0 else 0.0
        bar = "#" * round(share * _WIDTH)
        numbers = f"{self._amount(done)} of {self._amount(total)}" if total > 0 else ""
        line = f"{what} [{bar:<{_WIDTH}}] {numbers}"
        self._stream.write("\r" + line.ljust(self._length))
        self._stream.flush()
        self._length = len(line)

    def close(self) -> None:
        """Remove the line."""
        if self._shown and self._length:
            self._stream.write("\r" + " " * self._length + "\r")
            self._stream.flush()
            self._length = 0

    def _amount(self, number: int) -> str:
        if not self._in_bytes:
            return str(number)
        value, unit = float(number), 0
        while value >= 1000 and unit + 1 < len(_UNITS):
            value, unit = value / 1000, unit + 1
        return f"{value:.0f} {_UNITS[unit]}" if unit < 2 else f"{value:.1f} {_UNITS[unit]}"
