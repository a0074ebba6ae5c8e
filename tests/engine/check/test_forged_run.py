"""A number changed in a trace's rounds or in its run is named, and nothing else is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from engine import Session, Settings
from engine.check.trace import check_trace
from engine.trace.events import (
    Baseline,
    Comparison,
    Difference,
    DraftEnd,
    Event,
    Fate,
    FinishReason,
    Match,
    Probe,
    Round,
    RunFinished,
    RunStarted,
    SettingsChanged,
)
from tests.engine.check.runs import (
    find,
    found,
    recorded,
    replace,
    rounds_of,
    with_drafted,
    with_event,
    with_round,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    Forge = Callable[[list[Event]], list[Event]]


ROUNDS: dict[str, tuple[str, Callable[[Round], Any]]] = {
    "position": ("order", lambda r: replace(r, position=r.position + 1)),
    "k": ("settings", lambda r: replace(r, k=r.k + 1)),
    "drafter": ("settings", lambda r: replace(r, drafter="head")),
    "draft_end": ("settings", lambda r: replace(r, draft_end=DraftEnd.UNSURE)),
    "texts": ("text", lambda r: replace(r, texts=("?", *r.texts[1:]))),
    "target cache before": (
        *("cache",),
        lambda r: replace(r, target_cache=replace(r.target_cache, before=r.position)),
    ),
    "target cache at its peak": (
        *("cache",),
        lambda r: replace(r, target_cache=replace(r.target_cache, peak=r.target_cache.peak - 1)),
    ),
    "target cache after": (
        *("cache",),
        lambda r: replace(r, target_cache=replace(r.target_cache, after=r.target_cache.after + 1)),
    ),
    "pages": (
        *("cache",),
        lambda r: replace(r, target_cache=replace(r.target_cache, pages_after=9)),
    ),
    "drafter cache before": (
        *("cache",),
        lambda r: replace(r, drafter_cache=replace(r.drafter_cache, before=1)),
    ),
    "drafter cache at its peak": (
        *("cache",),
        lambda r: replace(r, drafter_cache=replace(r.drafter_cache, peak=1)),
    ),
}


@pytest.mark.parametrize("name", ROUNDS)
def test_a_changed_number_of_a_round_is_named(bare: list[Event], name: str) -> None:
    kind, change = ROUNDS[name]
    index = next(
        one.index for one in rounds_of(bare) if one.index > 2 and one.target_cache.after % 16 > 1
    )
    assert found(check_trace(with_round(bare, index, change))) == [(kind, index, None)]


def test_a_drafter_cache_ahead_of_the_text_is_named(bare: list[Event]) -> None:
    index = rounds_of(bare)[-1].index

    def ahead(one: Round) -> Round:
        assert one.drafter_cache is not None
        length = one.target_cache.after + 1
        span = replace(one.drafter_cache, after=length, peak=length, pages_after=9, pages_peak=9)
        return replace(one, drafter_cache=span)

    assert found(check_trace(with_round(bare, index, ahead))) == [("cache", index, None)]


def test_a_missing_round_is_named_where_it_is_missing(bare: list[Event]) -> None:
    without = [e for e in bare if not (isinstance(e, Round) and e.index == 4)]
    findings = check_trace(without).findings
    assert findings[0].place == "round 5"
    assert {finding.what for finding in findings[:2]} == {"index", "position"}


RUN: dict[str, tuple[str, type, Callable[[Any], Any]]] = {
    "reason": ("ending", RunFinished, lambda e: replace(e, reason=FinishReason.CANCELLED)),
    "stop without a stop string": (
        *("ending", RunFinished),
        lambda e: replace(e, reason=FinishReason.STOP_STRING),
    ),
    "tail": ("text", RunFinished, lambda e: replace(e, tail=e.tail + "x")),
    "identical": ("comparison", Comparison, lambda e: replace(e, identical=False)),
    "a difference that is none": (
        *("comparison", Comparison),
        lambda e: replace(e, first_difference=Difference(position=3, speculative_id=1, plain_id=2)),
    ),
    "text of the baseline": ("text", Baseline, lambda e: replace(e, text=e.text + "x")),
    "round of a probe": ("order", Probe, lambda e: replace(e, after_round=e.after_round + 1)),
}


@pytest.mark.parametrize("name", RUN)
def test_a_changed_number_of_the_run_is_named(greedy: list[Event], name: str) -> None:
    kind, event, change = RUN[name]
    probe = Probe(run=greedy[0].run, after_round=0, context_length=9, ns=5)
    at = next(i for i, e in enumerate(greedy) if isinstance(e, Round)) + 1
    events = [*greedy[:at], probe, *[e for e in greedy[at:] if not isinstance(e, Probe)]]
    assert found(check_trace(events)) == []
    (finding,) = check_trace(with_event(events, event, change)).findings
    assert (finding.kind.value, finding.round) == (kind, None)


def test_another_limit_is_named_where_the_run_ends(greedy: list[Event]) -> None:
    for by, what in ((1, {"reason"}), (-1, {"round", "tokens emitted after"})):
        forged = with_event(
            greedy, RunStarted, lambda e, by=by: replace(e, max_new_tokens=e.max_new_tokens + by)
        )
        findings = [f for f in check_trace(forged).findings if f.kind.value == "ending"]
        assert any(finding.what.startswith(tuple(what)) for finding in findings)


def test_a_comparison_of_other_texts_is_named(greedy: list[Event]) -> None:
    def other(baseline: Baseline) -> Baseline:
        ids = list(baseline.token_ids)
        ids[7] += 1
        return replace(baseline, token_ids=tuple(ids))

    forged = with_event(greedy, Baseline, other)
    kinds = [(f.kind.value, f.what) for f in check_trace(forged).findings]
    assert kinds == [
        ("comparison", "identical"),
        ("comparison", "position of the first difference"),
    ]
    baseline = next(e for e in forged if isinstance(e, Baseline))
    ids = [token for one in rounds_of(greedy) for token in one.emitted_ids]
    told = Difference(position=7, speculative_id=ids[7], plain_id=baseline.token_ids[7])
    honest = with_event(
        forged, Comparison, lambda e: replace(e, identical=False, first_difference=told)
    )
    assert found(check_trace(honest)) == []
    tie = replace(told, kind="tie")  # without logits nothing says that it is one
    claimed = with_event(honest, Comparison, lambda e: replace(e, first_difference=tie))
    assert found(check_trace(claimed)) == [("comparison", None, None)]


def test_tokens_after_an_end_token_are_named(bare: list[Event]) -> None:
    one = next(r for r in rounds_of(bare) if r.emitted > 2 and r.index > 1)
    ids = [x for r in rounds_of(bare)[: one.index] for x in r.emitted_ids]
    end = next(x for x in one.emitted_ids[:-1] if x not in ids)
    forged = with_event(bare, RunStarted, lambda e: replace(e, end_tokens=(end,)))
    findings = check_trace(forged).findings
    assert findings[0].place == f"round {one.index}"
    assert findings[0].what.startswith(f"tokens emitted after {end}")
    assert {finding.kind.value for finding in findings} == {"ending"}


def test_greedy_numbers_that_are_none_are_named(greedy: list[Event]) -> None:
    index, place = find(greedy, Fate.ACCEPTED)
    forged = with_drafted(greedy, index, place, lambda t: replace(t, u=0.5))
    assert found(check_trace(forged)) == [("uniform", index, place)]
    forged = with_drafted(greedy, index, place, lambda t: replace(t, q_draft=0.5))
    kinds = {kind for kind, *at in found(check_trace(forged)) if at == [index, place]}
    assert kinds == {"law"}  # q_draft of a one-hot law, and its row


def test_a_match_elsewhere_is_named(session: Session) -> None:
    events = recorded(session, Settings(drafter="ngram", k=3, temperature=0.0))
    one = next(r for r in rounds_of(events) if r.match is not None and len(r.drafted) == 3)
    assert one.match is not None
    moved = Match(start=one.match.start + 1, length=one.match.length)
    forged = with_round(events, one.index, lambda r: replace(r, match=moved))
    findings = check_trace(forged).findings
    assert {(f.kind.value, f.round) for f in findings} == {("match", one.index)}
    forged = with_round(events, one.index, lambda r: replace(r, match=None))
    assert found(check_trace(forged)) == [("match", one.index, None)]


def test_a_change_of_settings_elsewhere_is_named(bare: list[Event]) -> None:
    started = bare[0]
    assert isinstance(started, RunStarted)
    change = SettingsChanged(run=started.run, before_round=3, settings=started.settings)
    at = next(i for i, e in enumerate(bare) if isinstance(e, Round) and e.index == 3)
    assert found(check_trace([*bare[:at], change, *bare[at:]])) == []
    late = replace(change, before_round=4)
    assert found(check_trace([*bare[:at], late, *bare[at:]])) == [("order", None, None)]


def test_bytes_of_a_token_that_change_are_named(bare: list[Event]) -> None:
    first: dict[int, int] = {}
    for one in rounds_of(bare):
        for token in one.drafted:
            first.setdefault(token.id, one.index)
    again = [
        (one.index, place)
        for one in rounds_of(bare)
        for place, token in enumerate(one.drafted)
        if first[token.id] < one.index
    ]
    index, place = again[0]
    forged = with_drafted(bare, index, place, lambda t: replace(t, piece=b"zz"))
    assert found(check_trace(forged)) == [("text", index, None)]
