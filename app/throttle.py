"""Do something at once, then at most every so often; the last wish is never dropped.

Knows a timer and what to do. Knows no panel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

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
    """

    def __init__(self, act: Callable[[], None], interval_ms: int) -> None:
        super().__init__()
        self._act = act
        self._asked = False
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(interval_ms)
        self._rest.timeout.connect(self._go_on)

    def ask(self) -> None:
        """Act now, or as soon as the interval since the last time is over."""
        if self._rest.isActive():
            self._asked = True
        else:
            self._rest.start()
            self._act()

    def stop(self) -> None:
        """Act no more on what was asked so far."""
        self._asked = False
        self._rest.stop()

    def _go_on(self) -> None:
        if self._asked:
            self._asked = False
            self.ask()
