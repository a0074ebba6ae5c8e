"""The presentation clock: how much of the arrived rounds is shown, and how fast it goes on.

Engine time is measured; this is the other clock. It knows rounds, phases and verdicts, and that a
run may be watched as it comes, slowed, stepped or scrubbed. It knows no timer, no Qt, no figure and
no file: whoever owns a timer calls `advance`, and no round is read back for it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple

from app.viewmodels.portion import CODES
from engine.trace.events import Fate

if TYPE_CHECKING:
    from app.viewmodels.document import Document
    from engine.trace.markers import Marker

Phase = Literal["draft", "verify", "done"]
Wish = Literal["round", "phase"]

PENDING_S = 0.16  # at speed 1: one drafted token appears
VERDICT_S = 0.32  # one verdict falls
CLOSING_S = 0.40  # the closing token appears
REST_S = 0.30  # a finished round stands before the next begins
LIVE_ROUND_S = 0.12  # as it comes: the whole of the newest round

_TESTED = frozenset((CODES[Fate.ACCEPTED], CODES[Fate.REJECTED]))
_UNTESTED = frozenset((CODES[Fate.DISCARDED], CODES[Fate.CUT]))


class Cursor(NamedTuple):
    """How far the picture is.

    Attributes
    ----------
    round
        Index of the round being shown; -1 while only the prompt is.
    phase
        "draft": drafted tokens appear; "verify": verdicts fall; "done": the closing token is there.
    revealed
        In "draft" the drafted tokens that have appeared, in "verify" those whose fate is shown, in
        "done" all of them.
    """

    round: int
    phase: Phase
    revealed: int


START = Cursor(-1, "done", 0)


class Presentation:
    """A cursor over a document's rounds, moved by time, by steps or by a scrubber.

    Attributes
    ----------
    playing
        False: paused; only steps and seeks move the cursor.
    pauses_at_markers
        Whether playing ends at each marker that asks for it. As rounds come, none is waited at.
    begins_at_once
        Whether it does not end at the prompt's own when a session has just come.
    speed
        1.0 shows verdicts at a readable pace, 2.0 twice as fast; None shows rounds as they come,
        at most the newest one still moving.
    version
        Increases with each change of the cursor.
    """

    def __init__(self, document: Document, *, speed: float | None = None) -> None:
        self._document = document
        self._speed = speed
        self._playing = True
        self.pauses_at_markers = self.begins_at_once = False
        self._left: Cursor | None = None  # from here it was told to play on
        self.version = 0
        self.reset()

    @property
    def playing(self) -> bool:
        """Whether time moves the cursor."""
        return self._playing

    @playing.setter
    def playing(self, playing: bool) -> None:
        self._playing = playing
        if playing:
            self._left = self._cursor

    @property
    def speed(self) -> float | None:
        """How fast verdicts fall, or None for as it comes."""
        return self._speed

    @speed.setter
    def speed(self, speed: float | None) -> None:
        if speed is not None and not speed > 0:
            raise ValueError(f"speed must be positive or None, not {speed}")
        self._speed = None if speed is None or math.isinf(speed) else speed
        self._credit_s = 0.0

    @property
    def live(self) -> bool:
        """Whether rounds are shown as they come and the engine need not wait for the picture."""
        return self.playing and self._speed is None

    @property
    def cursor(self) -> Cursor:
        """How far the picture is."""
        return self._cursor

    @property
    def at_end(self) -> bool:
        """Whether everything that has arrived is shown."""
        return self.visible_rounds() >= len(self._document.rounds)

    @property
    def still(self) -> bool:
        """Whether nothing moves before something comes or is asked for."""
        return self.at_end or not self.playing

    @property
    def last_finished_round(self) -> int:
        """Index of the last round fully shown, -1 if none: what the engine's control is told."""
        return self.visible_rounds() - 1

    @property
    def waiting(self) -> bool:
        """Whether a step was asked for that no round has arrived for yet."""
        return self._wish is not None

    def visible_rounds(self) -> int:
        """Return how many rounds are fully shown."""
        return self._cursor.round + (self._cursor.phase == "done")

    def reset(self) -> None:
        """Go back to the prompt alone, as for a new run."""
        self._run = self._document.run
        self._credit_s = 0.0
        self._wish: Wish | None = None
        self._cursor = START
        self._left = START if self.begins_at_once else None
        self.version += 1

    def advance(self, seconds: float) -> bool:
        """Let presentation time pass; return whether the picture changed."""
        before = self.version
        if self._document.run != self._run or self._cursor.round >= len(self._document.rounds):
            self.reset()
        if self._wish is not None and not self.at_end:
            wish, self._wish = self._wish, None
            self._step(wish)
        if self.playing:
            self._pass(seconds)
        return self.version != before

    def _pass(self, seconds: float) -> None:
        behind = len(self._document.rounds) - 1 - self.visible_rounds()
        if self._speed is None and behind > 0:
            self._credit_s = 0.0
            self._move(self._complete(len(self._document.rounds) - 2))
        self._credit_s += seconds
        while not self._holds() and not self.at_end:
            following = self._next(self._cursor)
            cost = self._cost_s(self._cursor, following)
            if cost > self._credit_s:
                return
            self._credit_s -= cost
            self._move(following)
        self._credit_s = 0.0  # time spent waiting for the engine is not owed to the next round

    def _holds(self) -> bool:
        """Pause at a marker that the picture has come to; return whether it did."""
        if not self.pauses_at_markers or self._speed is None or self._cursor == self._left:
            return False
        if not any(marker.pause and self._stands_at(marker) for marker in self._document.markers):
            return False
        self._playing = False
        self.version += 1
        return True

    def _stands_at(self, marker: Marker) -> bool:
        index, phase, revealed = self._cursor
        if marker.round != index:
            return False
        drafted = self._drafted(index) if index >= 0 else 0
        return revealed >= drafted and phase == (marker.phase if drafted else "done")

    def step_round(self) -> bool:
        """Finish the round being shown, or show the whole next one; wait for it if need be."""
        return self._wish_for("round")

    def step_phase(self) -> bool:
        """Go on to the end of this phase, or through the next one; wait for it if need be."""
        return self._wish_for("phase")

    def _wish_for(self, wish: Wish) -> bool:
        if self.at_end:
            self._wish = wish if self._document.finished is None else None
            return False
        self._step(wish)
        return True

    def _step(self, wish: Wish) -> None:
        self._credit_s = 0.0
        following = self._next(self._cursor)
        if wish == "round":
            following = self._complete(following.round)
        else:
            last = self._drafted(following.round)
            following = Cursor(following.round, following.phase, last)
        self._move(following)

    def seek(self, round_index: int, phase: Phase = "done") -> None:
        """Show everything up to the end of a phase of a round; -1 shows the prompt alone."""
        self._credit_s = 0.0
        self._wish = None
        index = min(round_index, len(self._document.rounds) - 1)
        if index < 0:
            self._move(START)
            return
        drafted = self._drafted(index)
        self._move(Cursor(index, phase if drafted else "done", drafted))

    def coming(self) -> tuple[Cursor, float] | None:
        """Return the next smallest step and the seconds before it; None where all is shown."""
        if self.at_end:
            return None
        following = self._next(self._cursor)
        return following, self._cost_s(self._cursor, following)

    def show(self, cursor: Cursor) -> None:
        """Show as much as a presentation of the same rounds that stands there."""
        self._credit_s = 0.0
        self._wish = None
        self._move(cursor)

    def _move(self, cursor: Cursor) -> None:
        if cursor != self._cursor:
            self._cursor = cursor
            self.version += 1

    def _complete(self, index: int) -> Cursor:
        return Cursor(index, "done", self._drafted(index))

    def _drafted(self, index: int) -> int:
        return len(self._document.tokens.fates(index))

    def _next(self, cursor: Cursor) -> Cursor:
        """Return the smallest step forward from `cursor`; something must have arrived for it."""
        index, phase, revealed = cursor
        if phase == "done":
            index, phase, revealed = index + 1, "draft", 0
        drafted = self._drafted(index)
        if phase == "draft" and revealed < drafted:
            return Cursor(index, "draft", revealed + 1)
        if phase == "draft":
            phase, revealed = "verify", 0
        if revealed < drafted:
            return Cursor(index, "verify", self._after_verdict(index, revealed))
        return Cursor(index, "done", drafted)

    def _after_verdict(self, index: int, revealed: int) -> int:
        """Count the fates shown once the next verdict fell: untested tokens follow at once."""
        fates = self._document.tokens.fates(index)
        revealed += 1
        while revealed < len(fates) and fates[revealed] in _UNTESTED:
            revealed += 1
        return revealed

    def _cost_s(self, cursor: Cursor, following: Cursor) -> float:
        if self._speed is None:
            return LIVE_ROUND_S / _moves(self._document.tokens.fates(following.round))
        rest = REST_S if cursor.phase == "done" and cursor.round >= 0 else 0.0
        costs = {"draft": PENDING_S, "verify": VERDICT_S, "done": CLOSING_S}
        return (rest + costs[following.phase]) / self._speed


def _moves(fates: bytes) -> int:
    """Count the single steps in which a round of these fates appears."""
    tested = sum(fate in _TESTED for fate in fates)
    return len(fates) + max(tested, bool(fates)) + 1
