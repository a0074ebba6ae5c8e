"""Sums agree everywhere: emitted is ids is texts, and figures of parts add up to the whole."""

from __future__ import annotations

import codecs
import math
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.check.trace import check_trace
from engine.trace.events import Event, Fate, FinishReason, Round, RunStarted
from engine.trace.figures import Figures
from engine.trace.statistics import statistics
from engine.trace.text import emitted_ids_of, text_of
from tests.lawful import assert_lawful
from tests.tiny_laws import VOCABULARY
from tests.traces import make_trace

if TYPE_CHECKING:
    from collections.abc import Sequence

STOPS = (FinishReason.END_TOKEN, FinishReason.STOP_STRING)
COUNTS = (
    *("rounds", "plain_rounds", "drafted", "tested", "accepted", "rejected", "discarded", "cut"),
    *("bonus", "emitted", "round_ns", "draft_ns", "verify_ns", "accept_ns", "commit_ns"),
)

traces = st.builds(
    make_trace,
    rounds=st.integers(1, 14),
    seed=st.integers(0, 2**20),
    k=st.integers(0, 6),
    temperature=st.sampled_from([0.0, 0.7, 1.0]),
    reason=st.sampled_from(FinishReason),
    drafter=st.sampled_from(["model:tiny-drafter", "ngram", "head", "none"]),
    top_n=st.sampled_from([0, 2]),
    baseline=st.booleans(),
    probe_every=st.integers(0, 4),
    paced=st.booleans(),
)


def rounds_of(events: Sequence[Event]) -> list[Round]:
    return [event for event in events if isinstance(event, Round)]


@given(traces)
def test_emitted_is_ids_is_texts(events: list[Event]) -> None:
    assert_lawful(events)
    figures, rounds, ids = statistics(events), rounds_of(events), emitted_ids_of(events)
    started = events[0]
    assert isinstance(started, RunStarted)
    assert figures.emitted == sum(one.emitted for one in rounds) == len(ids)
    assert figures.emitted == sum(len(one.texts) for one in rounds)
    assert figures.emitted <= started.max_new_tokens
    ends = [token for token in ids if token in started.end_tokens]
    assert len(ends) <= 1  # nothing is counted past the end of the text
    assert not ends or ids[-1] in started.end_tokens


@given(traces)
def test_joined_texts_are_the_decoding_of_all_tokens(events: list[Event]) -> None:
    pieces: dict[int, bytes] = {}
    for one in rounds_of(events):
        pieces |= {token.id: token.piece for token in one.drafted}
        pieces |= {one.closing.id: one.closing.piece} if one.closing is not None else {}
    ids = emitted_ids_of(events)
    data = b"".join(pieces[token] for token in ids if token < len(VOCABULARY))
    ended = bool(ids) and ids[-1] >= len(VOCABULARY)  # a stop drops half a character
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    assert text_of(events) == decoder.decode(data, final=not ended)


@given(traces)
def test_counts_contain_one_another(events: list[Event]) -> None:
    figures = statistics(events)
    assert 0 <= figures.accepted <= figures.tested <= figures.drafted
    assert figures.tested == figures.accepted + figures.rejected
    assert figures.drafted == figures.tested + figures.discarded
    assert figures.emitted <= figures.accepted + figures.rounds
    assert figures.bonus + figures.rejected + figures.plain_rounds <= figures.rounds
    all_drafted = sum(len(one.drafted) for one in rounds_of(events))
    assert figures.drafted + figures.cut == all_drafted
    for name in ("drafted", "tested", "accepted"):
        assert sum(getattr(at, name) for at in figures.positions) == getattr(figures, name)
    whole = [one for one in rounds_of(events) if one.drafted]
    whole = [one for one in whole if all(token.fate is not Fate.CUT for token in one.drafted)]
    assert sum(figures.accepted_lengths) == len(whole)
    weighed = sum(length * count for length, count in enumerate(figures.accepted_lengths))
    assert weighed == sum(one.accepted for one in whole)
    parts = figures.draft_ns + figures.verify_ns + figures.accept_ns + figures.commit_ns
    assert figures.round_ns == parts == sum(one.times.round for one in rounds_of(events))


@given(traces, st.data())
def test_figures_of_the_parts_add_up_to_those_of_the_whole(
    events: list[Event], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(events)))
    whole, parts = statistics(events), [statistics(events[:at]), statistics(events[at:])]
    for name in (*COUNTS, "observe_ns"):
        assert sum(getattr(part, name) for part in parts) == getattr(whole, name)
    assert whole.paced == any(part.paced for part in parts)
    for index, place in enumerate(whole.positions):
        for name in ("drafted", "tested", "accepted"):
            counts = [
                getattr(part.positions[index], name)
                for part in parts
                if index < len(part.positions)
            ]
            assert sum(counts) == getattr(place, name)
    for length, rounds in enumerate(whole.accepted_lengths):
        assert rounds == sum(
            part.accepted_lengths[length] for part in parts if length < len(part.accepted_lengths)
        )
    for cost in whole.pass_costs:
        same = [one for part in parts for one in part.pass_costs if one.drafted == cost.drafted]
        assert sum(one.rounds for one in same) == cost.rounds
        total = sum(one.mean_ns * one.rounds for one in same)
        assert total == pytest.approx(cost.mean_ns * cost.rounds)


@given(traces)
def test_sums_by_drafter_are_the_totals(events: list[Event]) -> None:
    whole = statistics(events)
    names = {(one.drafter, one.k) for one in rounds_of(events)}
    parts = [
        statistics([one for one in rounds_of(events) if (one.drafter, one.k) == name])
        for name in names
    ]
    for name in COUNTS:
        assert sum(getattr(part, name) for part in parts) == getattr(whole, name)


def _numbers(value: object) -> list[float]:
    if isinstance(value, float):
        return [value]
    if isinstance(value, msgspec.Struct):
        return [n for name in value.__struct_fields__ for n in _numbers(getattr(value, name))]
    return [n for part in value for n in _numbers(part)] if isinstance(value, tuple) else []


@given(traces, st.integers(0, 12))
def test_a_ratio_over_nothing_is_none_and_never_nan(events: list[Event], count: int) -> None:
    figures = statistics(events[:count])
    assert all(math.isfinite(number) for number in _numbers(figures))
    assert (figures.acceptance is None) == (figures.tested == 0)
    assert (figures.draft_yield is None) == (figures.drafted == 0)
    assert (figures.tokens_per_pass is None) == (figures.rounds == 0)
    assert (figures.ms_per_token is None) == (figures.emitted == 0)
    assert (figures.tokens_per_second is None) == (figures.round_ns == 0)
    assert (figures.speedup is None) == (figures.plain is None or figures.round_ns == 0)
    whole = [one for one in rounds_of(events[:count]) if one.closing is not None or not one.drafted]
    if whole and figures.tested:
        assert figures.expected_tokens_per_pass is not None
        assert (figures.predicted_speedup is None) == (figures.c is None)
    for at in figures.positions:
        assert (at.acceptance is None) == (at.tested == 0)
    shares = (figures.acceptance, figures.draft_yield, figures.repeated_share)
    assert all(share is None or 0.0 <= share <= 1.0 for share in shares)


def test_every_figure_that_may_be_missing_is_none_without_events() -> None:
    empty = statistics([])
    optional = {
        name for name, kind in Figures.__annotations__.items() if str(kind).endswith("| None")
    }
    assert {name for name in Figures.__struct_fields__ if getattr(empty, name) is None} == optional


@given(traces)
def test_the_check_of_a_trace_finds_the_same_sums(events: list[Event]) -> None:
    report = check_trace(events)
    assert report.looked_at["statistics"] == 8
    assert not [finding for finding in report.findings if finding.kind.value == "statistics"]
    assert report.emitted == statistics(events).emitted
