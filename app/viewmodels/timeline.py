"""A run along engine time: where each phase lies, and where the presentation cursor stands.

Knows the rounds' times, the probes and the changes of settings. Knows no pixel (`time_window`
and the painter do) and computes no figure.

Engine time here is the sum of the rounds' phases, observation included, one round after the
other; prefill, probes and waiting for the picture take no room.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from app.viewmodels.columns import PHASES, columns_of
from app.viewmodels.draft_ends import short_label
from app.viewmodels.presentation import Cursor
from app.viewmodels.readings import DASH, milliseconds
from app.viewmodels.settings_words import change_words

if TYPE_CHECKING:
    import numpy.typing as npt

    from app.viewmodels.document import Document
    from engine.trace.events import Settings, SettingsChanged
    from engine.trace.markers import Marker

    Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Span:
    """One phase of one round, in nanoseconds from the first round's start."""

    round: int
    phase: str
    start_ns: float
    end_ns: float


@dataclass(frozen=True)
class Mark:
    """A changed setting: it holds from this instant on."""

    at_ns: float
    label: str


@dataclass(frozen=True)
class Flag:
    """A marker and where it stands."""

    at_ns: float
    marker: Marker


class TimelineModel:
    """The spans of a document's rounds, found by time without walking the rounds.

    Attributes
    ----------
    marks
        Changes of settings, in order.
    flags
        Markers with the instants they stand at, in order.
    probe_ns
        Instants at which a probe was measured, shape [probes].
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._run: str | None = None
        self._seen = 0  # changes taken in
        self._flagged: tuple[Marker, ...] | None = None
        self.flags: list[Flag] = []
        self._probe_ns: Array = np.empty(0)
        self._forget()
        self.update()

    def update(self) -> None:
        """Take in what has arrived since the last call."""
        document = self._document
        self._columns = columns_of(document)
        if document.run != self._run or len(document.changes) < self._seen:
            self._run = document.run
            self._forget()
        self._ends = self._columns.sums("span_ns")
        if document.markers is not self._flagged:
            self._flagged = document.markers
            self.flags = [Flag(self._instant_of(marker), marker) for marker in self._flagged]
        self._changes += islice(document.changes, self._seen, None)
        self._seen = len(document.changes)
        while self._changes and self._changes[0].before_round <= len(self):
            self._mark(self._changes.pop(0))
        if len(document.probes) > len(self._probes):
            for probe in islice(document.probes, len(self._probes), None):
                at = min(probe.after_round + 1, len(self))
                self._probes.append((float(self._ends[at]), float(probe.ns)))
            self._probe_ns = np.array([at for at, _ in self._probes])

    def _instant_of(self, marker: Marker) -> float:
        drafted = self._drafted(marker.round) if 0 <= marker.round < len(self) else 0
        return self.cursor_ns(Cursor(marker.round, marker.phase, drafted))

    def _forget(self) -> None:
        self._seen = 0
        self._changes: list[SettingsChanged] = []
        self._settings: Settings | None = None
        self._largest_k = 0
        self.marks: list[Mark] = []
        self._probes: list[tuple[float, float]] = []
        self._probe_ns = np.empty(0)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def duration_ns(self) -> float:
        """Sum of all phases of all rounds."""
        return float(self._ends[-1])

    @property
    def probe_ns(self) -> Array:
        """Where probes were measured, in order."""
        return self._probe_ns

    @property
    def largest_k(self) -> int:
        """The longest draft asked for so far, at least 1."""
        started = self._document.started
        return max(1, self._largest_k, started.settings.k if started else 0)

    def _mark(self, change: SettingsChanged) -> None:
        before = self._settings
        if before is None and self._document.started is not None:
            before = self._document.started.settings
        self._settings = change.settings
        self._largest_k = max(self._largest_k, change.settings.k)
        at = float(self._ends[change.before_round])
        self.marks.append(Mark(at, change_words(before, change.settings)))

    @property
    def empty(self) -> str:
        """Say why there is nothing to show."""
        told = self._document.imported
        return "no round yet" if told is None else f"{told.program} tells no times of phases"

    def round_bounds_ns(self, index: int) -> tuple[float, float]:
        """Return where a round begins and ends."""
        return float(self._ends[index]), float(self._ends[index + 1])

    def round_at(self, ns: float) -> int:
        """Return the round that runs at an instant; the first or last one outside; -1 if none."""
        found = int(np.searchsorted(self._ends[1:], ns, side="right"))
        return min(max(found, 0), len(self) - 1)

    def rounds_between(self, start_ns: float, end_ns: float) -> tuple[int, int]:
        """Return the half-open range of rounds that overlap an interval."""
        if end_ns <= start_ns or not len(self):
            return 0, 0
        first = int(np.searchsorted(self._ends[1:], start_ns, side="right"))
        last = int(np.searchsorted(self._ends[:-1], end_ns, side="left"))
        return first, max(first, last)

    def spans(self, first: int, last: int) -> list[Span]:
        """Return the phases of rounds first, ..., last - 1 that took any time."""
        out: list[Span] = []
        for index in range(first, last):
            at = float(self._ends[index])
            for phase, ns in self.phase_ns(index).items():
                if ns > 0:
                    out.append(Span(index, phase, at, at + ns))
                at += ns
        return out

    def phase_ns(self, index: int) -> dict[str, float]:
        """Return nanoseconds of each phase of a round, in order."""
        sums = {phase: self._columns.sums(phase) for phase in PHASES}
        return {phase: float(one[index + 1] - one[index]) for phase, one in sums.items()}

    def accepted(self, index: int) -> int:
        """Return how many drafted tokens a round kept."""
        sums = self._columns.sums("accepted")
        return int(sums[index + 1] - sums[index])

    def accepted_label(self, index: int) -> str:
        """Write what a round kept; a dash where nothing was drafted."""
        return str(self.accepted(index)) if self._drafted(index) else DASH

    def _drafted(self, index: int) -> int:
        sums = self._columns.sums("drafted")
        return int(sums[index + 1] - sums[index])

    def shares(self, edges_ns: Array) -> dict[str, Array]:
        """Return each phase's share of the time between neighbouring edges, exactly.

        Parameters
        ----------
        edges_ns
            Rising instants, shape [n + 1].

        Returns
        -------
        dict
            By phase, shape [n], in [0, 1].
        """
        if not len(self):
            return {phase: np.zeros(len(edges_ns) - 1) for phase in PHASES}
        at = np.clip(edges_ns, 0.0, self.duration_ns)
        rounds = np.searchsorted(self._ends[1:], at, side="right").clip(0, len(self) - 1)
        offset = at - self._ends[rounds]
        width = np.maximum(np.diff(edges_ns), 1e-9)
        out = {}
        for phase in PHASES:
            sums = self._columns.sums(phase)
            own = sums[rounds + 1] - sums[rounds]
            spent = sums[rounds] + np.clip(offset, 0.0, own)
            out[phase] = np.diff(spent) / width
            offset = offset - own
        return out

    def mean_accepted(self, edges_ns: Array) -> Array:
        """Return accepted tokens a round between edges, shape [n]; NaN past the end."""
        if not len(self):
            return np.full(len(edges_ns) - 1, np.nan)
        first = np.searchsorted(self._ends[1:], edges_ns[:-1], side="right")
        last = np.searchsorted(self._ends[:-1], edges_ns[1:], side="left")
        last = np.minimum(np.maximum(last, first + 1), len(self))
        sums = self._columns.sums("accepted")
        first = np.minimum(first, len(self))
        out = np.full(len(first), np.nan)
        rounds = last - first
        np.divide(sums[last] - sums[first], rounds, out=out, where=rounds > 0)
        return out

    def cursor_ns(self, cursor: Cursor) -> float:
        """Return the instant that the picture shows: revealed tokens share their phase's time."""
        if cursor.round < 0 or not len(self):
            return 0.0
        index = min(cursor.round, len(self) - 1)
        start, end = self.round_bounds_ns(index)
        if cursor.phase == "done":
            return end
        phases = self.phase_ns(index)
        part = cursor.revealed / max(1, self._drafted(index))
        if cursor.phase == "draft":
            return start + part * phases["draft"]
        return start + phases["draft"] + part * (phases["verify"] + phases["accept"])

    def describe(self, index: int, phase: str | None = None) -> str:
        """Say a round in one line: what was accepted, why few were drafted, its phases' times."""
        one = self._document.rounds[index]
        tested = one.accepted + one.rejected
        verdict = f"{one.accepted}/{tested} accepted" if tested else "no draft"
        verdict += f" ({short_label(one)})" if one.draft_end is not None else ""
        phases = self.phase_ns(index)
        if phase is not None:
            whole = milliseconds(sum(phases.values()))
            return (
                f"round {index + 1}: {phase} {milliseconds(phases[phase])} of {whole} ms, {verdict}"
            )
        times = " · ".join(f"{name} {milliseconds(ns)}" for name, ns in phases.items())
        return f"round {index + 1}: {verdict} · {times} ms"

    def describe_probe(self, index: int) -> str:
        """Say a probe in one line."""
        return f"probe: a plain round took {milliseconds(self._probes[index][1])} ms"
