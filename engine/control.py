"""What a viewer may ask of a running session, from any thread. Knows no torch and no Qt.

Stop, pause and pace travel through this object and not through queued calls, so that they take
effect within one round even while the session's thread is busy.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.trace.events import Settings


class Control:
    """Thread-safe wishes: stop, pause, step, pace, changed settings.

    Two clocks meet here. Unpaced, the engine runs ahead of the picture as fast as it can. Paced
    (stepping, paused, slow motion), it stays at most one round ahead and waits *between* rounds.
    """

    def __init__(
        self, *, paced: bool = False, disturbed: Callable[[], bool] = lambda: False
    ) -> None:
        """Make the wishes of one run; `disturbed` says whether its rounds are (engine side)."""
        self._condition = threading.Condition()
        self._stopped = False
        self._paced = paced
        self._presented = -1  # index of the last round that the picture has finished with
        self._settings: Settings | None = None
        self.disturbed = disturbed

    @property
    def stopped(self) -> bool:
        """Whether a stop was asked for; it never goes back to False."""
        return self._stopped

    def stop(self) -> None:
        """Ask the run to end; it does within one round."""
        with self._condition:
            self._stopped = True
            self._condition.notify_all()

    def set_paced(self, paced: bool) -> None:
        """Let the engine wait for the picture between rounds, or run free."""
        with self._condition:
            self._paced = paced
            self._condition.notify_all()

    def presented(self, index: int) -> None:
        """Report that the picture has finished showing round `index`."""
        with self._condition:
            self._presented = max(self._presented, index)
            self._condition.notify_all()

    def change_settings(self, settings: Settings) -> None:
        """Use these settings from the next round on."""
        with self._condition:
            self._settings = settings

    def take_settings(self) -> Settings | None:
        """Return the settings asked for since the last call, if any (engine side)."""
        with self._condition:
            settings, self._settings = self._settings, None
            return settings

    def wait_for_turn(self, index: int) -> bool:
        """Block until round `index` may start; return whether it had to wait (engine side).

        Paced, round `index` may start once round `index - 2` is presented: one round ahead.
        """
        with self._condition:
            blocked = self._blocked(index)
            while self._blocked(index):
                self._condition.wait()
            return blocked or self._paced

    def _blocked(self, index: int) -> bool:
        return self._paced and not self._stopped and self._presented < index - 2
