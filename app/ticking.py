"""The one timer behind the window: at most 60 Hz, at a calmer pace while rounds stream in.

Knows how long a tick took to come. Knows nothing of what is done in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QElapsedTimer, QObject, Qt, QTimer, Slot

if TYPE_CHECKING:
    from collections.abc import Callable

TICK_MS, LIVE_TICK_MS = 16, 50  # as rounds come, each picture takes time from the engine
LONGEST_TICK_S = 0.1  # after a hold-up the picture goes on where it was, it does not jump


class Ticker(QObject):
    """Calls something again and again until it is stopped.

    Parameters
    ----------
    act
        Called with the seconds since the last call, or since it was woken.
    """

    def __init__(self, act: Callable[[float], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._act = act
        self._elapsed = QElapsedTimer()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)

    @property
    def going(self) -> bool:
        """Whether it ticks."""
        return self._timer.isActive()

    def wake(self, *, live: bool) -> None:
        """Tick from now on, if it does not yet; `live`: rounds are shown as they come."""
        if not self._timer.isActive():
            self._elapsed.start()
            self._timer.start(LIVE_TICK_MS if live else TICK_MS)

    def stop(self) -> None:
        """Tick no more."""
        self._timer.stop()

    @Slot()
    def _tick(self) -> None:
        self._act(min(self._elapsed.restart() / 1000, LONGEST_TICK_S))
