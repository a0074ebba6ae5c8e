"""Wishes are merged, never dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtTest import QTest

from app.throttle import Throttle
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
