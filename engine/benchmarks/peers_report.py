"""The figures of `peers`: from two sides' runs to rates, ratios and counts. Pure: runs no model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from engine.benchmarks.figures import Ratio, Spread, ratio, spread
from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.benchmarks.header import Header
    from engine.benchmarks.peers_texts import Difference
    from engine.benchmarks.peers_timing import Decoded

    Runs = Sequence[Sequence[Decoded]]  # by prompt, then by repeat; each repeat has every prompt


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """How fast one side decoded a set of prompts: medians over the repeats."""

    tokens_per_second: float  # of what came after the first arrival; the prompt is not in it
    call_tokens_per_second: float  # all new tokens over whole calls; reading the prompt is in it
    tokens_per_pass: float
    per_token: Spread  # wall time after the first arrival


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One way of drafting on one set of prompts, on both sides."""

    drafter: str  # ours: "none", "ngram" or "model:NAME"
    peer: str  # the call on their side
    prompts: str  # name of the set
    k: int
    texts: int  # prompts in the set
    tokens: int  # our new tokens over all prompts
    ours: Rates
    theirs: Rates
    round_tokens_per_second: float  # ours, from summed round times instead of wall time
    speedup: Ratio  # our rate over theirs, wall time after the first arrival on both sides
    call_speedup: Ratio  # the same of whole calls
    identical: int  # texts
    ties: int
    faults: int
    differences: tuple[Difference, ...]


class LlamaRow(msgspec.Struct, frozen=True, kw_only=True):
    """Our plain rounds against llama.cpp's, which has the file's own precision."""

    prompts: str
    texts: int
    ours: Rates
    theirs: Rates
    speedup: Ratio  # wall time on our side, the server's own clock on theirs
    call_speedup: Ratio
    identical: int  # texts; others differ as texts of another precision may


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Everything measured in one call."""

    header: Header
    transformers: str  # version
    attention: str  # the implementation that it chose
    weights: str  # the type that both sides' matrices were rounded to
    rows: tuple[Row, ...]
    llama: str | None = None  # build of llama.cpp; None: not measured
    llama_rows: tuple[LlamaRow, ...] = ()


def row(
    drafter: str,
    peer: str,
    prompts: str,
    k: int,
    ours: Runs,
    theirs: Runs,
    differences: Sequence[Difference],
) -> Row:
    """Compare two sides' runs of one set of prompts.

    Raises
    ------
    DraftscopeError
        If no token came after the first arrival, so that there is no rate.
    """
    kinds = [one.kind for one in differences]
    rounds = [ns / tokens for ns, tokens in _summed(ours, _rounds_ns, _tokens)]
    return Row(
        drafter=drafter,
        peer=peer,
        prompts=prompts,
        k=k,
        texts=len(ours),
        tokens=sum(len(runs[0].token_ids) for runs in ours),
        ours=_rates(ours),
        theirs=_rates(theirs),
        round_tokens_per_second=1e9 / spread(rounds).median_ns,
        speedup=ratio(_per_token(theirs), _per_token(ours)),
        call_speedup=ratio(_per_call(theirs), _per_call(ours)),
        identical=len(ours) - len(differences),
        ties=kinds.count("tie"),
        faults=kinds.count("fault"),
        differences=tuple(differences),
    )


def llama_row(prompts: str, ours: Runs, theirs: Runs, end_tokens: frozenset[int]) -> LlamaRow:
    """Compare our plain runs with the server's; it keeps the token that ends a text to itself."""

    def text(runs: Sequence[Decoded]) -> tuple[int, ...]:
        ids = runs[0].token_ids
        return ids[:-1] if ids and ids[-1] in end_tokens else ids

    return LlamaRow(
        prompts=prompts,
        texts=len(ours),
        ours=_rates(ours),
        theirs=_rates(theirs),
        speedup=ratio(_per_token(theirs), _per_token(ours)),
        call_speedup=ratio(_per_call(theirs), _per_call(ours)),
        identical=sum(text(one) == text(other) for one, other in zip(ours, theirs, strict=True)),
    )


def _rates(runs: Runs) -> Rates:
    per_token = spread(_per_token(runs))
    return Rates(
        tokens_per_second=1e9 / per_token.median_ns,
        call_tokens_per_second=1e9 / spread(_per_call(runs)).median_ns,
        tokens_per_pass=sum(_new(one[0]) for one in runs) / sum(one[0].passes for one in runs),
        per_token=per_token,
    )


def _per_token(runs: Runs) -> list[float]:
    """Return nanoseconds a token of each repeat, over all prompts, after the first arrivals."""
    return [ns / tokens for ns, tokens in _summed(runs, lambda run: run.decode_ns, _tokens)]


def _per_call(runs: Runs) -> list[float]:
    """Return nanoseconds a token of each repeat, over all prompts, of whole calls."""
    return [ns / tokens for ns, tokens in _summed(runs, lambda run: run.call_ns, _new)]


def _summed(
    runs: Runs, over: Callable[[Decoded], int], under: Callable[[Decoded], int]
) -> list[tuple[int, int]]:
    """Sum two things over the prompts of each repeat."""
    sums = [(sum(map(over, one)), sum(map(under, one))) for one in zip(*runs, strict=True)]
    if any(tokens == 0 for _, tokens in sums):
        raise DraftscopeError(
            "The answers end with their first tokens, so there is no rate to measure; allow more "
            "new tokens, or measure another target."
        )
    return sums


def _tokens(run: Decoded) -> int:
    return run.tokens


def _new(run: Decoded) -> int:
    return len(run.token_ids)


def _rounds_ns(run: Decoded) -> int:
    assert run.rounds_ns is not None, "our side says what its rounds took"
    return run.rounds_ns
