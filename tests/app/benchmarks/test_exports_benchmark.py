"""The benchmark of exports says what was made, and of what was not made why."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.benchmarks.exports import measure
from app.cli import bench_exports
from engine.errors import DraftscopeError
from tests.app.opened import write_trace
from tests.traces import make_trace

RECORDED = Path(__file__).parents[3] / "assets" / "demos" / "1-copying.jsonl.zst"


def test_each_trace_is_exported_in_each_format(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "t.jsonl", make_trace(rounds=3))
    none = tmp_path / "none.jsonl"
    keep, out = tmp_path / "kept", tmp_path / "out"
    report = bench_exports.measure(trace=[trace, none], format=["jsonl"], keep=keep, out=out)
    made, failed = report.files
    assert made.size == trace.stat().st_size == (keep / "t.jsonl").stat().st_size
    assert made.seconds > 0
    if Path("/proc/self/status").exists():
        assert made.peak is not None
        assert 5 << 20 < made.peak < 1 << 30  # its own, whatever this process holds
    assert (failed.size, "none.jsonl" in failed.said) == (0, True)
    words = bench_exports.text(report)
    assert "none.jsonl as jsonl: " in words
    page = (out / "results.md").read_text("utf-8")
    assert "| format | t | none |" in page
    assert "| jsonl |" in page


def test_a_long_session_is_exported_from_its_own_folder() -> None:
    report = measure(trace=[RECORDED], format=["jsonl", "gif"], rounds=600)
    whole, film = report.long_files
    assert whole.size == report.long_size
    assert "--from and --to" in film.said


def test_a_format_that_there_is_not_is_named() -> None:
    with pytest.raises(DraftscopeError, match="There is no format docx"):
        measure(format=["docx"])
