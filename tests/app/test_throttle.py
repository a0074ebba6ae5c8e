"""Wishes are merged, never dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtTest import QTest

import app.throttle
from app.throttle import Throttle
from tests.app.fake_time import FakeTime
from tests.app.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtWidgets import QApplication

INTERVAL_MS = 30


@pytest.fixture
def acts() -> list[int]:
    return []


@pytest.fixture
def throttle(qapp: QApplication, acts: list[int]) -> Iterator[Throttle]:
    made = Throttle(lambda: acts.append(1), INTERVAL_MS)
    yield made
    made.stop()


def test_the_first_wish_is_granted_at_once(throttle: Throttle, acts: list[int]) -> None:
    throttle.ask()
    assert acts == [1]


def test_many_wishes_become_one_more_and_the_last_is_not_dropped(
    throttle: Throttle, acts: list[int]
) -> None:
    for _ in range(50):
        throttle.ask()
    assert len(acts) == 1
    wait_until(lambda: len(acts) == 2)
    QTest.qWait(3 * INTERVAL_MS)
    assert len(acts) == 2
    throttle.ask()
    assert len(acts) == 3


def test_what_was_stopped_acts_no_more(throttle: Throttle, acts: list[int]) -> None:
    throttle.ask()
    throttle.ask()
    throttle.stop()
    QTest.qWait(3 * INTERVAL_MS)
    assert len(acts) == 1


def test_throttles_asked_together_act_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    time = FakeTime()
    monkeypatch.setattr(app.throttle, "QTimer", time.timer)
    acted: list[tuple[int, float]] = []
    throttles = [
        Throttle(lambda at=at: acted.append((at, time.now_ms)), 200, 30 * at)  # type: ignore[misc]  # bound
        for at in range(3)
    ]
    for _ in range(100):
        for throttle in throttles:
            throttle.ask()
        time.advance(10)
    times = {at: [when for who, when in acted if who == at] for at in range(3)}
    assert times[0][:4] == [0, 200, 400, 600]
    assert times[1][:4] == [30, 230, 430, 630]
    assert times[2][:4] == [60, 260, 460, 660]


def test_acting_out_of_turn_grants_the_wish_that_waited(monkeypatch: pytest.MonkeyPatch) -> None:
    time = FakeTime()
    monkeypatch.setattr(app.throttle, "QTimer", time.timer)
    acted: list[float] = []
    throttle = Throttle(lambda: acted.append(time.now_ms), 200)
    throttle.ask()
    throttle.ask()
    time.advance(50)
    throttle.act()
    time.advance(1000)
    assert acted == [0, 50]
