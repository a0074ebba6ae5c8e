from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from engine.errors import DraftscopeError
from engine.trace import codec
from engine.trace.reader import TraceReader, read_trace
from tests.traces import make_trace

if TYPE_CHECKING:
    from pathlib import Path

    from engine.trace.events import Event


def _write(path: Path, events: list[Event]) -> bytes:
    data = b"".join(codec.encode(event) for event in events)
    path.write_bytes(data)
    return data


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return tmp_path / "trace.jsonl"


def test_a_file_reads_as_the_list_of_its_events(trace: Path) -> None:
    events = make_trace(temperature=1.0)
    _write(trace, events)
    reader = TraceReader(trace)
    assert len(reader) == len(events)
    assert list(reader) == events == read_trace(trace)
    assert [reader[i] for i in range(-3, 3)] == [events[i] for i in range(-3, 3)]
    assert reader[2:9:3] == events[2:9:3]
    assert reader[::-1] == events[::-1]
    assert not reader.torn
    assert reader.notice is None
    with pytest.raises(IndexError):
        reader[len(events)]


def test_opening_decodes_the_first_and_the_last_line_at_most(
    trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(trace, make_trace(rounds=50))
    decoded: list[bytes] = []
    really = codec.decode

    def counted(line: bytes, schema: int) -> Event:
        decoded.append(line)
        return really(line, schema)

    monkeypatch.setattr(codec, "decode", counted)
    reader = TraceReader(trace)
    assert len(decoded) <= 2
    decoded.clear()
    assert reader[20] is not None
    assert len(decoded) == 1


@pytest.mark.case("E10")
def test_cut_at_every_byte_of_its_last_line_a_trace_keeps_all_earlier_events(trace: Path) -> None:
    events = make_trace(rounds=3, top_n=2, baseline=False)[:-1]  # the last one is a long round
    data = _write(trace, events)
    last = codec.encode(events[-1])
    for cut in range(1, len(last)):
        trace.write_bytes(data[: len(data) - cut])
        reader = TraceReader(trace)
        whole = cut == 1  # only the line break is missing
        assert list(reader) == (events if whole else events[:-1])
        assert reader.torn is not whole
        assert whole or "incomplete" in (reader.notice or "")


def test_cut_at_every_byte_a_file_opens_with_a_prefix_or_says_why_not(trace: Path) -> None:
    events = make_trace(rounds=2, k=1, top_n=0, baseline=False)
    data = _write(trace, events)
    header = len(codec.encode(events[0]))
    for size in range(len(data)):
        trace.write_bytes(data[:size])
        if size < header - 1:
            with pytest.raises(DraftscopeError, match=r"empty|ends within its first line"):
                TraceReader(trace)
        else:
            found = read_trace(trace)
            assert found == events[: len(found)]


def test_zeros_after_a_power_cut_are_a_torn_line(trace: Path) -> None:
    events = make_trace(rounds=3)
    data = _write(trace, events)
    trace.write_bytes(data + bytes(700))
    reader = TraceReader(trace)
    assert reader.torn
    assert list(reader) == events


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is empty"),
        (b"\x89PNG\r\n\x1a\n rest", "is not a Draftscope trace"),
        (b"\xef\xbb\xbf{}", "is not a Draftscope trace"),
        (b'{"a": 1}', "is not a Draftscope trace"),
        (b'{"a": 1}\n{"b": 2}\n', "is not a Draftscope trace"),
        (b'{"type": "probe", "run": "a"}\n', "is not a Draftscope trace"),
        (b'{"type":"run_started","schema":1}\n', "is not a Draftscope trace"),
        (b'{"type":"run_sta', "ends within its first line"),
        (b'{"type":"run_started","schema":1,', "ends within its first line"),
        (b'{"type":"run_started","schema":0.9}\n', "version 0.9; this Draftscope reads version 1"),
        (b'{"type":"run_started"}\n', "version None; this Draftscope reads version 1"),
        (
            b'{"type":"run_started","schema":99.0,"version":"7.1.0"}\n',
            "version 99.0, written by Draftscope 7.1.0; this Draftscope reads version 1",
        ),
    ],
)
def test_what_is_no_trace_is_refused_in_one_sentence(trace: Path, data: bytes, said: str) -> None:
    trace.write_bytes(data)
    with pytest.raises(DraftscopeError, match=said) as caught:
        TraceReader(trace)
    assert trace.name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DraftscopeError, match="No such file"):
        TraceReader(tmp_path / "missing.jsonl")
    with pytest.raises(DraftscopeError, match="it is a folder"):
        TraceReader(tmp_path)


def test_a_damaged_middle_line_is_named_by_its_number(trace: Path) -> None:
    events = make_trace(rounds=6)
    lines = [codec.encode(event) for event in events]
    lines[4] = lines[4][:20] + b"\x00\x00" + lines[4][22:]
    trace.write_bytes(b"".join(lines))
    reader = TraceReader(trace)
    assert reader[:4] == events[:4]
    assert reader[5] == events[5]
    with pytest.raises(DraftscopeError, match=r"Line 5 of trace\.jsonl is damaged"):
        reader[4]
    with pytest.raises(DraftscopeError, match="Line 5"):
        read_trace(trace)


def test_a_file_can_be_moved_away_while_a_reader_knows_it(trace: Path) -> None:
    _write(trace, make_trace(rounds=2))
    reader = TraceReader(trace)
    assert reader[0] == make_trace(rounds=2)[0]
    trace.rename(trace.with_name("elsewhere.jsonl"))
    with pytest.raises(DraftscopeError, match="cannot be opened"):
        reader[1]


def test_reading_a_trace_loads_neither_torch_nor_qt(trace: Path) -> None:
    _write(trace, make_trace(rounds=2))
    script = (
        "import sys; from engine.trace.reader import read_trace; import engine.trace.statistics; "
        "import engine.trace.journal; "
        f"read_trace({str(trace)!r}); "
        "loaded = {name.split('.')[0] for name in sys.modules}; "
        "print(sorted(loaded & {'torch', 'PySide6', 'numpy', 'scipy'}))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_iterating_looks_for_lines_no_further_than_it_reads(trace: Path) -> None:
    events = make_trace(rounds=900, top_n=8, baseline=False)
    data = _write(trace, events)
    assert len(data) > 3 << 20
    reader = TraceReader(trace)
    reading = reader.located()
    assert [next(reading).event for _ in range(32)] == events[:32]
    assert reader.scanned <= 1 << 20
    rest = list(reading)
    assert [one.event for one in rest] == events[32:]
    assert reader.scanned == len(data)
    assert codec.decode(data[rest[7].start :][: rest[7].size]) == rest[7].event
    assert rest[-1].start + rest[-1].size == len(data)
