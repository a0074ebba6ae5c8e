"""Few rounds are held; every one of them can be had, and none is ever lost."""

from __future__ import annotations

import pytest

from app.viewmodels.document import Document
from app.viewmodels.kept_rounds import HELD, READ_BACK
from engine.errors import DraftscopeError
from engine.trace import codec
from engine.trace.events import Round
from engine.trace.reader import TraceReader
from tests.app.opened import arrived, opened, write_trace
from tests.traces import make_trace


@pytest.fixture(scope="module")
def long_run():
    return make_trace(rounds=2 * HELD + 300, k=2, temperature=1.0, top_n=0, baseline=False)


def rounds_of(events):
    return [event for event in events if isinstance(event, Round)]


def test_an_opened_session_holds_few_rounds_and_has_them_all(tmp_path, long_run):
    document = opened(write_trace(tmp_path / "t.jsonl", long_run))
    assert document.rounds.read == 0  # nothing but what was condensed
    assert document.rounds.held == 0
    assert document.rounds == rounds_of(long_run)
    assert document.rounds.held <= READ_BACK
    assert document.rounds[-1] == rounds_of(long_run)[-1]
    assert document.rounds[5:9] == rounds_of(long_run)[5:9]
    with pytest.raises(IndexError):
        document.rounds[len(document.rounds)]
    with pytest.raises(IndexError):
        document.rounds[-len(document.rounds) - 1]


def test_a_round_that_was_read_back_is_not_read_again(tmp_path, long_run):
    document = opened(write_trace(tmp_path / "t.jsonl", long_run))
    for _ in range(5):
        assert document.rounds[7].index == 7
    assert document.rounds.read == 1


def test_a_long_run_holds_its_newest_rounds_and_reads_the_others_from_its_journal(
    tmp_path, long_run
):
    path = tmp_path / "journal.jsonl"
    document, most = Document(), 0
    document.read_from(path)
    with path.open("wb", buffering=0) as journal:
        for event in long_run:
            journal.write(codec.encode(event))
            document.extend([event])
            most = max(most, document.rounds.held)
    assert most < 2 * HELD + 1
    assert document.rounds.read == 0
    assert document.events == long_run
    assert document.rounds.read


def test_without_a_journal_every_round_is_held(tmp_path, long_run):
    lost = arrived(long_run)
    assert lost.rounds.held == len(rounds_of(long_run))
    unreadable = Document()
    unreadable.read_from(tmp_path / "missing.jsonl")
    unreadable.extend(long_run[:-5])
    unreadable.extend(long_run[-5:])
    assert unreadable.rounds == rounds_of(long_run)


def test_a_journal_that_lags_behind_makes_no_round_disappear(tmp_path, long_run):
    path = write_trace(tmp_path / "journal.jsonl", long_run[:40])
    document = Document()
    document.read_from(path)
    for event in long_run:
        document.extend([event])
    assert document.rounds == rounds_of(long_run)


def test_another_file_in_its_place_is_noticed(tmp_path, long_run):
    path = write_trace(tmp_path / "t.jsonl", long_run)
    document = opened(path)
    lines = path.read_bytes().splitlines(keepends=True)
    first = next(i for i, line in enumerate(lines) if line.startswith(b'{"type":"round"'))
    path.write_bytes(b"".join([*lines[:first], *lines[first + 1 :]]))
    with pytest.raises(DraftscopeError, match="was changed while it was on show"):
        document.rounds[3]


def test_another_round_in_its_place_is_noticed(tmp_path, long_run):
    path = write_trace(tmp_path / "t.jsonl", long_run)
    document = opened(path)
    data, size = path.read_bytes(), {}
    for start, length, event in TraceReader(path).located():
        if isinstance(event, Round):
            size.setdefault(length, []).append((event.index, start))
    length, ((index, start), (_, other), *_) = next(
        (length, found) for length, found in size.items() if len(found) > 1
    )
    path.write_bytes(data[:start] + data[other : other + length] + data[start + length :])
    with pytest.raises(DraftscopeError, match="was changed while it was on show"):
        document.rounds[index]


def test_the_same_round_of_another_run_is_noticed(tmp_path, long_run):
    path = write_trace(tmp_path / "t.jsonl", long_run)
    document = opened(path)
    run = document.run
    other = ("0" if run[0] != "0" else "1") + run[1:]
    path.write_bytes(path.read_bytes().replace(run.encode(), other.encode()))
    with pytest.raises(DraftscopeError, match="was changed while it was on show"):
        document.rounds[3]
