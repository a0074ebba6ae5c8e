"""Times of phases: the host's, or the device's own with what is left to the last phase."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

import engine.phases as phases_module
from engine.phases import Phases, device_events

if TYPE_CHECKING:
    import pytest


class Clock:
    """A host's clock that the test moves."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.now = 0
        patch.setattr(phases_module.time, "perf_counter_ns", lambda: self.now)


class Stream:
    """A device that is behind its host: events stand at the device's own times."""

    def __init__(self, *at_ms: float) -> None:
        self._at_ms = iter(at_ms)
        self.made = 0

    def event(self) -> Event:
        self.made += 1
        return Event(self._at_ms)


class Event:
    def __init__(self, at_ms: object) -> None:
        self._times = at_ms
        self.at: float | None = None

    def record(self) -> None:
        assert self.at is None, "an event is recorded once"
        self.at = next(self._times)  # type: ignore[call-overload]  # an iterator of times

    def elapsed_time(self, end_event: Event) -> float:
        assert self.at is not None
        assert end_event.at is not None
        return end_event.at - self.at


def test_the_hosts_phases_are_what_passed_between_their_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(monkeypatch)
    phases = Phases()
    for start in (100, 5_000):  # a second round begins anew
        clock.now = start
        phases.begin()
        clock.now += 7
        phases.next()
        clock.now += 20
        phases.next()
        clock.now += 3
        assert phases.end() == (7, 20, 3)


def test_the_devices_phases_are_its_own_and_the_last_has_what_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # the host queues all in 30 us and reads 9 ms later; the device began 0.5 ms after it
    clock = Clock(monkeypatch)
    stream = Stream(0.5, 2.5, 8.0)
    phases = Phases(stream.event)
    phases.begin()
    clock.now += 10_000
    phases.next()
    clock.now += 20_000
    phases.next()
    clock.now = 9_000_000
    assert phases.end() == (2_000_000, 5_500_000, 1_500_000)
    assert stream.made == 3


def test_every_round_has_events_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    phases = Phases(Stream(*range(9)).event)
    for _ in range(3):
        clock.now = 0
        phases.begin()
        phases.next()
        phases.next()
        clock.now = 4_000_000
        assert phases.end() == (1_000_000, 1_000_000, 2_000_000)


def test_no_phase_is_shorter_than_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    # two clocks: the device's can have counted more than the host's
    clock = Clock(monkeypatch)
    phases = Phases(Stream(0.0, 1.0, 2.0).event)
    phases.begin()
    phases.next()
    phases.next()
    clock.now = 1_999_000
    assert phases.end() == (1_000_000, 1_000_000, 0)


def test_only_a_gpu_has_a_clock_of_its_own() -> None:
    assert device_events(torch.device("cpu")) is None
    assert device_events(torch.device("mps")) is None
    assert device_events(torch.device("cuda")) is not None
