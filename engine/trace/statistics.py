"""From events to the figures of the glossary, one event at a time.

Keeps sums and counts, never a round. Does not know what figures divide by (`totals` does), how
they are shown, nor which rounds are shown so far: whoever wants the figures over a part adds it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from engine.trace.events import (
    Baseline,
    ClosingKind,
    Event,
    Fate,
    PrefillFinished,
    Probe,
    Round,
)
from engine.trace.figures import Figures
from engine.trace.imported import Imported
from engine.trace.imported_figures import imported_figures
from engine.trace.intervals import Quantiles
from engine.trace.plain import PlainSide
from engine.trace.totals import REPETITIVE_SHARE, Totals, figures_of

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["REPETITIVE_SHARE", "Figures", "Statistics", "statistics"]


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
        self._totals = Totals()
        self._latency = Quantiles()
        self._plain = PlainSide()
        self._grams = SeenGrams()
        self._imported: Imported | None = None
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
                self._totals.prefill_ns = event.ns
            case Imported():
                self._imported = event
            case _:
                return
        self._figures = None

    def figures(self) -> Figures:
        """Return the figures; the same object until another event changes them."""
        if self._figures is None:
            self._figures = figures_of(self._totals, self._plain, self._latency.at)
            if self._imported is not None:
                told = imported_figures(self._imported)
                self._figures = msgspec.structs.replace(self._figures, imported=told)
        return self._figures

    def _add_round(self, one: Round) -> None:
        totals = self._totals
        totals.rounds += 1
        accepted = cut = 0
        for place, token in enumerate(one.drafted):
            fate = token.fate
            totals.fates[fate] += 1
            if fate is Fate.CUT:
                cut += 1
                continue
            while place >= len(totals.positions):
                totals.positions.append([0, 0, 0])
            at = totals.positions[place]
            at[0] += 1
            at[1] += fate is not Fate.DISCARDED
            at[2] += fate is Fate.ACCEPTED
            accepted += fate is Fate.ACCEPTED
        length = len(one.drafted)
        totals.plain_rounds += length == 0
        totals.bonus += one.closing is not None and one.closing.kind is ClosingKind.BONUS
        totals.emitted += accepted + (one.closing is not None)
        if cut == 0:
            totals.whole_rounds[length] = totals.whole_rounds.get(length, 0) + 1
            if length:
                short = accepted + 1 - len(totals.accepted_lengths)
                totals.accepted_lengths.extend([0] * short)
                totals.accepted_lengths[accepted] += 1
        self._add_times(one)
        totals.new_grams += self._grams.extend(one.emitted_ids)
        totals.grams = self._grams.count

    def _add_times(self, one: Round) -> None:
        totals, times = self._totals, one.times
        parts = (times.draft, times.verify, times.accept, times.commit, times.observe)
        totals.times = [total + part for total, part in zip(totals.times, parts, strict=True)]
        passes = totals.passes.setdefault(len(one.drafted), [0, 0])
        passes[0] += 1
        passes[1] += times.verify + times.accept + times.commit
        if one.index == 0:
            totals.first_round_ns = times.round
        else:  # the first burst follows the prompt: no interval between two arrivals
            self._latency.add(times.round)
        totals.paced = totals.paced or one.paced
        totals.disturbed = totals.disturbed or one.disturbed


class SeenGrams:
    """How much of a text of ids repeats itself, by 3-grams.

    Attributes
    ----------
    count
        3-grams so far.
    """

    def __init__(self) -> None:
        self.count = 0
        self._seen: set[int] = set()
        self._last: tuple[int, ...] = ()

    def extend(self, ids: Iterable[int]) -> int:
        """Append ids to the text; return how many of their 3-grams had not been there before."""
        before = len(self._seen)
        for token in ids:
            gram = (*self._last[-2:], token)
            if len(gram) == 3:
                self.count += 1
                # One number a 3-gram: ids stay far below 2^32.
                self._seen.add(gram[0] << 64 | gram[1] << 32 | gram[2])
            self._last = gram
        return len(self._seen) - before
