"""The source of the window's benchmarks: a run as long as wanted, lawful throughout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.benchmarks.recorded import long_run, recorded_session, write_long_run
from engine.trace.events import Round
from engine.trace.reader import read_trace
from tests.lawful import assert_lawful
from tests.traces import make_trace

if TYPE_CHECKING:
    from pathlib import Path


def test_a_recorded_run_goes_on_lawfully_beyond_its_end() -> None:
    recorded = recorded_session()
    whole = sum(isinstance(event, Round) for event in recorded)
    events = list(long_run(recorded, 3 * whole + 7))
    assert sum(isinstance(event, Round) for event in events) == 3 * whole + 7
    assert_lawful(events)


def test_a_cut_round_at_the_end_is_not_repeated() -> None:
    events = list(long_run(make_trace(rounds=6, k=3, settings_changes=False), 40))
    assert sum(isinstance(event, Round) for event in events) == 40
    assert_lawful(events)


def test_written_file_is_the_run(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    assert write_long_run(path, 130) == path.stat().st_size
    assert read_trace(path) == list(long_run(recorded_session(), 130))
