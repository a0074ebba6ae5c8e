"""From events to the figures of the glossary, one event at a time.

Keeps sums and counts, never a round. Knows what each figure divides by; does not know how figures
are shown, nor which rounds are shown so far: whoever wants the figures over a part adds that part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.trace.events import (
    Baseline,
    ClosingKind,
    Event,
    Fate,
    PrefillFinished,
    Probe,
    Round,
)
from engine.trace.figures import (
    Figures,
    PassCost,
    Percentiles,
    PositionFigures,
    expected_tokens,
    ratio,
)
from engine.trace.intervals import Quantiles
from engine.trace.plain import PlainSide, speedups

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["REPETITIVE_SHARE", "Figures", "Statistics", "statistics"]

REPETITIVE_SHARE = 0.6


def statistics(events: Iterable[Event]) -> Figures:
    """Return the figures over these events: a whole trace or any part of one."""
    gathered = Statistics()
    for event in events:
        gathered.add(event)
    return gathered.figures()


class Statistics:
    """Figures over the events added so far.

    Adding costs the same for each round; `figures` costs a few lengths and positions, and nothing
    when no event came in between.
    """

    def __init__(self) -> None:
        self._rounds = 0
        self._plain_rounds = 0
        self._fates = dict.fromkeys(Fate, 0)
        self._bonus = 0
        self._emitted = 0
        self._times = [0, 0, 0, 0, 0]  # draft, verify, accept, commit, observe
        self._paced = False
        self._positions: list[list[int]] = []  # drafted, tested, accepted at each draft position
        self._accepted_lengths: list[int] = []
        self._whole_rounds: dict[int, int] = {}  # rounds by tokens drafted, cut rounds left out
        self._passes: dict[int, list[int]] = {}  # rounds and ns by tokens drafted, cut ones too
        self._latency = Quantiles()
        self._prefill_ns: int | None = None
        self._first_round_ns: int | None = None
        self._plain = PlainSide()
        self._grams = _SeenGrams()
        self._figures: Figures | None = None

    def add(self, event: Event) -> None:
        """Take in one event; those that carry no figure change nothing."""
        match event:
            case Round():
                self._add_round(event)
            case Probe():
                self._plain.add_probe(event.ns)
            case Baseline():
                for ns in event.round_ns:
                    self._plain.add_baseline(ns)
            case PrefillFinished():
                self._prefill_ns = event.ns
            case _:
                return
        self._figures = None

    def figures(self) -> Figures:
        """Return the figures; the same object until another event changes them."""
        if self._figures is None:
            self._figures = self._compute()
        return self._figures

    def _add_round(self, one: Round) -> None:
        self._rounds += 1
        accepted = cut = 0
        for place, token in enumerate(one.drafted):
            fate = token.fate
            self._fates[fate] += 1
            if fate is Fate.CUT:
                cut += 1
                continue
            while place >= len(self._positions):
                self._positions.append([0, 0, 0])
            at = self._positions[place]
            at[0] += 1
            at[1] += fate is not Fate.DISCARDED
            at[2] += fate is Fate.ACCEPTED
            accepted += fate is Fate.ACCEPTED
        length = len(one.drafted)
        self._plain_rounds += length == 0
        self._bonus += one.closing is not None and one.closing.kind is ClosingKind.BONUS
        self._emitted += accepted + (one.closing is not None)
        if cut == 0:
            self._whole_rounds[length] = self._whole_rounds.get(length, 0) + 1
            if length:
                short = accepted + 1 - len(self._accepted_lengths)
                self._accepted_lengths.extend([0] * short)
                self._accepted_lengths[accepted] += 1
        self._add_times(one)
        self._grams.extend(one.emitted_ids)

    def _add_times(self, one: Round) -> None:
        times = one.times
        parts = (times.draft, times.verify, times.accept, times.commit, times.observe)
        self._times = [total + part for total, part in zip(self._times, parts, strict=True)]
        passes = self._passes.setdefault(len(one.drafted), [0, 0])
        passes[0] += 1
        passes[1] += times.verify + times.accept + times.commit
        if one.index == 0:
            self._first_round_ns = times.round
        else:  # the first burst follows the prompt: no interval between two arrivals
            self._latency.add(times.round)
        self._paced = self._paced or one.paced

    def _compute(self) -> Figures:
        fates = self._fates
        accepted = fates[Fate.ACCEPTED]
        tested = accepted + fates[Fate.REJECTED]
        drafted = tested + fates[Fate.DISCARDED]
        draft_ns, verify_ns, accept_ns, commit_ns, observe_ns = self._times
        round_ns = draft_ns + verify_ns + accept_ns + commit_ns
        acceptance = ratio(accepted, tested)
        rate = ratio(self._emitted * 1e9, round_ns)
        plain = self._plain.chosen
        speedup, speedup_low, speedup_high = speedups(rate, plain)
        plain_ns = plain.mean_ns if plain is not None else None
        c = ratio(ratio(draft_ns, drafted + fates[Fate.CUT]), plain_ns)
        expected, predicted = self._predict(acceptance, c)
        return Figures(
            rounds=self._rounds,
            plain_rounds=self._plain_rounds,
            drafted=drafted,
            tested=tested,
            accepted=accepted,
            rejected=fates[Fate.REJECTED],
            discarded=fates[Fate.DISCARDED],
            cut=fates[Fate.CUT],
            bonus=self._bonus,
            emitted=self._emitted,
            acceptance=acceptance,
            draft_yield=ratio(accepted, drafted),
            tokens_per_pass=ratio(self._emitted, self._rounds),
            positions=self._position_figures(),
            accepted_lengths=tuple(self._accepted_lengths),
            repeated_share=self._grams.repeated_share,
            repetitive=(self._grams.repeated_share or 0.0) > REPETITIVE_SHARE,
            round_ns=round_ns,
            draft_ns=draft_ns,
            verify_ns=verify_ns,
            accept_ns=accept_ns,
            commit_ns=commit_ns,
            observe_ns=observe_ns,
            prefill_ns=self._prefill_ns,
            first_token_ns=self._first_token_ns(),
            paced=self._paced,
            tokens_per_second=rate,
            ms_per_token=ratio(round_ns / 1e6, self._emitted),
            observe_share=ratio(observe_ns, round_ns),
            latency_ms=self._percentiles(),
            probes=self._plain.probes,
            baseline=self._plain.baseline,
            plain_source=self._plain.source,
            plain=plain,
            speedup=speedup,
            speedup_low=speedup_low,
            speedup_high=speedup_high,
            c=c,
            pass_costs=self._pass_costs(plain_ns),
            expected_tokens_per_pass=expected,
            predicted_speedup=predicted,
        )

    def _position_figures(self) -> tuple[PositionFigures, ...]:
        return tuple(
            PositionFigures(
                drafted=drafted,
                tested=tested,
                accepted=accepted,
                acceptance=ratio(accepted, tested),
            )
            for drafted, tested, accepted in self._positions
        )

    def _first_token_ns(self) -> int | None:
        if self._prefill_ns is None or self._first_round_ns is None:
            return None
        return self._prefill_ns + self._first_round_ns

    def _percentiles(self) -> Percentiles | None:
        p50, p95, p99 = (self._latency.at(fraction) for fraction in (0.50, 0.95, 0.99))
        if p50 is None or p95 is None or p99 is None:
            return None
        return Percentiles(p50=p50 / 1e6, p95=p95 / 1e6, p99=p99 / 1e6)

    def _pass_costs(self, plain_ns: float | None) -> tuple[PassCost, ...]:
        return tuple(
            PassCost(
                drafted=length,
                rounds=rounds,
                mean_ns=ns / rounds,
                cost=ratio(ns / rounds, plain_ns),
            )
            for length, (rounds, ns) in sorted(self._passes.items())
        )

    def _predict(
        self, acceptance: float | None, c: float | None
    ) -> tuple[float | None, float | None]:
        """Return expected tokens per pass and predicted speed-up, over the lengths really drafted.

        With one k throughout these are (1 - a^(k+1)) / (1 - a) and that over (c k + 1).
        """
        rounds = sum(self._whole_rounds.values())
        if acceptance is None or rounds == 0:
            return None, None
        lengths = self._whole_rounds.items()
        tokens = sum(count * expected_tokens(acceptance, length) for length, count in lengths)
        if c is None:
            return tokens / rounds, None
        cost = sum(count * (c * length + 1.0) for length, count in lengths)
        return tokens / rounds, tokens / cost


class _SeenGrams:
    """How much of a text of ids repeats itself, by 3-grams."""

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._last: tuple[int, ...] = ()
        self._count = 0

    def extend(self, ids: Iterable[int]) -> None:
        """Append ids to the text."""
        for token in ids:
            gram = (*self._last[-2:], token)
            if len(gram) == 3:
                self._count += 1
                # One number a 3-gram: ids stay far below 2^32.
                self._seen.add(gram[0] << 64 | gram[1] << 32 | gram[2])
            self._last = gram

    @property
    def repeated_share(self) -> float | None:
        """3-grams that were there before, over all 3-grams; None below one."""
        return ratio(self._count - len(self._seen), self._count)
