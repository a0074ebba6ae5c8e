"""A session file that changes while it is on show: said once, and everything else goes on."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QWidget

from app.refreshing import Refreshing
from engine.errors import DraftscopeError
from tests.app.opened import write_trace
from tests.app.waiting import wait_until
from tests.traces import make_trace

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtWidgets import QApplication

    from app.desk import Desk

CHANGED = "t.jsonl was changed while it was on show"


class Panel(QWidget):
    """Counts how often it is refreshed, and fails if it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.refreshed = 0
        self.fault: Exception | None = None

    def refresh(self) -> None:
        self.refreshed += 1
        if self.fault is not None:
            raise self.fault


def test_a_tick_that_cannot_read_a_round_back_pauses_and_says_so_once(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.set_speed(1.0)
    desk.open(write_trace(tmp_path / "t.jsonl", make_trace(rounds=6)))
    wait_until(lambda: not desk.state.opening and desk.presentation.playing)
    said: list[str] = []
    desk.failed.connect(said.append)
    passes: list[float] = []

    def failing(seconds: float) -> None:
        passes.append(seconds)
        raise DraftscopeError(CHANGED)

    monkeypatch.setattr(desk.presentation, "_pass", failing)
    wait_until(lambda: len(passes) > 1 or (bool(passes) and not desk.ticking))
    assert said == [CHANGED]
    assert len(passes) == 1
    assert not desk.presentation.playing
    assert not desk.state.playing


def test_an_emptied_file_is_played_to_its_end_without_a_word(desk: Desk, tmp_path: Path) -> None:
    path = write_trace(tmp_path / "t.jsonl", make_trace(rounds=6))
    desk.pause()
    desk.open(path)
    wait_until(lambda: not desk.state.opening)
    path.write_bytes(b"")
    said: list[str] = []
    desk.failed.connect(said.append)
    desk.seek(-1)
    desk.set_speed(1000.0)
    desk.play()
    wait_until(lambda: bool(said) or (desk.presentation.at_end and not desk.ticking))
    assert said == []
    assert desk.document.rounds.read == 0


@pytest.fixture
def reported(monkeypatch: pytest.MonkeyPatch) -> list[BaseException]:
    found: list[BaseException] = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, fault, trace: found.append(fault))
    return found


def test_a_panel_that_fails_keeps_no_other_from_being_refreshed_and_is_reported_once(
    qapp: QApplication, reported: list[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.refreshing.is_seen", lambda view: True)
    text, court, timeline, chart = panels = [Panel() for _ in range(4)]
    refreshing = Refreshing(text, (court, timeline), (chart,))
    text.fault, court.fault = DraftscopeError(CHANGED), DraftscopeError(CHANGED)
    for _ in range(3):
        refreshing.follow(live=False)
    assert timeline.refreshed == 3
    refreshing.catch_up(court, seen=True)
    assert reported == [text.fault]
    before = [panel.refreshed for panel in panels]
    refreshing.refresh_all()
    assert [panel.refreshed for panel in panels] == [n + 1 for n in before]
    assert reported == [text.fault, text.fault]  # of another document it is said again
    refreshing.stop()
