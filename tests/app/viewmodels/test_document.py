"""A document keeps one run's events, and finds tokens and figures in them."""

from __future__ import annotations

import pytest

from app.viewmodels.document import Document
from app.viewmodels.refs import CLOSING_SLOT, PROMPT_ROUND, TokenRef
from engine.errors import DraftscopeError
from engine.trace.events import Fate, Round, RunStarted
from engine.trace.statistics import statistics
from tests.traces import make_trace


def rounds_of(events):
    return [event for event in events if isinstance(event, Round)]


def test_stale_round_is_dropped():
    events, other = make_trace(seed=1), make_trace(seed=2)
    document = Document(events[:4])
    version = document.version
    assert document.extend(rounds_of(other)) == 0
    assert document.version == version
    assert list(document.rounds) == rounds_of(events[:4])
    assert document.run == events[0].run


def test_events_before_a_run_started_are_stale():
    document = Document()
    assert document.extend(rounds_of(make_trace())) == 0
    assert document.run is None


def test_after_clear_only_a_new_start_counts():
    events, other = make_trace(seed=1), make_trace(seed=2)
    document = Document(events)
    document.clear()
    assert document.extend(events[3:]) == 0
    document.extend(other)
    assert document.run == other[0].run
    assert list(document.rounds) == rounds_of(other)


def test_missing_round_is_reported_in_a_sentence():
    events = make_trace()
    said = "Round 2 is missing, round 3 stands"  # from 1, as the window counts
    with pytest.raises(DraftscopeError, match=said):
        Document([e for e in events if not (isinstance(e, Round) and e.index == 1)])


def test_every_emitted_token_is_found_by_its_position():
    events = make_trace(rounds=10, k=3)
    document = Document(events)
    started = events[0]
    assert isinstance(started, RunStarted)
    expected = [token.id for token in started.prompt_tokens]
    for one in rounds_of(events):
        expected += one.emitted_ids
    refs = [document.ref_at(i) for i in range(len(expected))]
    assert [document.token(ref).id for ref in refs] == expected
    assert [document.position_of(ref) for ref in refs] == list(range(len(expected)))
    assert all(document.is_emitted(ref) for ref in refs)
    assert document.ref_at(len(expected)) is None
    assert document.ref_at(-1) is None


def test_refs_outside_find_nothing():
    document = Document(make_trace(rounds=3))
    for ref in (TokenRef(99, 0), TokenRef(0, 99), TokenRef(PROMPT_ROUND, 99), TokenRef(-5, 0)):
        assert document.token(ref) is None
        assert document.position_of(ref) is None


def test_rejected_tokens_stand_for_a_position_and_are_not_emitted():
    document = Document(make_trace(rounds=10, k=4, temperature=1.0))
    found = 0
    for one in document.rounds:
        for slot, token in enumerate(one.drafted):
            ref = TokenRef(one.index, slot)
            assert document.position_of(ref) == one.position + slot
            assert document.is_emitted(ref) == (token.fate is Fate.ACCEPTED)
            found += token.fate is Fate.REJECTED
        if one.closing is not None:
            closing = TokenRef(one.index, CLOSING_SLOT)
            assert document.position_of(closing) == one.position + one.accepted
    assert found


def test_settings_hold_from_their_round_on():
    document = Document(make_trace(rounds=12, k=4))
    asked = [document.settings_at(one.index).k for one in document.rounds]
    assert asked == [one.k for one in document.rounds]
    assert set(asked) == {0, 4}


def test_figures_at_count_the_rounds_shown():
    document = Document(make_trace(rounds=12))
    for n in (0, 5, 3, 12, 1, 11):
        figures = document.figures_at(n)
        assert figures.rounds == n
        assert figures.emitted == sum(one.emitted for one in document.rounds[:n])


def test_figures_going_forward_count_each_round_once():
    document = Document(make_trace(rounds=40))
    for n in range(41):
        document.figures_at(n)
        document.figures_at(n)
    assert document.statistics.counted == 40


def test_a_baseline_counts_from_the_start_once_it_is_there():
    events = make_trace(rounds=12, probe_every=0)
    document = Document()
    for event in events:
        document.extend([event])
        if document.baseline is None:
            assert document.figures_at(3).baseline is None
    for n in (3, 0, 12, 5):
        figures = document.figures_at(n)
        assert figures.rounds == n
        assert figures.baseline == document.statistics.figures().baseline is not None


def test_figures_of_everything_equal_the_statistics():
    document = Document(make_trace(rounds=12))
    assert document.figures_at(12) == document.statistics.figures()


def test_document_grows_as_events_arrive():
    events = make_trace(rounds=6)
    document = Document()
    versions = set()
    for event in events:
        document.extend([event])
        versions.add(document.version)
        document.figures_at(len(document.rounds))
    assert len(versions) == len(events)
    assert list(document.events) == events
    assert document.figures_at(6) == Document(events).figures_at(6)


def test_going_to_and_fro_counts_the_rounds_between_and_stays_exact():
    document = Document(make_trace(rounds=600, k=4, temperature=0.9, top_n=0, baseline=False))
    at = 0
    for n in (600, 599, 500, 590, 250, 249, 400, 399, 0, 1, 600):
        counted = document.statistics.counted
        figures = document.figures_at(n)
        assert document.statistics.counted - counted == abs(n - at)
        end = len(document.events) if n == 600 else document.events.index(document.rounds[n])
        assert figures == statistics(document.events[:end])
        at = n
