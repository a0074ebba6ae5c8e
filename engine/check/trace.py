"""A trace derived again from its own numbers: which of its verdicts follow, and which do not.

Each verdict follows from p_target, q_draft and u; each u from the seed, a position and a purpose;
laws, draws, texts, lengths and reasons from one another. Knows events; needs no weights, no torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from engine.check.ending import (
    check_baseline,
    check_comparison,
    check_end_of_round,
    check_finish,
)
from engine.check.findings import Finding, Kind, Ledger
from engine.check.imported import check_imported
from engine.check.ranges import check_ranges
from engine.check.record import Record
from engine.check.rounds import check_round
from engine.check.text import TextReadings
from engine.trace.events import (
    Baseline,
    Comparison,
    Event,
    Laws,
    PrefillFinished,
    Probe,
    Round,
    RunFinished,
    RunStarted,
    SettingsChanged,
)
from engine.trace.imported import Imported
from engine.trace.markers import Marker, SessionNote
from engine.trace.statistics import Statistics

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What was looked at, and what does not follow."""

    run: str
    rounds: int
    emitted: int
    imported: str = ""  # the program whose counts these are; then there are no rounds
    finished: bool  # False: the trace was broken off, which is no fault
    looked_at: dict[str, int]  # checks done, by `Kind`
    findings: tuple[Finding, ...]


def check_trace(events: Iterable[Event]) -> Report:
    """Derive a whole trace again, event by event.

    Parameters
    ----------
    events
        In order, as `TraceReader` gives them; they may break off after any.
    """
    checker = TraceChecker()
    for event in events:
        checker.add(event)
    return checker.report()


class RunsChecker:
    """Takes the events of a whole file one by one, whose runs may be several and may be mixed."""

    def __init__(self) -> None:
        self._checkers: dict[str, TraceChecker] = {}
        self._last = TraceChecker()  # of the run that began last: takes what belongs to none

    def add(self, event: Event) -> None:
        """Check one event against all before it of its run."""
        if isinstance(event, RunStarted) and event.run not in self._checkers:
            self._last = self._checkers[event.run] = TraceChecker()
        self._checkers.get(event.run, self._last).add(event)

    def reports(self) -> list[Report]:
        """Return a report for each run, in the order in which they began."""
        return [checker.report() for checker in self._checkers.values()]


class TraceChecker:
    """Takes a run's events one by one; keeps ids and counts, never a round."""

    def __init__(self) -> None:
        self._ledger = Ledger()
        self._record: Record | None = None
        self._statistics = Statistics()
        self._texts: TextReadings | None = None  # None: no longer followed
        self._pieces: dict[int, bytes] = {}
        self._text: list[str] = []
        self._finished: RunFinished | None = None
        self._baseline: Baseline | None = None
        self._seen: set[type[Event]] = set()
        self._imported = ""  # the other program, where the counts are its
        self._settings_due = False  # those of the start, whose ranges are another program's perhaps

    def add(self, event: Event) -> None:
        """Check one event against all before it."""
        ledger = self._ledger
        ledger.at(None)
        if isinstance(event, RunStarted):
            ledger.holds(Kind.ORDER, "run_started", self._record is None, "another", "one, first")
            self._start(event)
            return
        record = self._record
        if record is None:
            ledger.holds(Kind.ORDER, "first event", False, type(event).__name__, "RunStarted")
            return
        ledger.equal(Kind.ORDER, "run", event.run, record.started.run)
        if isinstance(event, Marker | SessionNote):
            self._check_words(event, record)
            return
        self._check_order(event)
        self._check_settings(record, of_another_program=isinstance(event, Imported))
        self._statistics.add(event)
        match event:
            case Round():
                self._add_round(event, record)
            case SettingsChanged():
                ledger.equal(Kind.ORDER, "round of a change", event.before_round, record.rounds)
                record.change(event.settings)
                check_ranges(event.settings, record.started.target.vocabulary, ledger)
            case Probe():
                ledger.equal(Kind.ORDER, "round of a probe", event.after_round, record.rounds - 1)
            case PrefillFinished():
                ledger.equal(Kind.ORDER, "rounds before the prefill", record.rounds, 0)
            case Imported():
                ledger.equal(Kind.ORDER, "rounds beside imported counts", record.rounds, 0)
                check_imported(event, record.started, ledger)
                self._imported = event.program
            case RunFinished() if self._imported:
                self._finished = event  # its reason is the other program's word
            case RunFinished():
                self._finish(event, record)
            case Baseline():
                text = None if self._texts is None else "".join(self._text)
                check_baseline(event, text, record, ledger)
                self._baseline = event
            case Comparison():
                check_comparison(event, self._baseline, record, ledger)

    def report(self) -> Report:
        """Return what was found in the events so far."""
        self._ledger.at(None)
        record = self._record
        if record is not None:
            self._check_settings(record)
            self._check_sums(record)
        return Report(
            run="" if record is None else record.started.run,
            rounds=0 if record is None else record.rounds,
            emitted=0 if record is None else len(record.emitted),
            imported=self._imported,
            finished=self._finished is not None,
            looked_at={kind.value: self._ledger.looked_at[kind] for kind in Kind},
            findings=tuple(self._ledger.findings),
        )

    def _check_words(self, event: Marker | SessionNote, record: Record) -> None:
        """Check what someone added: it may come at any time, and stands where something is."""
        if isinstance(event, Marker):
            there = -1 <= event.round < record.rounds
            self._ledger.holds(Kind.ORDER, "marker", there, event.round, f"< {record.rounds}")

    def _start(self, started: RunStarted) -> None:
        self._record = Record.of(started)
        self._settings_due = True
        self._texts = TextReadings(started.stop_strings, at_start=not started.raw)
        for piece in started.prompt_tokens:
            self._check_piece(piece.id, piece.piece)

    def _check_settings(self, record: Record, *, of_another_program: bool = False) -> None:
        """Check once whether the engine would have taken the settings of the start."""
        if self._settings_due and not of_another_program:
            settings, vocabulary = record.started.settings, record.started.target.vocabulary
            check_ranges(settings, vocabulary, self._ledger)
        self._settings_due = False

    def _check_order(self, event: Event) -> None:
        kind = type(event)
        name = kind.__name__
        if kind in (PrefillFinished, Imported, RunFinished, Baseline, Comparison):
            self._ledger.holds(Kind.ORDER, name, kind not in self._seen, "another", "at most one")
        self._seen.add(kind)
        late = self._finished is not None
        if kind in (Baseline, Comparison):
            self._ledger.holds(Kind.ORDER, name, late, "before the run finished", "after it")
        else:
            self._ledger.holds(Kind.ORDER, name, not late, "after the run finished", "before it")

    def _add_round(self, one: Round, record: Record) -> None:
        ledger = self._ledger
        if record.end is not None:
            ledger.at(one.index)
            ledger.holds(Kind.ENDING, "round", False, "one", f"none: the text ended, {record.end}")
        check_round(one, record, ledger)
        ledger.at(one.index)
        for token, piece in _pieces(one):
            self._check_piece(token, piece)
        self._read_texts(one, record.started.end_tokens)
        check_end_of_round(one, record, self._texts, ledger)
        record.commit(one)

    def _check_piece(self, token: int, piece: bytes) -> None:
        known = self._pieces.setdefault(token, piece)
        self._ledger.equal(Kind.TEXT, f"bytes of token {token}", piece, known)

    def _read_texts(self, one: Round, end_tokens: tuple[int, ...]) -> None:
        """Follow the texts of a round through the bytes of its tokens."""
        ledger, ids = self._ledger, one.emitted_ids
        self._text += one.texts
        if not ledger.equal(Kind.TEXT, "texts", len(one.texts), len(ids)):
            self._texts = None
        for token, released in zip(ids, one.texts, strict=False):
            if self._texts is None:
                return
            wrong = self._texts.add(self._pieces[token], released, ends=token in end_tokens)
            what = f"text of token {token}"
            if not ledger.holds(Kind.TEXT, what, wrong is None, repr(released), wrong):
                self._texts = None

    def _finish(self, event: RunFinished, record: Record) -> None:
        self._finished = event
        self._text.append(event.tail)
        wrong: str | None = None
        if self._texts is not None:
            wrong = self._texts.finish(event.tail)
            self._ledger.holds(Kind.TEXT, "tail", wrong is None, repr(event.tail), wrong)
        check_finish(event, record, self._texts, self._ledger)
        if wrong is not None:
            self._texts = None

    def _check_sums(self, record: Record) -> None:
        """Check that the figures over the trace count what the trace holds."""
        figures, ledger = self._statistics.figures(), self._ledger
        # A finished run gave the rest of its text, too; an imported one has no texts at all.
        texts = len(self._text) - (self._finished is not None and not self._imported)
        places = figures.positions
        sums: list[tuple[str, int, int]] = [
            ("rounds", figures.rounds, record.rounds),
            ("emitted", figures.emitted, len(record.emitted)),
            ("emitted, as texts", figures.emitted, texts),
            ("tested", figures.tested, figures.accepted + figures.rejected),
            ("drafted", figures.drafted, figures.tested + figures.discarded),
            ("drafted by position", sum(at.drafted for at in places), figures.drafted),
            ("tested by position", sum(at.tested for at in places), figures.tested),
            ("accepted by position", sum(at.accepted for at in places), figures.accepted),
        ]
        for what, recorded, follows in sums:
            ledger.equal(Kind.STATISTICS, what, recorded, follows)


def _pieces(one: Round) -> Iterator[tuple[int, bytes]]:
    """Yield every token of a round with its bytes, wherever it stands."""
    for token in (*one.drafted, one.closing):
        if token is None:
            continue
        yield token.id, token.piece
        if isinstance(token.laws, Laws):
            yield from zip(token.laws.ids, token.laws.pieces, strict=True)
