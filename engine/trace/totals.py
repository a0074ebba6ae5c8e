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

    Quantile = Callable[[float], float | None]

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
    disturbed: bool = False
    positions: list[list[int]] = field(default_factory=list)
    accepted_lengths: list[int] = field(default_factory=list)
    whole_rounds: dict[int, int] = field(default_factory=dict)
    passes: dict[int, list[int]] = field(default_factory=dict)
    prefill_ns: int | None = None
    first_round_ns: int | None = None
    grams: int = 0
    new_grams: int = 0

    @property
    def accepted(self) -> int:
        """Drafted tokens kept."""
        return self.fates[Fate.ACCEPTED]

    @property
    def tested(self) -> int:
        """Drafted tokens accepted or rejected."""
        return self.accepted + self.fates[Fate.REJECTED]

    @property
    def drafted(self) -> int:
        """Drafted tokens tested or discarded."""
        return self.tested + self.fates[Fate.DISCARDED]

    @property
    def repeated_share(self) -> float | None:
        """3-grams that had been there before, over all 3-grams; None below one."""
        return ratio(self.grams - self.new_grams, self.grams)

    @property
    def repetitive(self) -> bool:
        """Whether the text repeats itself so much that its acceptance says little."""
        return (self.repeated_share or 0.0) > REPETITIVE_SHARE

    @property
    def round_ns(self) -> int:
        """The rounds' own time: without observation."""
        return sum(self.times[:4])


def figures_of(totals: Totals, plain: PlainSide, latency_at: Quantile) -> Figures:
    """Return the figures over the rounds that were added up, and `plain` as measured among them.

    Parameters
    ----------
    latency_at
        Quantile of the nanoseconds between arrivals by its fraction; None without any.
    """
    accepted, tested, drafted = totals.accepted, totals.tested, totals.drafted
    fates, times = totals.fates, totals.times
    chosen = plain.chosen
    plain_ns = None if chosen is None else chosen.mean_ns
    rate = ratio(totals.emitted * 1e9, totals.round_ns)
    speedup, speedup_low, speedup_high = speedups(rate, chosen)
    c, expected, predicted = _cost_model(totals, plain_ns)
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
        acceptance=ratio(accepted, tested),
        draft_yield=ratio(accepted, drafted),
        tokens_per_pass=ratio(totals.emitted, totals.rounds),
        positions=_position_figures(totals.positions),
        accepted_lengths=tuple(totals.accepted_lengths),
        repeated_share=totals.repeated_share,
        repetitive=totals.repetitive,
        round_ns=totals.round_ns,
        draft_ns=times[0],
        verify_ns=times[1],
        accept_ns=times[2],
        commit_ns=times[3],
        observe_ns=times[4],
        prefill_ns=totals.prefill_ns,
        first_token_ns=_first_token_ns(totals),
        paced=totals.paced,
        disturbed=totals.disturbed,
        tokens_per_second=rate,
        ms_per_token=ratio(totals.round_ns / 1e6, totals.emitted),
        observe_share=ratio(times[4], totals.round_ns),
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


def _percentiles(latency_at: Quantile) -> Percentiles | None:
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


def _cost_model(
    totals: Totals, plain_ns: float | None
) -> tuple[float | None, float | None, float | None]:
    """Return c, expected tokens per pass and predicted speed-up, over the lengths really drafted.

    With one k throughout the latter are (1 - a^(k+1)) / (1 - a) and that over (c k + 1).
    """
    acceptance = ratio(totals.accepted, totals.tested)
    c = ratio(ratio(totals.times[0], totals.drafted + totals.fates[Fate.CUT]), plain_ns)
    rounds = sum(totals.whole_rounds.values())
    if acceptance is None or rounds == 0:
        return c, None, None
    lengths = sorted(totals.whole_rounds.items())
    tokens = sum(count * expected_tokens(acceptance, length) for length, count in lengths)
    if c is None:
        return c, tokens / rounds, None
    cost = sum(count * (c * length + 1.0) for length, count in lengths)
    return c, tokens / rounds, tokens / cost
