"""The presentation clock: verdicts one by one, steps, scrubbing, never far behind the engine."""

from __future__ import annotations

import math

import pytest

from app.viewmodels.document import Document
from app.viewmodels.presentation import LIVE_ROUND_S, START, Cursor, Presentation
from engine.trace.events import Fate, Round
from tests.app.opened import opened, write_trace
from tests.traces import make_trace

TICK_S = 1 / 60


def shown(rounds: int = 8, speed: float | None = 1.0, k: int = 4) -> tuple[Document, Presentation]:
    document = Document(make_trace(rounds=rounds, k=k, temperature=1.0))
    return document, Presentation(document, speed=speed)


def walk(presentation: Presentation, limit: int = 100_000) -> list[Cursor]:
    """Let time pass until the end and return every cursor on the way."""
    cursors = [presentation.cursor]
    for _ in range(limit):
        if presentation.at_end:
            return cursors
        if presentation.advance(TICK_S):
            cursors.append(presentation.cursor)
    raise AssertionError("the presentation never came to its end")


def test_tokens_appear_one_by_one_then_fall_one_by_one():
    document, presentation = shown()
    cursors = walk(presentation)
    for one in document.rounds:
        own = [c for c in cursors if c.round == one.index]
        n = len(one.drafted)
        tested = one.accepted + one.rejected
        drafts = [c.revealed for c in own if c.phase == "draft"]
        verdicts = [c.revealed for c in own if c.phase == "verify"]
        assert drafts == list(range(1, n + 1))
        assert len(verdicts) == tested
        assert verdicts == sorted(verdicts)
        assert own[-1] == Cursor(one.index, "done", n)


def test_untested_tokens_fall_with_the_last_verdict():
    document, presentation = shown(rounds=20)
    cursors = set(walk(presentation))
    seen = 0
    for one in document.rounds:
        for slot, token in enumerate(one.drafted):
            if token.fate in (Fate.DISCARDED, Fate.CUT):
                seen += 1
                assert Cursor(one.index, "verify", slot) not in cursors
    assert seen


def test_speed_scales_time():
    _, slow = shown(speed=0.5)
    _, fast = shown(speed=4.0)
    for _ in range(60):
        slow.advance(TICK_S)
        fast.advance(TICK_S)
    assert fast.cursor > slow.cursor > START


def test_as_it_comes_never_lags_more_than_a_round():
    events = make_trace(rounds=30, k=4)
    document = Document()
    presentation = Presentation(document)
    for event in events:
        document.extend([event])
        presentation.advance(TICK_S)
        assert presentation.cursor.round >= len(document.rounds) - 2
        assert presentation.visible_rounds() >= len(document.rounds) - 1
    passed = 0.0
    while not presentation.at_end:
        presentation.advance(TICK_S)
        passed += TICK_S
    assert passed <= LIVE_ROUND_S + TICK_S


def test_as_it_comes_the_newest_round_moves_although_others_keep_coming():
    document = Document(make_trace(rounds=6))
    presentation = Presentation(document)
    moved = sum(presentation.advance(0.01) for _ in range(20))
    assert moved > 3
    assert presentation.at_end


def test_paused_nothing_moves():
    document, presentation = shown()
    presentation.playing = False
    assert not any(presentation.advance(1.0) for _ in range(10))
    assert presentation.cursor == START
    assert presentation.visible_rounds() == 0
    assert presentation.last_finished_round == -1
    assert not presentation.live
    assert document.rounds


def test_step_round_shows_one_round_more():
    document, presentation = shown()
    presentation.playing = False
    for one in document.rounds:
        assert presentation.step_round()
        assert presentation.last_finished_round == one.index
    assert not presentation.step_round()
    assert presentation.at_end


def test_step_round_finishes_a_started_round_first():
    document, presentation = shown()
    presentation.seek(4, "draft")
    presentation.step_round()
    assert presentation.cursor == Cursor(4, "done", len(document.rounds[4].drafted))


def test_step_phase_goes_through_draft_verify_and_done():
    document, presentation = shown()
    presentation.playing = False
    phases = []
    while presentation.step_phase():
        phases.append(presentation.cursor)
    expected = []
    for one in document.rounds:
        n = len(one.drafted)
        names = ("draft", "verify", "done") if n else ("done",)
        expected += [Cursor(one.index, name, n) for name in names]
    assert phases == expected


def test_step_waits_for_a_round_that_has_not_arrived():
    events = make_trace(rounds=3)
    first = next(i for i, e in enumerate(events) if isinstance(e, Round))
    document = Document(events[:first])
    presentation = Presentation(document)
    presentation.playing = False
    presentation.advance(TICK_S)
    assert not presentation.step_round()
    assert presentation.waiting
    assert not presentation.advance(TICK_S)
    document.extend(events[first:])
    assert presentation.advance(TICK_S)
    assert presentation.last_finished_round == 0
    assert not presentation.waiting
    assert not presentation.advance(TICK_S)


def test_time_waiting_for_the_engine_is_not_owed():
    events = make_trace(rounds=3)
    first = next(i for i, e in enumerate(events) if isinstance(e, Round))
    document = Document(events[:first])
    presentation = Presentation(document, speed=1.0)
    for _ in range(600):
        presentation.advance(TICK_S)
    document.extend(events[first:])
    presentation.advance(TICK_S)
    assert presentation.cursor == START


@pytest.mark.parametrize("phase", ["draft", "verify", "done"])
def test_seek_shows_the_end_of_a_phase(phase):
    document, presentation = shown()
    presentation.seek(5, phase)
    drafted = len(document.rounds[5].drafted)
    assert presentation.cursor == Cursor(5, phase, drafted)
    assert presentation.visible_rounds() == (6 if phase == "done" else 5)


def test_seek_stays_within_what_arrived():
    document, presentation = shown()
    presentation.seek(10**9)
    assert presentation.at_end
    presentation.seek(-7)
    assert presentation.cursor == START
    assert document.rounds


def test_plain_round_has_no_draft_phase():
    document = Document(make_trace(rounds=12, k=4))
    plain = next(one.index for one in document.rounds if not one.drafted)
    presentation = Presentation(document, speed=1.0)
    presentation.seek(plain, "draft")
    assert presentation.cursor == Cursor(plain, "done", 0)


def test_new_run_starts_at_its_prompt():
    document, presentation = shown()
    presentation.seek(5)
    document.clear()
    document.extend(make_trace(seed=9))
    presentation.playing = False
    assert presentation.advance(TICK_S)
    assert presentation.cursor == START


def test_cleared_document_shows_nothing():
    document, presentation = shown()
    presentation.seek(5)
    document.clear()
    presentation.advance(TICK_S)
    assert presentation.visible_rounds() == 0
    assert presentation.at_end


def test_version_counts_each_change_and_nothing_else():
    _, presentation = shown()
    versions = [presentation.version]
    for _ in range(200):
        changed = presentation.advance(TICK_S)
        assert changed == (presentation.version != versions[-1])
        versions.append(presentation.version)
    presentation.seek(3)
    version = presentation.version
    presentation.seek(3)
    assert presentation.version == version


def test_infinite_speed_is_as_it_comes():
    _, presentation = shown()
    presentation.speed = math.inf
    assert presentation.speed is None
    assert presentation.live


@pytest.mark.parametrize("speed", [0.0, -1.0, math.nan])
def test_speed_must_be_positive(speed):
    _, presentation = shown()
    with pytest.raises(ValueError, match="positive"):
        presentation.speed = speed


class CountingRounds(list):
    """A list of rounds that counts how often one is looked at."""

    looked = 0

    def __getitem__(self, index):
        CountingRounds.looked += 1
        return super().__getitem__(index)


def test_a_tick_looks_at_few_rounds_however_long_the_session():
    document, presentation = shown(rounds=400)
    presentation.speed = None
    document.rounds = CountingRounds(document.rounds)
    presentation.advance(TICK_S)
    CountingRounds.looked = 0
    for _ in range(30):
        presentation.advance(TICK_S)
    assert CountingRounds.looked == 0
    assert presentation.at_end


def test_a_session_whose_file_was_emptied_is_played_and_scrubbed_without_reading(tmp_path):
    events = make_trace(rounds=30, k=4, temperature=1.0)
    path = write_trace(tmp_path / "t.jsonl", events)
    there, document = Document(events), opened(path)
    path.write_bytes(b"")
    for speed in (1.0, None):
        assert walk(Presentation(document, speed=speed)) == walk(Presentation(there, speed=speed))
    presentation, beside = Presentation(document), Presentation(there)
    for index in (7, 29, 3):
        for one in (presentation, beside):
            one.seek(index, "verify")
            one.step_phase()
            one.step_round()
        assert presentation.cursor == beside.cursor
    assert document.rounds.read == 0


def test_what_comes_next_and_when_is_what_time_brings():
    _, presentation = shown(speed=2.0)
    while (coming := presentation.coming()) is not None:
        following, seconds = coming
        assert not presentation.advance(seconds * 0.999)
        assert presentation.advance(seconds * 0.0011)
        assert presentation.cursor == following
        other = shown()[1]
        other.show(following)
        assert (other.cursor, other.at_end) == (following, presentation.at_end)
        presentation.show(following)  # owes nothing
    assert presentation.at_end
