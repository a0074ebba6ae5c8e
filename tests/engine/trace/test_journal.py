from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import pytest

from engine.errors import DraftscopeError
from engine.trace import codec, journal
from engine.trace.events import RunStarted
from engine.trace.journal import (
    Journal,
    journals_folder,
    save_copy,
    settle,
    start_journal,
    unfinished_journals,
)
from engine.trace.lines import TraceLines
from engine.trace.packed import is_packed
from engine.trace.reader import TraceReader, read_trace
from tests.traces import make_trace

# Writes a journal and ends without closing it: at once, or when its input ends.
WRITER = """
import os, sys
from engine.trace.journal import start_journal
from tests.traces import make_trace
events = make_trace(rounds=3)
journal = start_journal(events[0])
for event in events[1:4]:
    journal.write(event)
print(journal.path, flush=True)
if sys.argv[1] == "wait":
    sys.stdin.read()
os._exit(7)
"""


def _start(seed: int = 0) -> RunStarted:
    started = make_trace(rounds=1, seed=seed)[0]
    assert isinstance(started, RunStarted)
    return started


def _writer(how: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, how],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    )


def test_each_event_is_in_the_file_before_the_next_is_made(tmp_path: Path) -> None:
    events = make_trace(rounds=4)
    with Journal(tmp_path / "j.jsonl") as writing:
        for n, event in enumerate(events, start=1):
            writing.write(event)
            assert read_trace(writing.path) == events[:n]


def test_a_line_is_one_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[bytes] = []
    with Journal(tmp_path / "j.jsonl") as writing:

        class Counting:
            def fileno(self) -> int:
                return really.fileno()

            def write(self, line: bytes) -> int:
                lines.append(line)
                return len(line)

            def close(self) -> None:
                really.close()

        really = writing._file
        monkeypatch.setattr(writing, "_file", Counting())
        events = make_trace(rounds=2)
        for event in events:
            writing.write(event)
    assert lines == [codec.encode(event) for event in events]


def test_a_journal_never_overwrites_unless_asked(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_bytes(b"precious")
    with pytest.raises(DraftscopeError, match="cannot be written"):
        Journal(path)
    assert path.read_bytes() == b"precious"
    with Journal(path, replace=True) as writing:
        writing.write(_start())
    assert read_trace(path) == [_start()]


@pytest.mark.skipif(sys.platform == "win32", reason="an open file keeps its name there")
def test_who_has_a_replaced_journal_open_keeps_it(tmp_path: Path) -> None:
    path, events = tmp_path / "j.jsonl", make_trace(rounds=3)
    path.write_bytes(b"".join(codec.encode(event) for event in events))
    path.chmod(0o640)
    shown = TraceLines(path)
    places = [(start, size) for start, size, _ in TraceReader(path).located()]
    with Journal(path, replace=True) as writing:
        writing.write(_start(seed=1))
    assert [shown.read(start, size) for start, size in places] == events
    assert read_trace(path) == [_start(seed=1)]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such pipes and links there")
def test_a_journal_is_written_into_a_pipe_and_through_a_link(tmp_path: Path) -> None:
    pipe, link, file = tmp_path / "pipe", tmp_path / "link", tmp_path / "file"
    os.mkfifo(pipe)
    file.write_bytes(b"older")
    link.symlink_to(file)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        for path in (pipe, link):
            with Journal(path, replace=True) as writing:
                writing.write(_start())
        assert os.read(reading, 1 << 20) == codec.encode(_start())
    finally:
        os.close(reading)
    assert pipe.is_fifo()
    assert link.is_symlink()
    assert read_trace(file) == [_start()]


def test_after_a_failed_write_the_journal_ends_with_the_event_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = make_trace(rounds=3)
    with Journal(tmp_path / "j.jsonl") as writing:
        writing.write(events[0])
        really = writing._file

        class HalfFull:
            def write(self, line: bytes) -> int:
                if len(line) < 20:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                return really.write(line[: len(line) - 5])

            def __getattr__(self, name: str) -> object:
                return getattr(really, name)

        monkeypatch.setattr(writing, "_file", HalfFull())
        with pytest.raises(DraftscopeError, match="No space left"):
            writing.write(events[1])
        monkeypatch.undo()
        with pytest.raises(DraftscopeError, match="No space left"):
            writing.write(events[2])  # a gap would make the trace a false one
    reader = TraceReader(writing.path)
    assert list(reader) == events[:1]
    assert not reader.torn


def test_journals_lie_in_the_data_folder_under_their_run_id() -> None:
    started = _start()
    writing = start_journal(started)
    writing.close()
    assert (
        writing.path.parent == journals_folder() == Path(os.environ["DRAFTSCOPE_DATA"]) / "journals"
    )
    assert started.run in writing.path.name
    assert read_trace(writing.path) == [started]
    with pytest.raises(DraftscopeError, match="cannot be written"):
        start_journal(started)


def test_a_closed_journal_is_not_offered_and_an_open_one_neither() -> None:
    closed, still_open = start_journal(_start(1)), start_journal(_start(2))
    closed.close()
    assert unfinished_journals() == []
    still_open.close()
    assert unfinished_journals() == []
    assert [path.suffix for path in journals_folder().iterdir()] == [".jsonl", ".jsonl"]


def test_the_journal_of_a_crashed_run_is_offered_until_settled() -> None:
    with _writer("crash") as crashed:
        assert crashed.stdout is not None
        path = Path(crashed.stdout.readline().strip())
        assert crashed.wait() == 7
    for _ in range(2):
        assert unfinished_journals() == [path]
    assert read_trace(path) == make_trace(rounds=3)[:4]
    settle(path)
    assert unfinished_journals() == []
    assert read_trace(path) == make_trace(rounds=3)[:4]


def test_a_journal_that_another_live_process_writes_is_not_offered() -> None:
    with _writer("wait") as live:
        assert live.stdout is not None
        path = Path(live.stdout.readline().strip())
        assert path.exists()
        assert unfinished_journals() == []
        settle(path)  # does not take the lock away
        assert unfinished_journals() == []
        live.communicate(input="")
        assert live.returncode == 7
    assert unfinished_journals() == [path]


def test_a_journal_torn_by_the_crash_is_offered_and_an_empty_one_is_not() -> None:
    folder = journals_folder()
    folder.mkdir(parents=True)
    whole = codec.encode(_start())
    for name, data in (("torn", whole + b'{"type":"ro'), ("empty", b""), ("nothing", whole[:30])):
        (folder / f"{name}.jsonl").write_bytes(data)
        (folder / f"{name}.jsonl.lock").touch()
    (folder / "no-journal.jsonl.lock").touch()
    assert unfinished_journals() == [folder / "torn.jsonl"]


def test_no_journals_folder_means_no_unfinished_journals() -> None:
    assert not journals_folder().exists()
    assert unfinished_journals() == []


def test_old_finished_journals_go_and_unfinished_ones_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(journal, "KEPT_JOURNALS", 3)
    folder = journals_folder()
    folder.mkdir(parents=True)
    (folder / "20200101T000000-crashed.jsonl").write_bytes(codec.encode(_start()))
    (folder / "20200101T000000-crashed.jsonl.lock").touch()
    for day in range(1, 7):
        stamp = f"2025-01-{day:02}T12:00:00+00:00"
        started = msgspec.structs.replace(_start(), started_at=stamp)
        start_journal(started).close()
    names = sorted(path.name for path in folder.glob("*.jsonl"))
    assert [name[:8] for name in names] == ["20200101", "20250104", "20250105", "20250106"]


def test_copies_saved_during_a_run_are_whole_prefixes(tmp_path: Path) -> None:
    events = make_trace(rounds=150)
    lines = b"".join(codec.encode(event) for event in events)
    copied = threading.Event()
    lengths: list[int] = []

    def run() -> None:
        with Journal(tmp_path / "run.jsonl") as writing:
            for n, event in enumerate(events):
                writing.write(event)
                if n % 5 == 4:
                    copied.wait(5)
                    copied.clear()

    thread = threading.Thread(target=run)
    thread.start()
    target = tmp_path / "copy.jsonl"
    try:
        while len(lengths) < 30:
            if (
                not (tmp_path / "run.jsonl").exists()
                or (tmp_path / "run.jsonl").stat().st_size == 0
            ):
                continue
            save_copy(tmp_path / "run.jsonl", target)
            copied.set()
            data = target.read_bytes()
            assert lines.startswith(data)
            assert data.endswith(b"\n")
            assert read_trace(target) == events[: data.count(b"\n")]
            lengths.append(len(data))
    finally:
        while thread.is_alive():
            copied.set()
            thread.join(0.001)
    assert lengths == sorted(lengths)
    assert lengths[0] < lengths[-1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.jsonl", "run.jsonl"]


def test_a_copy_leaves_a_torn_line_out_and_keeps_a_whole_one_without_line_break(
    tmp_path: Path,
) -> None:
    events = make_trace(rounds=3)
    lines = b"".join(codec.encode(event) for event in events)
    source, target = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    for data, wanted in ((lines[:-1], events), (lines[:-2], events[:-1]), (lines, events)):
        source.write_bytes(data)
        save_copy(source, target)
        assert read_trace(target) == wanted
        assert not TraceReader(target).torn


def test_a_copy_is_packed_where_its_name_says_so_and_plain_elsewhere(tmp_path: Path) -> None:
    events = make_trace(rounds=9)
    source, packed = tmp_path / "a.jsonl", tmp_path / "b.jsonl.zst"
    source.write_bytes(b"".join(codec.encode(event) for event in events)[:-5])
    save_copy(source, packed)
    assert is_packed(packed)
    assert packed.stat().st_size < source.stat().st_size / 2
    assert read_trace(packed) == events[:-1]
    save_copy(packed, tmp_path / "c.jsonl")
    assert (tmp_path / "c.jsonl").read_bytes() == b"".join(map(codec.encode, events[:-1]))
    save_copy(packed, tmp_path / "d.jsonl.zst")
    assert (tmp_path / "d.jsonl.zst").read_bytes() == packed.read_bytes()
    save_copy(packed, packed)
    assert read_trace(packed) == events[:-1]


def test_a_copy_keeps_a_last_line_of_a_kind_that_is_not_known(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_bytes(codec.encode(_start()) + b'{"type":"telemetry","run":"a"}')
    save_copy(source, tmp_path / "b.jsonl")
    assert (tmp_path / "b.jsonl").read_bytes() == source.read_bytes()


def test_a_copy_that_fails_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    source.write_bytes(codec.encode(_start()))
    target.write_bytes(b"old")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DraftscopeError, match="No space left"):
        save_copy(source, target)
    assert target.read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "b.jsonl"]


def test_a_copy_onto_itself_changes_nothing_and_of_nothing_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_bytes(codec.encode(_start()))
    save_copy(source, source)
    assert read_trace(source) == [_start()]
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(DraftscopeError, match="no whole event"):
        save_copy(tmp_path / "empty.jsonl", tmp_path / "b.jsonl")
    with pytest.raises(DraftscopeError, match="cannot be read"):
        save_copy(tmp_path / "missing.jsonl", tmp_path / "b.jsonl")
    with pytest.raises(DraftscopeError, match="cannot be written"):
        save_copy(source, tmp_path / "no folder" / "b.jsonl")


# Saves copies over one file until it is killed.
SAVER = """
import sys
from pathlib import Path
from engine.trace.journal import save_copy
print("ready", flush=True)
while True:
    for source in sys.argv[1:3]:
        save_copy(Path(source), Path(sys.argv[3]))
"""


def test_a_process_killed_while_saving_leaves_the_old_or_the_new_file(tmp_path: Path) -> None:
    contents = []
    for i, name in enumerate(("one", "two")):
        data = b"".join(codec.encode(event) for event in make_trace(rounds=40 + 40 * i))
        (tmp_path / name).write_bytes(data)
        contents.append(data)
    target = tmp_path / "saved.jsonl"
    target.write_bytes(contents[0])
    arguments = [str(tmp_path / "one"), str(tmp_path / "two"), str(target)]
    for delay in range(6):
        with subprocess.Popen(
            [sys.executable, "-c", SAVER, *arguments],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[3],
        ) as saving:
            assert saving.stdout is not None
            saving.stdout.readline()
            threading.Event().wait(0.003 * delay)
            saving.kill()
        assert target.read_bytes() in contents
