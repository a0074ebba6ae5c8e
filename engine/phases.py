"""How long each phase of a round took, by the host's clock or by the device's own.

Where a round is queued whole, its phases end on the device long after the host has gone on, and
asking for the time would mean to wait. There events are queued between the phases and read after
the round's one transfer. Knows clocks; no model, no rule, no round.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Protocol

import torch

if TYPE_CHECKING:
    from collections.abc import Callable


class DeviceEvent(Protocol):
    """A moment on a device's own clock, as `torch.cuda.Event` has it."""

    def record(self) -> None:
        """Queue the moment behind what is queued already."""
        ...

    def elapsed_time(self, end_event: Any, /) -> float:
        """Return the milliseconds from this moment to a later one, once both have passed."""
        ...


def device_events(device: torch.device) -> Callable[[], DeviceEvent] | None:
    """Return what makes events for this device; None where it has no clock of its own."""
    if device.type != "cuda":
        return None
    return lambda: torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]  # torch's own


class Phases:
    """Phases that follow one another without a gap, until what they made is read by the host."""

    def __init__(self, new_event: Callable[[], DeviceEvent] | None = None) -> None:
        """Take the host's clock, or with `new_event` the device's for all but the last phase."""
        self._new_event = new_event
        self._moments: list[int] = []
        self._events: list[DeviceEvent] = []

    def begin(self) -> None:
        """Begin the first phase."""
        self._moments, self._events = [time.perf_counter_ns()], []
        self._record()

    def next(self) -> None:
        """End a phase and begin the next one, without waiting for the device."""
        if self._new_event is None:
            self._moments.append(time.perf_counter_ns())
        self._record()

    def end(self) -> tuple[int, ...]:
        """Return the nanoseconds of each phase; the host has just read what the last one made.

        Their sum is the host's own time from first to last. So what the device did not count, the
        transfer and the reading, is the last phase's.
        """
        self._moments.append(time.perf_counter_ns())
        if self._new_event is None:
            return tuple(b - a for a, b in zip(self._moments, self._moments[1:], strict=False))
        pairs = zip(self._events, self._events[1:], strict=False)
        inner = [round(1e6 * one.elapsed_time(other)) for one, other in pairs]
        whole = self._moments[-1] - self._moments[0]
        return (*inner, max(0, whole - sum(inner)))

    def _record(self) -> None:
        if self._new_event is not None:
            event = self._new_event()
            event.record()
            self._events.append(event)
