"""Every way out of a session counts the same tokens: the trace, the object, the page, the words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cli.report import Outcome, as_lines, as_object
from app.export.replay import Replay, build_replay
from engine.trace import codec
from engine.trace.events import Event, Fate, FinishReason, Round
from engine.trace.statistics import statistics
from engine.trace.text import emitted_ids_of, text_of
from tests.traces import make_trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.trace.figures import Figures

traces = st.builds(
    make_trace,
    rounds=st.integers(1, 10),
    seed=st.integers(0, 2**20),
    k=st.integers(0, 5),
    temperature=st.sampled_from([0.0, 1.0]),
    reason=st.sampled_from(FinishReason),
    drafter=st.sampled_from(["model:tiny-drafter", "ngram", "none"]),
    top_n=st.just(0),
)


def emitted_on(page: Replay) -> list[int]:
    ids = []
    for one in page.rounds:
        ids += [token.id for token in one.d if token.f == Fate.ACCEPTED]
        ids += [one.c.id] if one.c is not None else []
    return ids


def outcome_of(events: Sequence[Event]) -> Outcome:
    outcome = Outcome()
    for event in events:
        outcome.add(event)
    return outcome


@given(traces)
def test_sums_are_the_output_in_every_export(events: list[Event]) -> None:
    ids = emitted_ids_of(events)
    emitted = sum(event.emitted for event in events if isinstance(event, Round))
    assert emitted == len(ids)
    again = [codec.decode(codec.encode(event)) for event in events]
    assert emitted_ids_of(again) == ids
    found = as_object(outcome_of(events))
    assert found["token_ids"] == ids
    assert found["emitted"] == len(ids)
    assert found["text"] == text_of(events)
    page = build_replay(events)
    assert emitted_on(page) == ids
    assert page.final.emitted == len(ids)
    assert page.text == text_of(events)
    assert as_lines(outcome_of(events))[0].startswith(f"{len(ids)} tokens in ")


@given(traces)
def test_no_export_accepts_more_than_was_drafted(events: list[Event]) -> None:
    figures, found = statistics(events), as_object(outcome_of(events))
    counted: list[Figures] = [figures, build_replay(events).final]
    for one in counted:
        assert one.accepted <= one.tested <= one.drafted
        assert (one.accepted, one.drafted) == (found["accepted"], found["drafted"])
    tokens = [token for one in build_replay(events).rounds for token in one.d]
    assert sum(token.f == Fate.ACCEPTED for token in tokens) == figures.accepted
    assert sum(token.f != Fate.CUT for token in tokens) == figures.drafted


@pytest.mark.case("A58")
@pytest.mark.parametrize("drafted_ms", [1, 6])
def test_a_drafter_that_does_not_pay_is_said_so_measured_and_predicted(drafted_ms: int) -> None:
    events = make_trace(rounds=30, k=4, seed=2)
    slow = [_slowed(event, drafted_ms) for event in events]
    figures = statistics(slow)
    assert figures.speedup is not None
    assert figures.predicted_speedup is not None
    (line,) = [line for line in as_lines(outcome_of(slow)) if line.startswith("speed-up")]
    measured, predicted = line.split(";")
    assert f"measured {figures.speedup:.2f}" in measured
    assert f"predicted {figures.predicted_speedup:.2f}" in predicted
    assert ("slower than plain" in measured) == (figures.speedup < 1)
    assert ("slower than plain" in predicted) == (figures.predicted_speedup < 1)
    assert (figures.speedup < 1) == (figures.predicted_speedup < 1) == (drafted_ms == 6)


def _slowed(event: Event, drafted_ms: int) -> Event:
    from msgspec.structs import replace

    if not isinstance(event, Round):
        return event
    draft = 3 * drafted_ms * 1_000_000 * len(event.drafted)
    return replace(event, times=replace(event.times, draft=draft))
