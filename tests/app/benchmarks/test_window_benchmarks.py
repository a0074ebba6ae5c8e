"""The window's benchmarks measure the real window, leave nothing behind, and say what they saw."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QApplication, QWidget

from app.benchmarks import stage
from app.benchmarks.frames import Frames
from app.benchmarks.gui import open_long_trace, stream
from app.benchmarks.window import BARE, COMMAND_LINE, WATCHED, measure
from app.cli import bench_gui
from app.desk import LIVE_TICK_MS
from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("qapp")


@pytest.fixture(autouse=True)
def nothing_left() -> object:
    before = {name: os.environ.get(name) for name in ("DRAFTSCOPE_CONFIG", "DRAFTSCOPE_DATA")}
    yield None
    assert {name: os.environ.get(name) for name in before} == before
    assert not [one for one in QApplication.topLevelWidgets() if one.isVisible()]


def test_streamed_rounds_are_all_shown_and_paints_are_counted() -> None:
    seen = stream(tokens_per_second=400.0, seconds=0.6)
    assert seen.shown_rounds == seen.rounds == 122
    assert 0.5 < seen.seconds < 60
    assert {name for name, rate in seen.paints_per_second.items() if rate} >= {
        *("strip", "court", "timeline", "throughput plot", "caches pages"),
    }
    assert seen.paints_per_second["strip"] <= 1000 / LIVE_TICK_MS + 2 / seen.seconds
    assert 0 < seen.p50_gap_ms <= seen.p99_gap_ms <= seen.longest_gap_ms
    assert 0 < seen.cpu_share <= 1
    assert "rounds on show in the end" in bench_gui._stream(seen)


def test_a_long_trace_is_written_opened_and_timed() -> None:
    seen = open_long_trace(rounds=200)
    assert seen.file_bytes > 200 * 1000
    assert 0 < seen.first_picture_s <= seen.whole_s
    assert "200 rounds" in bench_gui._opening(seen)


def test_the_same_run_watched_unwatched_and_on_the_command_line(tiny_model: Path) -> None:
    seen = measure(
        str(tiny_model), "ngram", k=3, temperature=0.0, max_new_tokens=24, prompt="a b", repeats=2
    )
    assert [way.name for way in seen.ways] == [WATCHED, BARE, COMMAND_LINE]
    assert seen.identical
    assert seen.tokens == 24
    assert all(way.round.samples == 2 and way.wall_tokens_per_second > 0 for way in seen.ways)
    assert seen.lost.low <= seen.lost.value <= seen.lost.high < 1


def test_a_model_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(DraftscopeError, match="gone"):
        measure(str(tmp_path / "gone.gguf"), "ngram", max_new_tokens=4, repeats=1)


def test_gaps_and_paints_are_those_of_the_thread(qapp: QApplication) -> None:
    widget = QWidget()
    widget.show()
    stage.settle(0.05)
    frames = Frames({"one": widget})
    frames.start()
    stage.settle(0.05)
    widget.repaint()
    time.sleep(0.06)
    stage.settle(0.05)
    frames.stop()
    widget.repaint()
    assert frames.paints == {"one": 1}
    assert frames.gap_ms(1.0) >= 60
    assert frames.gap_ms(0.5) < frames.gap_ms(1.0)
    widget.close()


def test_what_never_comes_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "PATIENCE_S", 0.05)
    with pytest.raises(DraftscopeError, match="a miracle"):
        stage.wait(lambda: False, "a miracle")
