"""Do something at once, then at most every so often; the last wish is never dropped.

Knows a timer and what to do. Knows no panel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer

if TYPE_CHECKING:
    from collections.abc import Callable


class Throttle(QObject):
    """Merges wishes that come too fast.

    Parameters
    ----------
    act
        What is wished for.
    interval_ms
        Least time between two.
    lag_ms
        How long after the first wish it acts: several throttles that are asked together then act
        one after the other, not all in one turn of the thread.

    Attributes
    ----------
    interval_ms
        As given; a change holds from the next time on.
    """

    def __init__(self, act: Callable[[], None], interval_ms: int, lag_ms: int = 0) -> None:
        super().__init__()
        self._act = act
        self._asked = False
        self.interval_ms, self._lag_ms = interval_ms, lag_ms
        self._rest = QTimer(self)
        self._rest.setTimerType(Qt.TimerType.PreciseTimer)
        self._rest.setSingleShot(True)
        self._rest.timeout.connect(self._go_on)

    def ask(self) -> None:
        """Act now, after the lag, or as soon as the interval since the last time is over."""
        if self._rest.isActive():
            self._asked = True
        elif self._lag_ms:
            self._asked = True
            self._rest.start(self._lag_ms)
        else:
            self._rest.start(self.interval_ms)
            self._act()

    def act(self) -> None:
        """Act now, whenever it was done last; a wish that waited is granted by that."""
        self._asked = False
        self._rest.start(self.interval_ms)
        self._act()

    def stop(self) -> None:
        """Act no more on what was asked so far."""
        self._asked = False
        self._rest.stop()

    def _go_on(self) -> None:
        if self._asked:
            self._asked = False
            self._rest.start(self.interval_ms)
            self._act()
