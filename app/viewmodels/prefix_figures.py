"""Figures over the first rounds of a run, while the end of what is shown moves to and fro.

Knows columns of rounds and codes of tokens, and adds up or takes off what lies between two ends.
Knows no event but those that are no rounds, and no clock. The same figures as
`engine.trace.statistics` has over the events themselves.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from app.viewmodels.portion import CODES, FIRST_CLOSING, WORDS
from engine.trace.events import Baseline, ClosingKind, Fate, PrefillFinished, Probe
from engine.trace.imported import Imported
from engine.trace.imported_figures import imported_figures
from engine.trace.plain import PlainSide
from engine.trace.totals import Totals, figures_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from app.viewmodels.columns import RoundColumns
    from app.viewmodels.token_table import TokenTable
    from engine.trace.events import Event
    from engine.trace.figures import Figures, ImportedFigures

    Counts = npt.NDArray[np.int64]

_TIMES = ("draft", "verify", "accept", "commit", "observe")
_CUT, _DISCARDED, _ACCEPTED = CODES[Fate.CUT], CODES[Fate.DISCARDED], CODES[Fate.ACCEPTED]


class PrefixFigures:
    """Figures of a growing run and of any beginning of it.

    Going from one end to another costs the rounds between them.

    Attributes
    ----------
    counted
        Rounds that were added up or taken off so far: tests count this work.
    """

    def __init__(self, columns: RoundColumns, tokens: TokenTable) -> None:
        self.counted = 0
        self._columns = columns
        self._tokens = tokens
        self._rounds = 0  # that are in the counts
        self._by_code: Counts = np.zeros(len(WORDS), np.int64)
        self._by_place: Counts = np.zeros((3, 0), np.int64)  # drafted, tested, accepted
        # By tokens: rounds by how many were kept, rounds by how many were drafted (both without
        # cut rounds), rounds and nanoseconds of their passes by how many were drafted.
        self._by_length: Counts = np.zeros((4, 0), np.int64)
        self._prefill: tuple[int, int] | None = None  # its place among the events, nanoseconds
        self._probe_places: list[int] = []
        self._probe_ns: list[int] = []
        self._baselines: list[Baseline] = []
        self._plain = PlainSide()
        self._probes = 0  # that are in the plain side
        self._imported: ImportedFigures | None = None
        self._key: tuple[int, ...] = ()
        self._figures: Figures | None = None

    def add(self, place: int, event: Event) -> None:
        """Take in an event that is no round; those that carry no figure change nothing.

        A baseline counts over every beginning and not only from its place: it belongs to none.

        Parameters
        ----------
        place
            Its place among all events.
        """
        match event:
            case Probe():
                self._probe_places.append(place)
                self._probe_ns.append(event.ns)
            case PrefillFinished():
                self._prefill = (place, event.ns)
            case Baseline():
                self._baselines.append(event)
                _add_baseline(self._plain, event)
            case Imported():
                self._imported, self._figures = imported_figures(event), None

    def figures(self) -> Figures:
        """Return the figures over everything that has arrived."""
        return self.at(len(self._columns))

    def at(self, rounds: int, end: int | None = None) -> Figures:
        """Return the figures over the first rounds and what was measured among them.

        Parameters
        ----------
        rounds
            How many.
        end
            How many events that is; None: all that have arrived.
        """
        probes = len(self._probe_ns) if end is None else bisect_left(self._probe_places, end)
        prefill = self._prefill
        held = prefill if prefill is not None and (end is None or prefill[0] < end) else None
        key = (rounds, probes, held is not None, len(self._baselines))
        if self._figures is None or key != self._key:
            self._key = key
            self._move_to(rounds)
            self._count_probes(probes)
            totals = self._totals(None if held is None else held[1])
            figures = figures_of(totals, self._plain, _Latency(self._columns, rounds).at)
            self._figures = msgspec.structs.replace(figures, imported=self._imported)
        return self._figures

    def _move_to(self, rounds: int) -> None:
        """Add up, or take off, the rounds between the counted end and another."""
        first, last = sorted((self._rounds, rounds))
        sign = 1 if rounds > self._rounds else -1
        self._rounds = rounds
        self.counted += last - first
        if first == last:
            return
        starts = self._tokens.starts[first : last + 1].astype(np.int64)
        codes = self._tokens.codes[starts[0] : starts[-1]]
        self._by_code += sign * np.bincount(codes, minlength=len(WORDS))
        of_round = np.repeat(np.arange(last - first), np.diff(starts))
        places = np.arange(len(codes)) - (starts[:-1] - starts[0])[of_round]
        drafted = codes < FIRST_CLOSING
        counted = drafted & (codes != _CUT)
        kinds = (counted, counted & (codes != _DISCARDED), codes == _ACCEPTED)
        most = int(places.max(initial=-1)) + 1
        self._by_place = _widened(self._by_place, most)
        for row, kind in zip(self._by_place, kinds, strict=True):
            row[:most] += sign * np.bincount(places[kind], minlength=most)
        lengths = np.bincount(of_round[drafted], minlength=last - first)
        kept = np.bincount(of_round[codes == _ACCEPTED], minlength=last - first)
        whole = np.bincount(of_round[codes == _CUT], minlength=last - first) == 0
        passes = sum(np.diff(self._columns.sums(name)[first : last + 1]) for name in _TIMES[1:4])
        self._count_lengths(sign, lengths, kept, whole, np.asarray(passes))

    def _count_lengths(
        self,
        sign: int,
        lengths: npt.NDArray[np.intp],
        kept: npt.NDArray[np.intp],
        whole: npt.NDArray[np.bool_],
        passes_ns: npt.NDArray[np.float64],
    ) -> None:
        most = int(lengths.max()) + 1
        self._by_length = _widened(self._by_length, most)
        rows = (
            np.bincount(kept[whole & (lengths > 0)], minlength=most),
            np.bincount(lengths[whole], minlength=most),
            np.bincount(lengths, minlength=most),
            np.bincount(lengths, passes_ns, minlength=most).astype(np.int64),
        )
        for held, row in zip(self._by_length, rows, strict=True):
            held[:most] += sign * row

    def _count_probes(self, probes: int) -> None:
        if probes < self._probes:
            self._plain, self._probes = PlainSide(), 0
            for baseline in self._baselines:
                _add_baseline(self._plain, baseline)
        for ns in self._probe_ns[self._probes : probes]:
            self._plain.add_probe(ns)
        self._probes = probes

    def _totals(self, prefill_ns: int | None) -> Totals:
        rounds = self._rounds

        def summed(name: str) -> int:
            return int(self._columns.sums(name)[rounds])

        by_code = self._by_code.tolist()
        kept, whole, passes, passes_ns = self._by_length.tolist()
        emitted = summed("emitted")
        return Totals(
            rounds=rounds,
            plain_rounds=passes[0] if passes else 0,
            fates={fate: by_code[CODES[fate]] for fate in Fate},
            bonus=by_code[CODES[ClosingKind.BONUS]],
            emitted=emitted,
            times=[summed(name) for name in _TIMES],
            paced=summed("paced") > 0,
            disturbed=summed("disturbed") > 0,
            positions=_trimmed(self._by_place.T.tolist()),
            accepted_lengths=_trimmed(kept),
            whole_rounds={length: count for length, count in enumerate(whole) if count},
            passes={n: [passes[n], passes_ns[n]] for n in range(len(passes)) if passes[n]},
            prefill_ns=prefill_ns,
            first_round_ns=int(self._columns.sums("round_ns")[1]) if rounds else None,
            grams=max(0, emitted - 2),
            new_grams=summed("new_grams"),
        )


class _Latency:
    """Quantiles of the time between arrivals over the first rounds."""

    def __init__(self, columns: RoundColumns, rounds: int) -> None:
        # The first burst follows the prompt: no interval between two arrivals.
        self._ns = np.diff(columns.sums("round_ns")[1 : rounds + 1])

    def at(self, fraction: float) -> float | None:
        """Return the quantile, linear between the two nearest samples; None without samples."""
        if not len(self._ns):
            return None
        place = fraction * (len(self._ns) - 1)
        low = math.floor(place)
        high = min(low + 1, len(self._ns) - 1)
        self._ns.partition((low, high))
        below, above = int(self._ns[low]), int(self._ns[high])
        return below + (above - below) * (place - low)


def _add_baseline(plain: PlainSide, baseline: Baseline) -> None:
    for ns in baseline.round_ns:
        plain.add_baseline(ns)


def _widened(counts: Counts, width: int) -> Counts:
    """Return counts with at least so many columns."""
    missing = width - counts.shape[1]
    return counts if missing <= 0 else np.pad(counts, ((0, 0), (0, missing)))


def _trimmed(counts: list[int] | list[list[int]]) -> list:  # type: ignore[type-arg]  # as it came
    """Leave out zeros at the end: nothing was ever counted there."""
    while counts and (counts[-1] == 0 or counts[-1] == [0, 0, 0]):
        counts.pop()
    return counts
