"""Engine time is tiled by the rounds' phases, and is found by time without walking them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from app.viewmodels.columns import PHASES
from app.viewmodels.document import Document
from app.viewmodels.presentation import Cursor, Presentation
from app.viewmodels.timeline import TimelineModel
from tests.traces import make_trace


@pytest.fixture
def document() -> Document:
    return Document(make_trace(rounds=20, temperature=0.8))


def test_spans_follow_each_other_without_gap_or_overlap(document):
    model = TimelineModel(document)
    spans = model.spans(0, len(model))
    assert spans[0].start_ns == 0
    for one, following in itertools.pairwise(spans):
        assert one.end_ns == following.start_ns
    assert spans[-1].end_ns == model.duration_ns
    for one in document.rounds:
        own = {span.phase: span.end_ns - span.start_ns for span in spans if span.round == one.index}
        assert own == {name: ns for name in PHASES if (ns := getattr(one.times, name))}


def test_a_round_is_found_at_every_instant_of_it(document):
    model = TimelineModel(document)
    for index in range(len(model)):
        start, end = model.round_bounds_ns(index)
        assert model.round_at(start) == model.round_at((start + end) / 2) == index
    assert model.round_at(-1.0) == 0
    assert model.round_at(model.duration_ns * 2) == len(model) - 1


def test_rounds_between_are_those_that_overlap(document):
    model = TimelineModel(document)
    bounds = [model.round_bounds_ns(i) for i in range(len(model))]
    edges = np.linspace(-1e6, model.duration_ns + 1e6, 23)
    for start in edges:
        for end in edges[edges > start]:
            first, last = model.rounds_between(start, end)
            wanted = [i for i, (low, high) in enumerate(bounds) if low < end and high > start]
            assert list(range(first, last)) == wanted


def test_shares_are_the_spans_cut_into_columns(document):
    model = TimelineModel(document)
    spans = model.spans(0, len(model))
    edges = np.linspace(0, model.duration_ns * 1.1, 57)
    shares = model.shares(edges)
    for phase in PHASES:
        for i, (low, high) in enumerate(itertools.pairwise(edges)):
            inside = sum(
                max(0.0, min(high, span.end_ns) - max(low, span.start_ns))
                for span in spans
                if span.phase == phase
            )
            assert shares[phase][i] == pytest.approx(inside / (high - low), abs=1e-9)


def test_mean_accepted_of_one_column_is_the_runs(document):
    model = TimelineModel(document)
    whole = model.mean_accepted(np.array([0.0, model.duration_ns]))
    assert whole[0] == pytest.approx(np.mean([one.accepted for one in document.rounds]))
    after = model.mean_accepted(np.array([model.duration_ns * 1.5, model.duration_ns * 2]))
    assert np.isnan(after[0])


def test_the_cursor_moves_forward_with_each_thing_shown(document):
    model, presentation = TimelineModel(document), Presentation(document, speed=1.0)
    seen = [model.cursor_ns(presentation.cursor)]
    while not presentation.at_end:
        presentation.advance(0.05)
        seen.append(model.cursor_ns(presentation.cursor))
    assert seen[0] == 0
    assert all(one <= following for one, following in itertools.pairwise(seen))
    assert seen[-1] == model.duration_ns


def test_a_finished_round_puts_the_cursor_at_its_end(document):
    model = TimelineModel(document)
    for one in document.rounds:
        at = model.cursor_ns(Cursor(one.index, "done", len(one.drafted)))
        assert at == model.round_bounds_ns(one.index)[1]


def test_changed_settings_are_marked_where_they_begin(document):
    model = TimelineModel(document)
    assert [mark.label for mark in model.marks] == ["k 4 → 0", "k 0 → 4"]
    starts = [model.round_bounds_ns(index)[0] for index in (6, 7)]
    assert [mark.at_ns for mark in model.marks] == starts


def test_probes_stand_at_the_end_of_their_round(document):
    model = TimelineModel(document)
    ends = [model.round_bounds_ns(probe.after_round)[1] for probe in document.probes]
    assert model.probe_ns.tolist() == ends
    assert "plain round" in model.describe_probe(0)


def test_event_by_event_gives_the_same_timeline(document):
    live = Document()
    model = TimelineModel(live)
    for event in document.events:
        live.extend([event])
        model.update()
    whole = TimelineModel(document)
    assert model.spans(0, len(model)) == whole.spans(0, len(whole))
    assert model.marks == whole.marks
    assert model.probe_ns.tolist() == whole.probe_ns.tolist()


def test_a_new_run_leaves_nothing_of_the_old_one(document):
    model = TimelineModel(document)
    document.clear()
    model.update()
    assert (len(model), model.marks, model.duration_ns) == (0, [], 0)
    document.extend(make_trace(rounds=4, seed=9))
    model.update()
    assert (len(model), model.marks) == (4, [])


def test_an_empty_timeline_answers_everything():
    model = TimelineModel(Document())
    edges = np.linspace(0, 1e6, 5)
    assert model.rounds_between(0, 1e6) == (0, 0)
    assert model.round_at(5.0) == -1
    assert model.cursor_ns(Cursor(-1, "done", 0)) == 0
    assert all(not share.any() for share in model.shares(edges).values())
    assert np.isnan(model.mean_accepted(edges)).all()
    assert model.largest_k == 1


def test_a_round_is_said_in_words(document):
    model = TimelineModel(document)
    one = document.rounds[1]
    words = model.describe(1)
    assert words.startswith(f"round 2: {one.accepted}/{one.accepted + one.rejected} accepted")
    for phase in PHASES:
        assert phase in words
    assert model.describe(1, "verify").startswith("round 2: verify ")
    assert model.describe(6).startswith("round 7: no draft")
    assert model.accepted_label(6) == "–"
