"""A session read in portions is the document that its events make one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.viewmodels import columns
from app.viewmodels.document import Document
from app.viewmodels.portion import Gatherer
from app.viewmodels.presentation import Presentation
from app.viewmodels.strip import StripModel
from engine.errors import DraftscopeError
from engine.trace.events import Round, SettingsChanged
from engine.trace.statistics import statistics
from tests.app.opened import arrived, opened, read_portions, write_trace
from tests.app.texts import run_of
from tests.traces import make_trace

HALVES = (b" the", b"\xf0\x9f", b"\x98\x8a", b"\xe8\xaa", b"\x9e", b"\n", b" a", b"\xff")


def shown(document):
    presentation = Presentation(document)
    presentation.seek(10**6)
    model = StripModel(document, presentation)
    model.refresh()
    return model


@pytest.mark.parametrize("vocabulary", [HALVES, (b" x", b"y", b".\n", b" z")])
@pytest.mark.parametrize("drafter", ["model:tiny", "ngram"])
def test_a_file_and_a_run_make_the_same_document(tmp_path, vocabulary, drafter):
    events = make_trace(
        rounds=700, k=3, temperature=1.0, top_n=2, vocabulary=vocabulary, drafter=drafter
    )
    run, file = arrived(events), opened(write_trace(tmp_path / "t.jsonl", events))
    assert list(file.events) == list(run.events) == events
    for name in columns._SUMMED:
        assert np.array_equal(file.columns.sums(name), run.columns.sums(name)), name
    for name in columns._GAUGES:
        same = np.array_equal(file.columns.gauge(name), run.columns.gauge(name), equal_nan=True)
        assert same, name
    for n in (700, 3, 0, 512, 699):
        assert file.figures_at(n) == run.figures_at(n)
    assert file.figures_at(700) == statistics(events)
    assert [file.settings_at(i) for i in range(700)] == [run.settings_at(i) for i in range(700)]
    one, other = shown(file), shown(run)
    assert list(one.chips) == list(other.chips)
    assert one.text() == other.text()


def test_the_first_portion_is_small_and_none_is_large(tmp_path):
    events = make_trace(rounds=1_500, top_n=0, baseline=False)
    replies = read_portions(write_trace(tmp_path / "t.jsonl", events))
    sizes = [reply.portion.events for reply in replies]
    assert sizes[0] == 32
    assert max(sizes) == 512
    assert sum(sizes) == len(events)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=12))
def test_portions_of_any_size_make_the_same_figures(sizes):
    events = make_trace(rounds=25, k=3, temperature=1.0, top_n=0)
    document, gatherer, at = Document(), Gatherer(), 0
    for number in range(len(events)):
        gatherer.add(events[number])
        if gatherer.held == sizes[at % len(sizes)] or number == len(events) - 1:
            at += 1
            portion = gatherer.portion()
            document.rounds.hold(
                [events[number + 1 - portion.events + i] for i in portion.round_places],
                document._placed(portion),
            )
            document._take(portion)
    for n in range(26):
        assert document.figures_at(n) == Document(events).figures_at(n)


def test_stale_events_are_in_no_portion_and_a_missing_round_is_named():
    events, other = make_trace(seed=1), make_trace(seed=2)
    gatherer = Gatherer()
    assert not gatherer.add(other[3])  # no run yet
    assert gatherer.add(events[0])
    assert not any(gatherer.add(event) for event in other)
    assert not gatherer.add(events[0])  # a run starts once
    third = next(e for e in events if isinstance(e, Round) and e.index == 2)
    with pytest.raises(DraftscopeError, match="Round 1 is missing, round 3 stands in its place"):
        gatherer.add(third)
    assert gatherer.portion().events == 1


def test_changes_of_settings_keep_their_places(tmp_path):
    events = make_trace(rounds=30)
    document = opened(write_trace(tmp_path / "t.jsonl", events))
    changes = [event for event in events if isinstance(event, SettingsChanged)]
    assert document.changes == changes != []
    for change in changes:
        assert document.events.index(change) == events.index(change)


def test_a_character_that_was_given_up_is_not_taken_up_two_portions_later():
    document = arrived(run_of([b"\xf0\x9f"], [b" a"], [b"\x98\x8a"]))
    assert [document.tokens.row(index).carry for index in range(3)] == [b"", b"\xf0\x9f", b""]
    model = shown(document)
    assert [chip.text for chip in model.chips if not chip.ref.in_prompt] == ["", " a", ""]
