"""`draftscope join`: runs of several sessions in one trace."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from app.cli.main import main
from app.export.source import open_source
from engine.trace import codec
from engine.trace.events import SCHEMA_VERSION, RunStarted
from engine.trace.reader import TraceReader, read_trace
from tests.app.opened import write_trace
from tests.traces import make_trace

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", ["both.jsonl", "both.jsonl.zst"])
def test_all_events_of_the_sessions_stand_in_one_file(tmp_path: Path, name: str) -> None:
    first, second = make_trace(rounds=4, seed=1), make_trace(rounds=3, seed=2)
    paths = [write_trace(tmp_path / "a.jsonl", first), write_trace(tmp_path / "b.jsonl", second)]
    out = tmp_path / name
    assert main(["join", *map(str, paths), str(out)]) == 0
    assert read_trace(out) == [*first, *second]
    assert [len(run.rounds) for run in open_source(out).runs] == [4, 3]
    assert main(["check", "trace", str(out)]) == 0


def test_what_a_session_loses_on_its_way_is_said_and_the_file_is_of_this_version(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own, other = make_trace(rounds=3, seed=1), make_trace(rounds=3, seed=2)
    lines = [codec.encode(event) for event in other]
    first = json.loads(lines[0]) | {"schema": 99, "version": "9.9"}
    unknown = json.dumps({"type": "hologram", "run": other[0].run}).encode() + b"\n"
    newer, torn = tmp_path / "newer.jsonl", write_trace(tmp_path / "torn.jsonl", own)
    newer.write_bytes(b"".join([json.dumps(first).encode() + b"\n", unknown, *lines[1:]]))
    torn.write_bytes(torn.read_bytes() + b'{"type":"marker')
    out = tmp_path / "both.jsonl"
    assert main(["join", str(newer), str(torn), str(out)]) == 0
    said = capsys.readouterr().err
    assert "newer.jsonl was written by Draftscope 9.9 with trace schema version 99" in said
    assert "1 event is not shown, of kinds that this Draftscope does not know: hologram." in said
    assert "The last event of torn.jsonl is incomplete and was left out" in said
    assert {event.schema for event in read_trace(out) if isinstance(event, RunStarted)} == {
        SCHEMA_VERSION
    }
    assert TraceReader(out).notice is None


def test_one_run_twice_and_a_session_as_its_own_end_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = make_trace(rounds=2)
    one, two = write_trace(tmp_path / "a.jsonl", events), write_trace(tmp_path / "b.jsonl", events)
    before = one.read_bytes()
    for files, said in (
        ((one, two, tmp_path / "c.jsonl"), "is in a.jsonl as well: name each session once"),
        ((one, two, one), "is one of the sessions: choose another name"),
        ((one, tmp_path / "c.jsonl"), "Name two sessions or more"),
    ):
        assert main(["join", *map(str, files)]) == 1
        assert said in capsys.readouterr().err
    assert one.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "b.jsonl"]
