"""The session itself as an export: nothing is lost, and of what is withheld nothing stays."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest
import zstandard

from app.export.options import Options
from engine.trace import codec
from engine.trace.events import RunStarted
from engine.trace.reader import TraceReader, read_trace
from tests.app.export.trials import (
    SECRET_DEVICE,
    SECRET_MACHINE,
    SECRET_PROMPT,
    exported,
    marked,
    secret,
    several,
    write,
)
from tests.traces import make_trace

if TYPE_CHECKING:
    from pathlib import Path

UNKNOWN = b'{"type":"telemetry","run":"x","degrees":[1,2]}\n'


def test_all_events_of_all_runs_are_there_as_they_were(tmp_path: Path) -> None:
    events = marked(several())
    trace = write(tmp_path / "run.jsonl", events)
    assert exported(trace, tmp_path / "out.jsonl", "jsonl") == trace.read_bytes()
    assert read_trace(tmp_path / "out.jsonl") == events


def test_packed_session_is_the_session_and_opens_as_one(tmp_path: Path) -> None:
    trace = write(tmp_path / "run.jsonl", several())
    data = exported(trace, tmp_path / "out.jsonl.zst", "jsonl.zst")
    with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data)) as unpacked:
        assert unpacked.read() == trace.read_bytes()
    assert len(data) < len(trace.read_bytes()) / 3
    assert read_trace(tmp_path / "out.jsonl.zst") == several()


def test_packed_session_is_unpacked_by_exporting_it(tmp_path: Path) -> None:
    trace = write(tmp_path / "run.jsonl", several())
    exported(trace, tmp_path / "packed.jsonl.zst", "jsonl.zst")
    again = exported(tmp_path / "packed.jsonl.zst", tmp_path / "again.jsonl", "jsonl")
    assert again == trace.read_bytes()


def test_torn_last_line_is_left_out_and_a_whole_one_ends_its_line(tmp_path: Path) -> None:
    lines = [codec.encode(event) for event in make_trace(rounds=3)]
    for cut in (1, 2, len(lines[-1]) - 1):
        trace = tmp_path / f"{cut}.jsonl"
        trace.write_bytes(b"".join(lines)[:-cut])
        whole = lines if cut == 1 else lines[:-1]
        assert exported(trace, tmp_path / f"{cut}-out.jsonl", "jsonl") == b"".join(whole)


def test_kinds_and_fields_of_a_newer_draftscope_are_kept(tmp_path: Path) -> None:
    lines = [codec.encode(event) for event in make_trace(rounds=3)]
    more = json.loads(lines[2]) | {"later": 1}
    lines[2] = json.dumps(more).encode() + b"\n"
    trace = tmp_path / "run.jsonl"
    trace.write_bytes(b"".join([*lines[:3], UNKNOWN, *lines[3:], UNKNOWN.rstrip()]))
    written = exported(trace, tmp_path / "out.jsonl", "jsonl")
    assert written == trace.read_bytes() + b"\n"
    assert written.count(b"telemetry") == 2


def test_unknown_kinds_go_where_something_is_withheld(tmp_path: Path) -> None:
    lines = [codec.encode(event) for event in secret(make_trace(rounds=3))]
    hidden = UNKNOWN.replace(b"1,2", f'"{SECRET_PROMPT}"'.encode())
    trace = tmp_path / "run.jsonl"
    trace.write_bytes(b"".join([*lines[:3], hidden, *lines[3:]]))
    options = Options(withheld=frozenset({"prompt"}))
    written = exported(trace, tmp_path / "out.jsonl", "jsonl", options)
    assert b"telemetry" not in written
    assert SECRET_PROMPT.encode() not in written


@pytest.mark.parametrize("name", ["jsonl", "jsonl.zst"])
def test_withheld_is_nowhere_and_everything_else_is_there(tmp_path: Path, name: str) -> None:
    events = secret(make_trace(rounds=6))
    trace = write(tmp_path / "run.jsonl", events)
    options = Options(withheld=frozenset({"prompt", "machine"}))
    out = tmp_path / f"out.{name}"
    exported(trace, out, name, options)
    plain = TraceReader(out).plain.read_bytes()
    words = (*SECRET_PROMPT.split(), SECRET_PROMPT, SECRET_MACHINE, SECRET_DEVICE)
    assert [word for word in words if word.encode() in plain] == []
    read = read_trace(out)
    assert read[1:] == events[1:]
    started = read[0]
    assert isinstance(started, RunStarted)
    assert started.withheld == ("machine", "prompt")
    assert len(started.prompt_tokens) == len(SECRET_PROMPT.split())


def test_session_of_a_newer_version_is_copied_or_said_to_be_ours(tmp_path: Path) -> None:
    lines = [codec.encode(event) for event in make_trace(rounds=3)]
    lines[0] = lines[0].replace(b'"schema":1', b'"schema":2')
    trace = tmp_path / "run.jsonl"
    trace.write_bytes(b"".join(lines))
    assert exported(trace, tmp_path / "a.jsonl", "jsonl") == trace.read_bytes()
    options = Options(withheld=frozenset({"machine"}))
    exported(trace, tmp_path / "b.jsonl", "jsonl", options)
    assert TraceReader(tmp_path / "b.jsonl").schema == 1
