"""Markers and notes: appended, the last one wins; and traces with more in them than is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import zstandard

from engine.errors import DraftscopeError
from engine.trace import codec, migrations
from engine.trace.appending import append_events
from engine.trace.events import SCHEMA_VERSION, Round
from engine.trace.journal import Journal
from engine.trace.lines import TraceLines
from engine.trace.markers import Marker, SessionNote, fresh_id, markers_of
from engine.trace.packed import packed
from engine.trace.reader import TraceReader, read_trace
from tests.traces import make_trace

if TYPE_CHECKING:
    from pathlib import Path

    from engine.trace.events import Event

MARKS = (
    Marker(run="a", id="m1", round=4, title="first"),
    Marker(run="a", id="m2", round=2, phase="draft", title="before"),
    Marker(run="a", id="m1", round=1, title="moved", note="said anew"),
    Marker(run="a", id="m3", round=0),
    Marker(run="a", id="m3", round=0, removed=True),
    Marker(run="b", id="m1", round=9, title="another run's"),
)


def _write(path: Path, events: list[Event]) -> Path:
    path.write_bytes(b"".join(codec.encode(event) for event in events))
    return path


def test_of_markers_with_one_id_the_last_one_holds_and_they_stand_in_order() -> None:
    assert [marker.title for marker in markers_of(MARKS, "a")] == ["moved", "before"]
    assert [marker.title for marker in markers_of(MARKS, "b")] == ["another run's"]
    assert len(markers_of(MARKS)) == 3
    assert fresh_id(MARKS[:2]) == "m3"


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_what_is_appended_follows_the_last_whole_event(tmp_path: Path, end: bytes) -> None:
    events = make_trace(rounds=4)
    path = _write(tmp_path / "t.jsonl", events)
    path.write_bytes(path.read_bytes().rstrip(b"\n") + end)
    append_events(path, MARKS[:1])
    append_events(path, [SessionNote(run="a", title="named")])
    assert read_trace(path) == [*events, MARKS[0], SessionNote(run="a", title="named")]


def test_a_torn_line_gives_way_to_what_is_appended(tmp_path: Path) -> None:
    events = make_trace(rounds=4)
    path = _write(tmp_path / "t.jsonl", events)
    path.write_bytes(path.read_bytes() + codec.encode(events[3])[:-40])
    append_events(path, MARKS[:1])
    reader = TraceReader(path)
    assert list(reader) == [*events, MARKS[0]]
    assert reader.notice is None


def test_a_marker_added_while_a_run_is_written_loses_no_round(tmp_path: Path) -> None:
    events = make_trace(rounds=12)
    with Journal(tmp_path / "j.jsonl") as journal:
        for n, event in enumerate(events):
            journal.write(event)
            if n == 5:
                append_events(journal.path, MARKS[:2])
    assert read_trace(journal.path) == [*events[:6], *MARKS[:2], *events[6:]]
    rounds = [event for event in events if isinstance(event, Round)]
    lines = TraceLines(journal.path)
    found = [lines.find(number) for number in range(len(rounds))]
    assert [lines.read(*place) for place in found if place is not None] == rounds


def test_nothing_is_added_to_what_cannot_be_written(tmp_path: Path) -> None:
    path = _write(tmp_path / "t.jsonl", make_trace(rounds=2))
    squeezed = tmp_path / "t.jsonl.zst"
    squeezed.write_bytes(b"".join(packed([path.read_bytes()])))
    before = squeezed.read_bytes()
    with pytest.raises(DraftscopeError, match=r"is packed .* save the session as \.jsonl first"):
        append_events(squeezed, MARKS[:1])
    assert squeezed.read_bytes() == before


def test_a_packed_trace_reads_like_the_plain_one(tmp_path: Path) -> None:
    events = make_trace(rounds=20)
    data = b"".join(codec.encode(event) for event in events)
    path = tmp_path / "t.jsonl.zst"
    path.write_bytes(b"".join(packed([data[:1000], data[1000:]])))
    assert zstandard.ZstdDecompressor().decompressobj().decompress(path.read_bytes()) == data
    reader = TraceReader(path)
    assert list(reader) == events
    assert reader.notice is None
    assert reader[3] == events[3]
    start, size, event = list(reader.located())[5]
    assert TraceLines(path).read(start, size) == event
    assert b"".join(packed([data])) == path.read_bytes()  # however its pieces fall
    path.write_bytes(b"".join(packed([data[:1000]])) + b"".join(packed([data[1000:]])))
    assert list(TraceReader(path)) == events  # frames in a row


def test_a_packed_trace_that_was_cut_short_keeps_its_whole_events(tmp_path: Path) -> None:
    events = make_trace(rounds=60)
    data = b"".join(codec.encode(event) for event in events)
    squeeze = zstandard.ZstdCompressor().compressobj()
    whole = squeeze.compress(data[: len(data) // 2])
    whole += squeeze.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
    path = tmp_path / "t.jsonl.zst"
    path.write_bytes(whole)
    reader = TraceReader(path)
    kept = list(reader)
    assert len(kept) > 10
    assert kept == events[: len(kept)]
    assert "incomplete" in (reader.notice or "")


def test_a_damaged_packed_trace_is_refused_in_a_sentence(tmp_path: Path) -> None:
    data = b"".join(codec.encode(event) for event in make_trace(rounds=5))
    squeezed = bytearray(b"".join(packed([data])))
    squeezed[len(squeezed) // 2] ^= 0xFF
    path = tmp_path / "t.jsonl.zst"
    path.write_bytes(squeezed)
    with pytest.raises(DraftscopeError, match="is damaged and cannot be unpacked"):
        TraceReader(path)


def test_what_unpacks_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.trace.packed._SMALL", 1 << 20)
    path = tmp_path / "bomb.jsonl.zst"
    path.write_bytes(zstandard.compress(b"{" * (1 << 24), 19))
    with pytest.raises(DraftscopeError, match="which no session does"):
        TraceReader(path)


@pytest.mark.case("E16")
def test_events_of_unknown_kinds_are_left_out_and_said(tmp_path: Path) -> None:
    events = make_trace(rounds=6)
    lines = [codec.encode(event) for event in events]
    lines[4:4] = [b'{"type":"mood","run":"a","how":"gay"}\n', b'{"type":"mood"}\n']
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"".join([*lines, b'{"type":"weather"}']))
    reader = TraceReader(path)
    assert list(reader) == events
    assert reader[:] == events
    said = "3 events are not shown, of kinds that this Draftscope does not know: mood, weather."
    assert reader.notice == said


@pytest.mark.case("E16")
def test_of_a_newer_version_what_can_be_read_is_shown_and_both_versions_are_named(
    tmp_path: Path,
) -> None:
    events = make_trace(rounds=6)
    lines = [codec.encode(event) for event in events]
    lines[0] = lines[0].replace(b'"schema":1', b'"schema":7,"planet":"Mars"')
    lines.insert(3, b'{"type":"probe","run":"a","took":"long"}\n')
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"".join(lines))
    reader = TraceReader(path)
    assert list(reader)[1:] == events[1:]
    assert "schema version 7; this Draftscope knows version 1" in (reader.notice or "")
    assert "1 event is not shown" in (reader.notice or "")


@pytest.mark.case("E16")
def test_an_older_version_is_read_through_its_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = make_trace(rounds=6)
    lines = [codec.encode(event) for event in events]
    lines[0] = lines[0].replace(b'"schema":1', b'"schema":0')
    old = [line.replace(b'"position":', b'"place":') for line in lines]
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"".join(old))
    with pytest.raises(DraftscopeError, match=r"version 0, .* reads version 1"):
        TraceReader(path)

    def step(line: migrations.Line) -> migrations.Line:
        return {("position" if name == "place" else name): part for name, part in line.items()}

    assert SCHEMA_VERSION == 1
    monkeypatch.setattr(migrations, "STEPS", {0: step})
    for function in (migrations.known, migrations.migrated):
        monkeypatch.setattr(function, "__defaults__", ({0: step},))
    reader = TraceReader(path)
    assert list(reader) == events
    assert reader.notice is None
    number = next(n for n, event in enumerate(events) if isinstance(event, Round))
    start, size, event = list(reader.located())[number]
    assert TraceLines(path).read(start, size) == event
