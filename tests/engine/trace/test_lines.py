"""Lines of a trace are read back by their places, whatever becomes of the file's name."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from engine.errors import DraftscopeError
from engine.trace import codec
from engine.trace.events import Round
from engine.trace.lines import TraceLines
from engine.trace.reader import TraceReader
from tests.traces import make_trace

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.jsonl"
    path.write_bytes(b"".join(codec.encode(event) for event in make_trace(rounds=20)))
    return path


def test_every_event_is_read_back_by_its_place(trace: Path) -> None:
    lines = TraceLines(trace)
    located = list(TraceReader(trace).located())
    for start, size, event in reversed(located):
        assert lines.read(start, size) == event
    rounds = [(s, n) for s, n, event in located if isinstance(event, Round)]
    assert [lines.find(i) for i in range(len(rounds) + 1)] == [*rounds, None]


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be removed there")
def test_a_removed_file_is_still_read(trace: Path) -> None:
    located = list(TraceReader(trace).located())
    lines = TraceLines(trace)
    trace.unlink()
    assert lines.read(located[5].start, located[5].size) == located[5].event


def test_lines_are_found_as_the_file_grows(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    size = rounds = 0
    with path.open("wb", buffering=0) as journal:
        lines = TraceLines(path)
        for event in make_trace(rounds=6):
            line = codec.encode(event)
            journal.write(line[:30])
            assert lines.find(rounds) is None  # a part of a line is none
            journal.write(line[30:])
            if isinstance(event, Round):
                assert lines.find(rounds) == (size, len(line))
                rounds += 1
            size += len(line)
    assert rounds == 6


def test_what_was_changed_or_is_not_there_is_said_in_a_sentence(trace: Path) -> None:
    start, size, _ = list(TraceReader(trace).located())[7]
    lines = TraceLines(trace)
    with trace.open("r+b") as file:
        file.write(bytes(start + size))
    with pytest.raises(DraftscopeError, match="was changed while it was on show"):
        lines.read(start, size)
    with pytest.raises(DraftscopeError, match="cannot be read any more"):
        TraceLines(trace.with_name("missing.jsonl"))
