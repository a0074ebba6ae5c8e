"""Events out of place, rows that belong elsewhere, ends that are none: each is named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from engine import Session, Settings
from engine.check import trace as trace_module
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
    PrefillFinished,
    Probe,
    Round,
    RunFinished,
    RunStarted,
)
from engine.trace.statistics import Statistics
from tests.engine.check.runs import (
    find,
    found,
    recorded,
    replace,
    rounds_of,
    with_closing,
    with_drafted,
    with_event,
    with_round,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def whats(events: list[Event]) -> list[tuple[str, str]]:
    """Kind and words of each finding."""
    return [(one.kind.value, one.what) for one in check_trace(events).findings]


def test_events_out_of_place_are_named(greedy: list[Event]) -> None:
    started, prefill, *rest = greedy
    finished = next(e for e in greedy if isinstance(e, RunFinished))
    at = greedy.index(finished)
    last = greedy[at - 1]
    probe = Probe(run=started.run, after_round=len(rounds_of(greedy)) - 1, context_length=9, ns=5)
    baseline, comparison = greedy[at + 1 :]
    cases: list[tuple[list[Event], str]] = [
        ([started, *greedy], "run_started"),
        ([*greedy, baseline], "Baseline"),
        ([*greedy, comparison], "Comparison"),
        ([*greedy[:-1], replace(comparison, run="another")], "run"),
        ([started, prefill, prefill, *rest], "PrefillFinished"),
        ([*greedy[:at], baseline, finished, comparison], "Baseline"),
        ([*greedy[: at + 1], probe, baseline, comparison], "Probe"),
        ([*greedy[: at + 1], finished, baseline, comparison], "RunFinished"),
        ([started, *rest[:1], prefill, *rest[1:]], "rounds before the prefill"),
    ]
    assert isinstance(last, Round)
    for events, what in cases:
        assert ("order", what) in whats(events), what
    after = [*greedy[: at + 1], last, baseline, comparison]
    assert {("order", "Round"), ("ending", "round")} <= set(whats(after))


LAWS: dict[str, Callable[[Any], Any]] = {
    "rows with the same id": lambda x: replace(x, ids=(x.ids[1], *x.ids[1:])),
    "rows of q_draft": lambda x: replace(x, q_draft=()),
    "rows of the residual": lambda x: replace(x, residual=()),
    "sum of the rows and the rest of residual": lambda x: replace(x, rest_residual=0.5),
    "entropy_raw": lambda x: replace(x, entropy_raw=-1.0),
}


@pytest.mark.parametrize("what", LAWS)
def test_rows_that_are_no_law_are_named(sampled: list[Event], what: str) -> None:
    index, place = find(sampled, Fate.REJECTED)
    forged = with_drafted(sampled, index, place, lambda t: replace(t, laws=LAWS[what](t.laws)))
    laws = rounds_of(forged)[index].drafted[place].laws
    forged = with_closing(forged, index, lambda t: replace(t, laws=laws))
    findings = check_trace(forged).findings
    assert ("law", what) in [(one.kind.value, one.what) for one in findings]
    assert {one.round for one in findings} == {index}


def test_rows_without_the_token_and_laws_of_another_are_named(sampled: list[Event]) -> None:
    index, place = find(sampled, Fate.ACCEPTED)
    other = next(
        token.laws
        for one in rounds_of(sampled)
        for token in one.drafted
        if token.laws is not None
        and token.fate is Fate.ACCEPTED
        and rounds_of(sampled)[index].drafted[place].id not in token.laws.ids
    )
    forged = with_drafted(sampled, index, place, lambda t: replace(t, laws=other))
    assert found(check_trace(forged))[0] == ("law", index, place)
    index, place = find(sampled, Fate.REJECTED)
    forged = with_closing(sampled, index, lambda t: replace(t, laws=other))
    assert found(check_trace(forged)) == [("law", index, "closing")]


def test_probabilities_out_of_their_range_are_named(
    sampled: list[Event], greedy: list[Event]
) -> None:
    index, place = find(sampled, Fate.REJECTED)
    for q_draft in (0.0, 1.5):
        forged = with_drafted(sampled, index, place, lambda t, q=q_draft: replace(t, q_draft=q))
        findings = check_trace(forged).findings
        assert (findings[0].kind.value, findings[0].what) == ("law", "q_draft")
    bonus = next(o.index for o in rounds_of(greedy) if o.closing is not None and not o.rejected)
    bare = with_closing(greedy, bonus, lambda t: replace(t, laws=None))
    for probability, what in ((1.5, "probability"), (0.5, "probability in a one-hot law")):
        forged = with_closing(bare, bonus, lambda t, p=probability: replace(t, probability=p))
        assert ("closing token", what) in whats(forged)
    forged = with_closing(bare, bonus, lambda t: replace(t, u=0.5))
    assert whats(forged) == [("uniform", "u of a greedy choice")]
    index, place = find(greedy, Fate.ACCEPTED)
    forged = with_drafted(greedy, index, place, lambda t: replace(t, p_target=0.5, laws=None))
    assert ("law", "p_target") in whats(forged)


def test_a_correction_with_another_probability_is_named(sampled: list[Event]) -> None:
    index, _ = find(sampled, Fate.REJECTED)
    forged = with_closing(sampled, index, lambda t: replace(t, probability=t.probability * 0.999))
    assert whats(forged) == [("closing token", "probability in residual")]


@pytest.mark.parametrize("when", ["before", "peak", "after"])
@pytest.mark.parametrize("whose", ["target", "drafter"])
def test_pages_that_cannot_hold_a_cache_are_named(bare: list[Event], whose: str, when: str) -> None:
    def changed(one: Round) -> Round:
        span = getattr(one, f"{whose}_cache")
        return replace(one, **{f"{whose}_cache": replace(span, **{f"pages_{when}": 0})})

    forged = with_round(bare, 3, changed)
    assert whats(forged) == [("cache", f"pages of the {whose} cache, {when}")]


def test_a_match_outside_the_text_is_named(session: Session) -> None:
    events = recorded(session, Settings(drafter="ngram", k=3, temperature=0.0))
    one = next(r for r in rounds_of(events) if r.match is not None)
    for match in (Match(start=0, length=1), Match(start=9_999, length=2), Match(start=3, length=0)):
        forged = with_round(events, one.index, lambda r, m=match: replace(r, match=m))
        assert whats(forged) == [("match", "place")]


def test_drafts_that_the_settings_do_not_allow_are_named(bare: list[Event]) -> None:
    index = next(one.index for one in rounds_of(bare) if len(one.drafted) == 4 and one.index > 1)
    forged = with_round(bare, index, lambda r: replace(r, k=3))
    assert ("settings", "tokens drafted") in whats(forged)
    last = next(one for one in rounds_of(bare) if one.draft_end is DraftEnd.LIMIT)
    unsure = with_round(bare, last.index, lambda r: replace(r, draft_end=DraftEnd.UNSURE))
    assert whats(unsure) == [("settings", "tokens drafted, unsure")]


def test_ends_that_are_none_are_named(bare: list[Event], greedy: list[Event]) -> None:
    first = next(one for one in rounds_of(bare) if one.drafted and not one.rejected)
    cut = with_round(
        bare, first.index, lambda r: replace(r, closing=None, texts=r.texts[: r.accepted])
    )
    assert ("ending", "closing token") in whats(cut)
    error = with_event(bare, RunFinished, lambda e: replace(e, reason=FinishReason.ERROR))
    assert ("ending", "message") in whats(error)
    one = next(r for r in rounds_of(bare) if r.emitted > 2)
    tokens = one.position + 1

    def shorter(event: RunStarted) -> RunStarted:
        return replace(event, target=replace(event.target, context_length=tokens))

    findings = whats(with_event(bare, RunStarted, shorter))
    assert any(what.endswith("ends the text (context)") for _, what in findings)
    limit = tokens - len(bare[0].prompt_tokens) if isinstance(bare[0], RunStarted) else 0
    findings = whats(with_event(bare, RunStarted, lambda e: replace(e, max_new_tokens=limit)))
    assert any(what.endswith("ends the text (limit)") for _, what in findings)
    ids = next(e for e in greedy if isinstance(e, Baseline)).token_ids
    ended = with_event(greedy, RunStarted, lambda e: replace(e, end_tokens=(ids[4],)))
    assert ("ending", "end tokens within the baseline") in whats(ended)


def test_comparisons_that_cannot_be_are_named(greedy: list[Event], sampled: list[Event]) -> None:
    alone = [event for event in greedy if not isinstance(event, Baseline)]
    assert whats(alone) == [("comparison", "comparison")]
    broken = with_event(greedy, Baseline, lambda e: replace(e, complete=False))
    assert whats(broken) == [("comparison", "comparison")]
    drawn = [*sampled, Comparison(run=sampled[0].run, identical=True)]
    assert whats(drawn) == [("comparison", "comparison")]
    baseline = next(e for e in greedy if isinstance(e, Baseline))
    ids = (*baseline.token_ids[:7], baseline.token_ids[7] + 1, *baseline.token_ids[8:])
    other = with_event(greedy, Baseline, lambda e: replace(e, token_ids=ids))
    told = Difference(position=7, speculative_id=1, plain_id=2)
    forged = with_event(
        other, Comparison, lambda e: replace(e, identical=False, first_difference=told)
    )
    assert whats(forged) == [("comparison", "id in the run"), ("comparison", "id in the baseline")]


def test_texts_that_are_missing_are_named(bare: list[Event]) -> None:
    forged = with_round(bare, 3, lambda r: replace(r, texts=r.texts[:-1]))
    assert ("text", "texts") in whats(forged)


SUMS = {
    "rounds": "rounds",
    "emitted": "emitted",
    "emitted, as texts": "emitted",
}


@pytest.mark.parametrize("what", SUMS)
def test_figures_that_miscount_are_named(
    bare: list[Event], what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Miscounting(Statistics):
        def __init__(self) -> None:
            super().__init__()
            setattr(self._totals, SUMS[what], 1)

    monkeypatch.setattr(trace_module, "Statistics", Miscounting)
    assert ("statistics", what) in whats(bare)


@pytest.mark.parametrize("column", [0, 1, 2])
def test_figures_that_miscount_a_position_are_named(
    bare: list[Event], column: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Miscounting(Statistics):
        def __init__(self) -> None:
            super().__init__()
            self._totals.positions = [[int(column == 0), int(column == 1), int(column == 2)]]

    monkeypatch.setattr(trace_module, "Statistics", Miscounting)
    what = ("drafted", "tested", "accepted")[column] + " by position"
    assert whats(bare) == [("statistics", what)]
    assert isinstance(bare[1], PrefillFinished)
