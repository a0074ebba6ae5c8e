"""The arithmetic of `peers`: rates, ratios and counts from runs made by hand."""

from __future__ import annotations

import pytest

from engine.benchmarks.peers_report import llama_row, row
from engine.benchmarks.peers_texts import Difference
from engine.benchmarks.peers_timing import Decoded
from engine.errors import DraftscopeError


def run(
    ids: tuple[int, ...], tokens: int, ms: float, *, call_ms: float = 1000, passes: int = 0
) -> Decoded:
    return Decoded(
        token_ids=ids,
        tokens=tokens,
        decode_ns=round(1e6 * ms),
        call_ns=round(1e6 * call_ms),
        passes=passes or len(ids),
        rounds_ns=round(0.5e6 * ms),
    )


LONG, SHORT = tuple(range(11)), tuple(range(5))
# two prompts, three repeats; the middle repeat is the median: 14 tokens in 140 ms, and in 560 ms
OURS = [
    [run(LONG, 10, ms, call_ms=2 * ms, passes=5) for ms in (60, 100, 800)],
    [run(SHORT, 4, ms, call_ms=3 * ms, passes=3) for ms in (30, 40, 500)],
]
THEIRS = [
    [run(LONG, 10, ms, call_ms=2 * ms) for ms in (240, 400, 900)],
    [run(SHORT, 4, ms, call_ms=3 * ms) for ms in (120, 160, 300)],
]


def test_rates_are_medians_over_repeats_of_all_prompts_together() -> None:
    whole = row("ngram", "generate()", "chat", 4, OURS, THEIRS, ())
    assert whole.ours.tokens_per_second == pytest.approx(14 / 0.140)
    assert whole.theirs.tokens_per_second == pytest.approx(14 / 0.560)
    assert whole.ours.call_tokens_per_second == pytest.approx(16 / 0.320)
    assert whole.round_tokens_per_second == pytest.approx(14 / 0.070)
    assert whole.ours.tokens_per_pass == pytest.approx(16 / 8)
    assert whole.theirs.tokens_per_pass == pytest.approx(1.0)
    assert (whole.texts, whole.tokens, whole.k) == (2, 16, 4)
    assert whole.ours.per_token.samples == 3
    assert whole.ours.per_token.median_ns == pytest.approx(1e7)


def test_the_ratio_is_our_rate_over_theirs() -> None:
    whole = row("ngram", "generate()", "chat", 4, OURS, THEIRS, ())
    assert whole.speedup.value == pytest.approx(4.0)
    assert whole.speedup.low <= 4.0 <= whole.speedup.high
    assert whole.speedup.low < whole.speedup.high  # the last repeat says something else
    assert whole.call_speedup.value == pytest.approx((2 * 400 + 3 * 160) / (2 * 100 + 3 * 40))
    turned = row("ngram", "generate()", "chat", 4, THEIRS, OURS, ())
    assert turned.speedup.value == pytest.approx(0.25)


def test_texts_are_counted_by_what_their_difference_is() -> None:
    found = (
        Difference(prompt=0, position=3, our_id=1, their_id=2, kind="tie"),
        Difference(prompt=1, position=0, our_id=1, their_id=None, kind="fault"),
    )
    whole = row("none", "generate()", "chat", 0, OURS, THEIRS, found)
    assert (whole.identical, whole.ties, whole.faults) == (0, 1, 1)
    assert whole.differences == found
    one = row("none", "generate()", "chat", 0, OURS, THEIRS, found[:1])
    assert (one.identical, one.ties, one.faults) == (1, 1, 0)


def test_answers_without_a_second_arrival_are_refused() -> None:
    nothing = [[run((1,), 0, 0)], [run((1, 2), 0, 0)]]
    with pytest.raises(DraftscopeError, match="allow more new tokens"):
        row("none", "generate()", "chat", 0, nothing, nothing, ())
    # one silent prompt beside another one is no fault
    mixed = [[run((1,), 0, 0)], [run((1, 2), 1, 10)]]
    assert row("none", "", "chat", 0, mixed, mixed, ()).speedup.value == pytest.approx(1.0)


def test_the_token_that_ends_a_text_does_not_tell_llama_cpp_apart() -> None:
    ours = [[run((1, 2, 99), 2, 10)], [run((1, 2), 1, 10)], [run((1, 2, 3), 2, 10)]]
    theirs = [[run((1, 2), 1, 10)], [run((1, 2), 1, 10)], [run((1, 2, 4), 2, 10)]]
    whole = llama_row("chat", ours, theirs, frozenset({99}))
    assert (whole.identical, whole.texts) == (2, 3)
    assert whole.speedup.value == pytest.approx((30 / 4) / (30 / 5))
