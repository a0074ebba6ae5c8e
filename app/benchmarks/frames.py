"""What a window's thread does while something is shown: gaps, share of a core, paints.

Knows Qt's events and clocks. Knows no panel by name and nothing of what streams in.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QEvent, QObject, Qt, QTimer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from PySide6.QtWidgets import QWidget

TICK_MS = 1


class Frames(QObject):
    """Watches the thread that it is made on, from `start` to `stop`.

    Parameters
    ----------
    surfaces
        Widgets whose paint events are counted, by name.
    tick_ms
        How often the thread is asked whether it lives: that costs, too.

    Attributes
    ----------
    paints
        Paint events of each surface so far.
    """

    def __init__(self, surfaces: Mapping[str, QWidget], tick_ms: int = TICK_MS) -> None:
        super().__init__()
        self.paints = dict.fromkeys(surfaces, 0)
        self._tick_ms = tick_ms
        self._names = {surface: name for name, surface in surfaces.items()}
        self._gaps_s: list[float] = []
        self._last = self._wall = self._cpu = 0.0
        self._began = (0.0, 0.0)  # wall and processor time
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)

    def start(self) -> None:
        """Begin to watch."""
        for surface in self._names:
            surface.installEventFilter(self)
        self._last = time.perf_counter()
        self._began = (self._last, time.thread_time())
        self._timer.start(self._tick_ms)

    def stop(self) -> None:
        """Watch no more; the figures stay, and another start adds to them."""
        self._tick()
        self._timer.stop()
        self._wall += time.perf_counter() - self._began[0]
        self._cpu += time.thread_time() - self._began[1]
        for surface in self._names:
            surface.removeEventFilter(self)

    @property
    def seconds(self) -> float:
        """How long it was watched."""
        return self._wall

    @property
    def cpu_share(self) -> float:
        """Share of a core that the thread used, the watching included."""
        return self._cpu / self._wall

    def gap_ms(self, share: float) -> float:
        """Return the gap between two ticks that a share of all gaps does not exceed; 1: longest."""
        return float(np.quantile(self._gaps_s, share)) * 1e3

    def rates(self) -> dict[str, float]:
        """Return paints per second of each surface."""
        return {name: count / self._wall for name, count in self.paints.items()}

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Count paints, and let every event through."""
        if event.type() == QEvent.Type.Paint and watched in self._names:
            self.paints[self._names[watched]] += 1
        return False

    def _tick(self) -> None:
        now = time.perf_counter()
        self._gaps_s.append(now - self._last)
        self._last = now
