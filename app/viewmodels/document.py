"""The events of one run, gathered for the panels: what has arrived, not what is shown so far.

Knows where each token stands and the figures over the first rounds. Does not know how fast it is
shown (`presentation`). A running session and a file look the same: of both the panels have columns
and tokens of every round, and a whole round is read back from the file where it is looked at.
"""

from __future__ import annotations

from bisect import bisect_right
from copy import copy
from typing import TYPE_CHECKING

import numpy as np

from app.viewmodels.columns import ROW, RoundColumns
from app.viewmodels.kept_rounds import KeptEvents, KeptRounds
from app.viewmodels.portion import Gatherer
from app.viewmodels.prefix_figures import PrefixFigures
from app.viewmodels.refs import CLOSING_SLOT, PROMPT_ROUND, TokenRef
from app.viewmodels.token_table import TokenTable
from engine.trace.events import (
    Baseline,
    ClosingToken,
    Comparison,
    DraftedToken,
    Event,
    Fate,
    PrefillFinished,
    Probe,
    Round,
    RunFinished,
    RunStarted,
    Settings,
    SettingsChanged,
    TokenPiece,
)
from engine.trace.imported import Imported
from engine.trace.markers import Marker, SessionNote, markers_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from app.viewmodels.portion import Portion
    from engine.trace.events import ModelInfo
    from engine.trace.figures import Figures

AnyToken = TokenPiece | DraftedToken | ClosingToken


class Document:
    """One run's events in order, with what panels look up in them.

    Attributes
    ----------
    events, rounds, probes, changes
        In order of arrival; `rounds[i].index == i`. What of the first two is not held is decoded
        when it is asked for: for what concerns all rounds take `columns` and `tokens`.
    columns, tokens
        Of all rounds, in a few hundred bytes each.
    started, imported, prefill, baseline, comparison, finished
        The events of which a run has one, or None while they have not arrived.
    markers
        Those that hold, in the order of their moments.
    session_note
        What the run is called and what is said of it; empty if nobody said.
    run
        The run id, or None before the run started.
    statistics
        Figures over all events that have arrived, or over a part of them.
    version
        Increases with each change; panels compare it to know whether anything arrived.
    """

    def __init__(self, events: Sequence[Event] = ()) -> None:
        self.version = 0
        self._empty()
        self.extend(events)

    def clear(self) -> None:
        """Forget everything; the next `RunStarted` begins a new run."""
        self.version += 1
        self._empty()

    def _empty(self) -> None:
        self.rounds = KeptRounds()
        self.events = KeptEvents(self.rounds)
        self.columns = RoundColumns()
        self.tokens = TokenTable()
        self.statistics = PrefixFigures(self.columns, self.tokens)
        self.probes: list[Probe] = []
        self.changes: list[SettingsChanged] = []
        self.started: RunStarted | None = None
        self.imported: Imported | None = None
        self.prefill: PrefillFinished | None = None
        self.baseline: Baseline | None = None
        self.comparison: Comparison | None = None
        self.finished: RunFinished | None = None
        self.markers: tuple[Marker, ...] = ()
        self.session_note = SessionNote(run="")
        self.run: str | None = None
        self._gatherer = Gatherer()
        self._drafters: list[ModelInfo | None] = []  # from each of the changes on
        self._marked: list[Marker] = []  # all that were ever set

    def read_from(self, path: Path) -> None:
        """Hold the newest rounds only: this file has the run's events and no other."""
        self.rounds.set_file(path)

    def extend(self, events: Sequence[Event]) -> int:
        """Take in events of this run and return how many were taken.

        The first `RunStarted` decides the run. Events of another run are stale: they were on their
        way when this one began, and are dropped.

        Raises
        ------
        DraftscopeError
            If a round is missing or comes twice: then the session file is damaged. What came
            before it is there.
        """
        taken: list[Event] = []
        self._gatherer.run = self.run
        try:
            for event in events:
                if self._gatherer.add(event):
                    taken.append(event)
        finally:
            if taken:
                portion = self._gatherer.portion()
                rounds = [event for event in taken if isinstance(event, Round)]
                self.rounds.hold(rounds, self._placed(portion))
                self._take(portion)
        return len(taken)

    def take(self, portion: Portion, path: Path) -> None:
        """Take in events that were condensed where they were read, from this file.

        Raises
        ------
        DraftscopeError
            If it cannot be opened any more.
        """
        self.rounds.note(path, portion.lines, self._placed(portion))
        self._take(portion)

    def _placed(self, portion: Portion) -> list[int]:
        """Return the places of a portion's rounds among all events."""
        before = len(self.events)
        return [before + place for place in portion.round_places]

    def _take(self, portion: Portion) -> None:
        before = len(self.events) - portion.rounds
        self.run = self.rounds.run = portion.run
        self.columns.extend(np.frombuffer(portion.rows, "<f8").reshape(-1, ROW))
        for place, event in portion.others:
            self._place(before + place, event)
        self.tokens.extend(portion)
        self.version += 1

    def _place(self, place: int, event: Event) -> None:
        self.events.add(place, event)
        self.statistics.add(place, event)
        match event:
            case Probe():
                self.probes.append(event)
            case SettingsChanged():
                self._drafters.append(self._drafter_after(event))
                self.changes.append(event)
            case RunStarted():
                self.started = event
                self.tokens.begin_after([token.piece for token in event.prompt_tokens])
            case Imported():
                self.imported = event
            case PrefillFinished():
                self.prefill = event
            case Baseline():
                self.baseline = event
            case Comparison():
                self.comparison = event
            case RunFinished():
                self.finished = event
            case Marker():
                self._marked.append(event)
                self.markers = markers_of(self._marked)
            case SessionNote():
                self.session_note = event

    @property
    def known_markers(self) -> tuple[Marker, ...]:
        """All markers that were ever set, those that were changed or taken away too."""
        return tuple(self._marked)

    def altered(self, alter: Callable[[Event], Event]) -> Document:
        """Return the same run as far as it is, its first event and its settings' changes altered.

        Both share what was gathered: it is for one look at what is there now.
        """
        other = copy(self)
        other.changes, other._drafters = [], []
        if self.started is not None:
            started = alter(self.started)
            other.started = started if isinstance(started, RunStarted) else self.started
        for change in map(alter, self.changes):
            if isinstance(change, SettingsChanged):
                other._drafters.append(other._drafter_after(change))
                other.changes.append(change)
        return other

    def token(self, ref: TokenRef) -> AnyToken | None:
        """Return the token at `ref`, or None if there is none (yet)."""
        if ref.in_prompt:
            tokens: Sequence[AnyToken] = self.started.prompt_tokens if self.started else ()
        elif 0 <= ref.round < len(self.rounds):
            if ref.is_closing:
                return self.rounds[ref.round].closing
            tokens = self.rounds[ref.round].drafted
        else:
            return None
        return tokens[ref.slot] if 0 <= ref.slot < len(tokens) else None

    def ref_at(self, position: int) -> TokenRef | None:
        """Return the token at an index into prompt + emitted tokens, or None past their end."""
        prompt = len(self.started.prompt_tokens) if self.started else 0
        if 0 <= position < prompt:
            return TokenRef(PROMPT_ROUND, position)
        starts = self.columns.gauge("position")
        found = int(np.searchsorted(starts, position, side="right")) - 1
        if found < 0:
            return None
        one = self.rounds[found]
        offset = position - one.position
        if offset >= one.emitted:
            return None
        return TokenRef(found, offset if offset < one.accepted else CLOSING_SLOT)

    def position_of(self, ref: TokenRef) -> int | None:
        """Return the index in prompt + emitted tokens that a token has or stood for."""
        if self.token(ref) is None:
            return None
        if ref.in_prompt:
            return ref.slot
        one = self.rounds[ref.round]
        return one.position + (one.accepted if ref.is_closing else ref.slot)

    def is_emitted(self, ref: TokenRef) -> bool:
        """Whether the token is part of the text: prompt, accepted and closing tokens are."""
        token = self.token(ref)
        return token is not None and (
            not isinstance(token, DraftedToken) or token.fate is Fate.ACCEPTED
        )

    def settings_at(self, round_index: int) -> Settings | None:
        """Return the settings that hold in a round."""
        found = bisect_right(self.changes, round_index, key=lambda change: change.before_round)
        if found:
            return self.changes[found - 1].settings
        return self.started.settings if self.started else None

    def drafter_at(self, round_index: int) -> ModelInfo | None:
        """Return the drafter that proposes in a round, or None if there is none."""
        found = bisect_right(self.changes, round_index, key=lambda change: change.before_round)
        if found:
            return self._drafters[found - 1]
        return self.started.drafter if self.started else None

    def _drafter_after(self, change: SettingsChanged) -> ModelInfo | None:
        """Return whom a change leaves as the drafter; it names a new one only."""
        held = self.settings_at(change.before_round)
        if held is not None and held.drafter == change.settings.drafter:
            return self.drafter_at(change.before_round)
        return change.drafter

    def figures_at(self, n_rounds: int) -> Figures:
        """Return the figures over the first `n_rounds` rounds and what was measured among them.

        A baseline counts from the start once it is there: in a recorded session the plain target
        is known while the rounds are shown again.
        """
        shown = max(0, n_rounds)
        if shown >= len(self.rounds):
            return self.statistics.figures()
        return self.statistics.at(shown, int(self.rounds.places.column()[shown]))
