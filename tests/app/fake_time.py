"""Timers that go only when a test lets time pass: what they do in ten seconds takes none."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class FakeTime:
    """Milliseconds that a test counts, and the timers that they set off."""

    def __init__(self) -> None:
        self.now_ms = 0.0
        self.timers: list[FakeTimer] = []

    def timer(self, parent: object = None) -> FakeTimer:
        """Stand in for `QTimer`."""
        made = FakeTimer(self)
        self.timers.append(made)
        return made

    def elapsed(self) -> FakeElapsed:
        """Stand in for `QElapsedTimer`."""
        return FakeElapsed(self)

    def advance(self, ms: float) -> None:
        """Let time pass; timers go off in the order in which they are due."""
        end = self.now_ms + ms
        while True:
            due = [one for one in self.timers if one.due_ms is not None and one.due_ms <= end]
            if not due:
                break
            following = min(due, key=lambda one: one.due_ms or 0.0)
            self.now_ms = following.due_ms or 0.0
            following.go_off()
        self.now_ms = end


class FakeTimer:
    """As much of `QTimer` as the window uses."""

    def __init__(self, time: FakeTime) -> None:
        self._time = time
        self._every_ms = 0.0
        self._once = False
        self._calls: list[Callable[[], object]] = []
        self.due_ms: float | None = None
        self.timeout = self

    def connect(self, call: Callable[[], object]) -> None:
        self._calls.append(call)

    def setSingleShot(self, once: bool) -> None:
        self._once = once

    def setTimerType(self, kind: object) -> None:
        """Fake time is exact."""

    def isActive(self) -> bool:
        return self.due_ms is not None

    def start(self, every_ms: float) -> None:
        self._every_ms = every_ms
        self.due_ms = self._time.now_ms + every_ms

    def stop(self) -> None:
        self.due_ms = None

    def go_off(self) -> None:
        self.due_ms = None if self._once else self._time.now_ms + self._every_ms
        for call in self._calls:
            call()


class FakeElapsed:
    """As much of `QElapsedTimer` as the window uses."""

    def __init__(self, time: FakeTime) -> None:
        self._time = time
        self._from_ms = 0.0

    def start(self) -> None:
        self._from_ms = self._time.now_ms

    def restart(self) -> float:
        passed, self._from_ms = self._time.now_ms - self._from_ms, self._time.now_ms
        return passed
