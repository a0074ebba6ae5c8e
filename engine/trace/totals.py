"""Counts and sums over some rounds of a run, and the figures that follow from them.

Knows what each figure divides by. Knows no event: `statistics` counts events one at a time, and
whoever keeps rounds as columns adds them up by columns; the figures are the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.trace.events import Fate
from engine.trace.figures import (
    Figures,
    PassCost,
    Percentiles,
    PositionFigures,
    expected_tokens,
    ratio,
)
from engine.trace.plain import speedups

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.trace.plain import PlainSide

REPETITIVE_SHARE = 0.6


@dataclass
class Totals:
    """What adds up over rounds; whole numbers throughout, so that it can be taken off again.

    Attributes
    ----------
    fates
        Drafted tokens by fate.
    times
        Nanoseconds of draft, verify, accept, commit, observe.
    positions
        Drafted, tested and accepted tokens at each draft position, cut ones left out.
    accepted_lengths
        [n] = drafted rounds with n accepted; cut rounds left out.
    whole_rounds
        Rounds by tokens drafted; cut rounds left out.
    passes
        Rounds and nanoseconds of verify + accept + commit by tokens drafted, cut rounds too.
    grams, new_grams
        3-grams of the emitted ids, and those of them that had not been there before.
    """

    rounds: int = 0
    plain_rounds: int = 0
    fates: dict[Fate, int] = field(default_factory=lambda: dict.fromkeys(Fate, 0))
    bonus: int = 0
    emitted: int = 0
    times: list[int] = field(default_factory=lambda: [0] * 5)
    paced: bool = False
    positions: list[list[int]] = field(default_factory=list)
    accepted_lengths: list[int] = field(default_factory=list)
    whole_rounds: dict[int, int] = field(default_factory=dict)
    passes: dict[int, list[int]] = field(default_factory=dict)
    prefill_ns: int | None = None
    first_round_ns: int | None = None
    grams: int = 0
    new_grams: int = 0


def figures_of(
    totals: Totals, plain: PlainSide, latency_at: Callable[[float], float | None]
) -> Figures:
    """Return the figures over the rounds that were added up.

    Parameters
    ----------
    plain
        The plain target as measured among them.
    latency_at
        Quantile of the nanoseconds between arrivals by its fraction; None without any.
    """
    fates = totals.fates
    accepted = fates[Fate.ACCEPTED]
    tested = accepted + fates[Fate.REJECTED]
    drafted = tested + fates[Fate.DISCARDED]
    draft_ns, verify_ns, accept_ns, commit_ns, observe_ns = totals.times
    round_ns = draft_ns + verify_ns + accept_ns + commit_ns
    acceptance = ratio(accepted, tested)
    rate = ratio(totals.emitted * 1e9, round_ns)
    chosen = plain.chosen
    speedup, speedup_low, speedup_high = speedups(rate, chosen)
    plain_ns = chosen.mean_ns if chosen is not None else None
    c = ratio(ratio(draft_ns, drafted + fates[Fate.CUT]), plain_ns)
    expected, predicted = _predict(totals.whole_rounds, acceptance, c)
    repeated = ratio(totals.grams - totals.new_grams, totals.grams)
    return Figures(
        rounds=totals.rounds,
        plain_rounds=totals.plain_rounds,
        drafted=drafted,
        tested=tested,
        accepted=accepted,
        rejected=fates[Fate.REJECTED],
        discarded=fates[Fate.DISCARDED],
        cut=fates[Fate.CUT],
        bonus=totals.bonus,
        emitted=totals.emitted,
        acceptance=acceptance,
        draft_yield=ratio(accepted, drafted),
        tokens_per_pass=ratio(totals.emitted, totals.rounds),
        positions=_position_figures(totals.positions),
        accepted_lengths=tuple(totals.accepted_lengths),
        repeated_share=repeated,
        repetitive=(repeated or 0.0) > REPETITIVE_SHARE,
        round_ns=round_ns,
        draft_ns=draft_ns,
        verify_ns=verify_ns,
        accept_ns=accept_ns,
        commit_ns=commit_ns,
        observe_ns=observe_ns,
        prefill_ns=totals.prefill_ns,
        first_token_ns=_first_token_ns(totals),
        paced=totals.paced,
        tokens_per_second=rate,
        ms_per_token=ratio(round_ns / 1e6, totals.emitted),
        observe_share=ratio(observe_ns, round_ns),
        latency_ms=_percentiles(latency_at),
        probes=plain.probes,
        baseline=plain.baseline,
        plain_source=plain.source,
        plain=chosen,
        speedup=speedup,
        speedup_low=speedup_low,
        speedup_high=speedup_high,
        c=c,
        pass_costs=_pass_costs(totals.passes, plain_ns),
        expected_tokens_per_pass=expected,
        predicted_speedup=predicted,
    )


def _position_figures(positions: list[list[int]]) -> tuple[PositionFigures, ...]:
    return tuple(
        PositionFigures(
            drafted=drafted,
            tested=tested,
            accepted=accepted,
            acceptance=ratio(accepted, tested),
        )
        for drafted, tested, accepted in positions
    )


def _first_token_ns(totals: Totals) -> int | None:
    if totals.prefill_ns is None or totals.first_round_ns is None:
        return None
    return totals.prefill_ns + totals.first_round_ns


def _percentiles(latency_at: Callable[[float], float | None]) -> Percentiles | None:
    p50, p95, p99 = (latency_at(fraction) for fraction in (0.50, 0.95, 0.99))
    if p50 is None or p95 is None or p99 is None:
        return None
    return Percentiles(p50=p50 / 1e6, p95=p95 / 1e6, p99=p99 / 1e6)


def _pass_costs(passes: dict[int, list[int]], plain_ns: float | None) -> tuple[PassCost, ...]:
    return tuple(
        PassCost(
            drafted=length,
            rounds=rounds,
            mean_ns=ns / rounds,
            cost=ratio(ns / rounds, plain_ns),
        )
        for length, (rounds, ns) in sorted(passes.items())
    )


def _predict(
    whole_rounds: dict[int, int], acceptance: float | None, c: float | None
) -> tuple[float | None, float | None]:
    """Return expected tokens per pass and predicted speed-up, over the lengths really drafted.

    With one k throughout these are (1 - a^(k+1)) / (1 - a) and that over (c k + 1).
    """
    rounds = sum(whole_rounds.values())
    if acceptance is None or rounds == 0:
        return None, None
    lengths = sorted(whole_rounds.items())
    tokens = sum(count * expected_tokens(acceptance, length) for length, count in lengths)
    if c is None:
        return tokens / rounds, None
    cost = sum(count * (c * length + 1.0) for length, count in lengths)
    return tokens / rounds, tokens / cost
