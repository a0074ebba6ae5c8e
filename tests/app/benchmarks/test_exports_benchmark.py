"""The benchmark of exports says what was made, and of what was not made why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from app.benchmarks.exports import measure
from app.cli import bench_exports
from engine.errors import DraftscopeError
from tests.app.opened import write_trace
from tests.traces import make_trace

if TYPE_CHECKING:
    from pathlib import Path


def test_each_trace_is_exported_in_each_format(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "t.jsonl", make_trace(rounds=3))
    none = tmp_path / "none.jsonl"
    keep, out = tmp_path / "kept", tmp_path / "out"
    report = bench_exports.measure(trace=[trace, none], format=["jsonl"], keep=keep, out=out)
    made, failed = report.files
    assert made.size == trace.stat().st_size == (keep / "t.jsonl").stat().st_size
    assert made.seconds > 0
    assert (failed.size, "none.jsonl" in failed.said) == (0, True)
    words = bench_exports.text(report)
    assert "none.jsonl as jsonl: " in words
    page = (out / "results.md").read_text("utf-8")
    assert "| format | t | none |" in page
    assert "| jsonl |" in page


def test_a_format_that_there_is_not_is_named() -> None:
    with pytest.raises(DraftscopeError, match="There is no format docx"):
        measure(format=["docx"])
