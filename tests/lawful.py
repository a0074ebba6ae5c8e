"""What holds in every trace, whoever made it: a simulated one, a recorded one, a live session's.

Knows the events alone. `assert_lawful` names the law that a trace breaks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine.trace.events import (
    Baseline,
    ClosingKind,
    Comparison,
    DraftedToken,
    Event,
    Fate,
    Laws,
    PrefillFinished,
    Probe,
    Round,
    RunFinished,
    RunStarted,
    SettingsChanged,
)

ROUNDING = 1e-5  # sums of float32 probabilities


def assert_lawful(events: Sequence[Event]) -> None:
    """Assert the internal laws of one run's events, whole or broken off after any of them."""
    started = events[0]
    assert isinstance(started, RunStarted), "the first event starts the run"
    assert {event.run for event in events} == {started.run}, "one trace, one run"
    assert_order(events)
    tokens = [piece.id for piece in started.prompt_tokens]
    drafter_length: dict[str, int] = {}
    rounds = [event for event in events if isinstance(event, Round)]
    for index, one in enumerate(rounds):
        assert one.index == index, "rounds are numbered without gaps"
        assert one.position == len(tokens), "positions add up"
        assert_fates(one)
        assert one.closing is not None or index == len(rounds) - 1, "only the last round is cut"
        assert len(one.texts) == one.emitted, "one text for each emitted token"
        assert_match(one, tokens)
        for token in one.drafted:
            assert_verdict(token)
            if token.laws is not None:
                assert_laws(token.laws, {token.id}, drafted=True)
        if one.closing is not None and one.closing.laws is not None:
            assert_laws(one.closing.laws, {one.closing.id}, drafted=one.rejected > 0)
        tokens += one.emitted_ids
        drafter_length = assert_caches(one, len(tokens), drafter_length.get(one.drafter))
    assert len(tokens) - len(started.prompt_tokens) <= started.max_new_tokens, "the limit holds"


def assert_order(events: Sequence[Event]) -> None:
    """Assert which events may follow which."""
    kinds = [type(event) for event in events]
    for once in (RunStarted, PrefillFinished, RunFinished, Baseline, Comparison):
        assert kinds.count(once) <= 1, f"at most one {once.__name__}"
    if RunFinished in kinds:
        after = kinds[kinds.index(RunFinished) + 1 :]
        assert set(after) <= {Baseline, Comparison}, "the speculative run is over"
    rounds = 0
    for event in events:
        match event:
            case Round():
                rounds += 1
            case Probe():
                assert event.after_round == rounds - 1, "a probe stands after its round"
                assert event.ns > 0
            case SettingsChanged():
                assert event.before_round == rounds, "a change stands before its round"


def assert_fates(one: Round) -> None:
    """Assert the order of fates, and that the closing token is of the kind that they call for."""
    fates = "".join(token.fate.value[0] for token in one.drafted)
    accepted = fates[: one.accepted]
    rest = fates[one.accepted :]
    assert set(accepted) <= {"a"}, "accepted tokens come first"
    assert len(one.drafted) <= one.k, "no more is drafted than asked for"
    if one.rejected:
        assert rest == "r" + "d" * (len(rest) - 1), "after the rejected one all are discarded"
        kind = ClosingKind.CORRECTION
    elif rest:
        assert set(rest) == {"c"}, "what is past the end of the text is cut"
        assert one.closing is None, "a cut round emits no closing token"
    else:
        kind = ClosingKind.BONUS if one.drafted else ClosingKind.PLAIN
    if one.closing is not None:
        assert one.closing.kind is kind, "the closing token is of the kind the verdicts call for"
        assert 0 < one.closing.probability <= 1 + ROUNDING
        assert one.closing.u is None or 0 <= one.closing.u < 1


def assert_verdict(token: DraftedToken) -> None:
    """Assert Leviathan et al. 2023, Alg. 1: kept while u < p_target / q_draft."""
    assert 0 < token.q_draft <= 1 + ROUNDING, (
        "a drafted token was drawn, so its q_draft is positive"
    )
    if token.laws is not None and token.fate is not Fate.REJECTED:
        assert token.laws.residual == (), "only a rejected token has a residual"
    tested = token.fate in (Fate.ACCEPTED, Fate.REJECTED)
    if not tested:
        assert token.u is None, "what is not tested draws no uniform"
        return
    assert token.p_target is not None
    ratio = min(1.0, token.p_target / token.q_draft)
    assert token.acceptance_probability is not None
    assert math.isclose(token.acceptance_probability, ratio, rel_tol=1e-4, abs_tol=ROUNDING)
    if token.u is None:  # greedy
        assert token.p_target in (0.0, 1.0), "greedy: the target's law is one-hot"
        assert (token.fate is Fate.ACCEPTED) == (token.p_target == 1.0)
    elif abs(token.u - ratio) > ROUNDING:
        assert (token.fate is Fate.ACCEPTED) == (token.u < ratio), "the rule"


def assert_match(one: Round, tokens: Sequence[int]) -> None:
    """Assert that an n-gram's proposal stands in the text where the match says."""
    if one.match is None:
        return
    start, length = one.match.start, one.match.length
    assert list(tokens[start - length : start]) == list(tokens[-length:]), "the n-gram matched"
    # A copy can run past the end of the text into itself.
    text = list(tokens)
    for offset, token in enumerate(one.drafted):
        assert text[start + offset] == token.id, "the proposal was copied from the match"
        text.append(token.id)


def assert_laws(laws: Laws, shown: set[int], *, drafted: bool) -> None:
    """Assert that the rows and the rest of each law hold all of its mass, in the agreed order."""
    assert shown <= set(laws.ids), "the token in question is among the rows"
    assert len(set(laws.ids)) == len(laws.ids) == len(laws.pieces)
    keys = [(-target, -raw) for target, raw in zip(laws.p_target, laws.p_raw, strict=True)]
    assert keys == sorted(keys), "rows in falling order of p_target, then p_raw"
    columns = [(laws.p_target, laws.rest_p_target), (laws.p_raw, laws.rest_p_raw)]
    columns += [(laws.q_draft, laws.rest_q_draft)] if laws.q_draft else []
    columns += [(laws.residual, laws.rest_residual)] if laws.residual else []
    for column, rest in columns:
        assert len(column) == len(laws.ids)
        assert rest >= 0
        assert math.isclose(sum(column) + rest, 1.0, abs_tol=1e-4), "rows and rest hold all mass"
    assert bool(laws.q_draft) == drafted, "q_draft where something was drafted"
    assert (laws.overlap is not None) == drafted
    assert laws.overlap is None or -ROUNDING <= laws.overlap <= 1 + ROUNDING
    assert min(laws.entropy_target, laws.entropy_raw, laws.entropy_draft) >= -ROUNDING


def assert_caches(one: Round, length: int, drafter_length: int | None) -> dict[str, int]:
    """Assert invariant 1 for `length` tokens after the round; return the drafter's own length."""
    span = one.target_cache
    assert span.before == one.position - 1
    assert span.after == length - 1, "target.cache.length == len(tokens) - 1"
    assert span.peak >= one.position + len(one.drafted), "the pass wrote each of its tokens"
    for cache in (span, one.drafter_cache):
        if cache is None:
            continue
        lengths = ((cache.before, cache.pages_before), (cache.after, cache.pages_after))
        for positions, pages in (*lengths, (cache.peak, cache.pages_peak)):
            assert pages * cache.page_size >= positions, "pages hold every position"
        assert cache.pages_given_back >= 0
    if one.drafter_cache is None:
        return {}
    assert one.drafter_cache.after <= length - 1, "the drafter's cache is never ahead"
    if drafter_length is not None:
        assert one.drafter_cache.before == drafter_length, "nothing happens between rounds"
    return {one.drafter: one.drafter_cache.after}
