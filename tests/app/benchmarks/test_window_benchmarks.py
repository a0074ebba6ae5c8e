"""The window's benchmarks measure the real window, leave nothing behind, and say what they saw."""

from __future__ import annotations

import os
import signal
import time
from itertools import accumulate
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QWidget

from app.benchmarks import stage
from app.benchmarks.frames import Frames
from app.benchmarks.gui import CACHED, open_long_trace, stream
from app.benchmarks.gui import measure as measure_gui
from app.benchmarks.recorded import long_run, recorded_session
from app.benchmarks.window import BARE, COMMAND_LINE, WATCHED, measure
from app.cli import bench_gui
from app.paths import data_folder
from app.ticking import LIVE_TICK_MS
from engine.errors import DraftscopeError
from engine.trace.events import Round

pytestmark = pytest.mark.usefixtures("qapp")


@pytest.fixture(autouse=True)
def nothing_left() -> object:
    before = {name: os.environ.get(name) for name in ("DRAFTSCOPE_CONFIG", "DRAFTSCOPE_DATA")}
    yield None
    assert {name: os.environ.get(name) for name in before} == before
    assert not [one for one in QApplication.topLevelWidgets() if one.isVisible()]


def test_streamed_rounds_are_all_shown_and_paints_are_counted() -> None:
    seen = stream(tokens_per_second=400.0, seconds=0.6)
    rounds = (one for one in long_run(recorded_session(), 500) if isinstance(one, Round))
    arrived = accumulate(one.emitted for one in rounds)
    needed = next(number for number, tokens in enumerate(arrived, start=1) if tokens >= 240)
    assert seen.shown_rounds == seen.rounds == needed
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


def test_another_drafter_is_used_in_all_ways_and_said_where_the_head_does_not_fit(
    tiny_model: Path,
) -> None:
    seen = measure(
        str(tiny_model),
        "head",
        k=2,
        max_new_tokens=8,
        prompt="a b",
        repeats=1,
        device="cpu",
        plan="eager",
    )
    assert seen.identical
    assert seen.header.plan == "eager"
    assert seen.header.settings["drafter"] == "ngram"
    assert seen.header.settings["k"] == 2
    assert any("made for another target" in note for note in seen.header.notes)


def test_an_interrupt_leaves_the_wait_and_nothing_behind() -> None:
    before = signal.getsignal(signal.SIGINT)
    QTimer.singleShot(20, lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt), stage.own_folders():
        stage.wait(lambda: False, "a miracle")
    assert signal.getsignal(signal.SIGINT) is before


def test_models_that_cannot_be_linked_matter_only_where_they_are_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(1314, "a privilege is missing")

    before = data_folder()
    (before / "models").mkdir(parents=True, exist_ok=True)
    monkeypatch.setattr(Path, "symlink_to", refuse)
    with stage.own_folders():
        assert data_folder() != before
    with (
        pytest.raises(DraftscopeError, match=r"a privilege is missing.*--no-window"),
        stage.own_folders(models=True),
    ):
        pass
    assert data_folder() == before


def test_no_screen_is_tried_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":77")
    monkeypatch.setenv("QT_QPA_PLATFORM", "")
    stage.application()
    assert os.environ["QT_QPA_PLATFORM"] == "offscreen"
    monkeypatch.setenv("QT_QPA_PLATFORM", "xcb")
    stage.application()
    assert os.environ["QT_QPA_PLATFORM"] == "xcb"


def test_the_report_says_that_the_trace_was_just_written(monkeypatch: pytest.MonkeyPatch) -> None:
    streamed = SimpleNamespace(platform="offscreen")
    monkeypatch.setattr("app.benchmarks.gui.stream", lambda *_: streamed)
    monkeypatch.setattr("app.benchmarks.gui.open_long_trace", lambda _: None)
    assert CACHED in measure_gui(rounds=1).header.notes
    assert CACHED not in measure_gui(rounds=0).header.notes


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
