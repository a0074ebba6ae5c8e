"""Events of a run condensed to what panels ask of every round, and where the rest can be read.

Knows what is kept of each round: its row of columns, its tokens' bytes and fates, its text. Laws,
probabilities and the like stay in the file and are decoded when a round is looked at. Plain frozen
values: it crosses from the thread that reads to the window's.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import msgspec

from app.viewmodels.columns import row_of
from engine.errors import DraftscopeError
from engine.trace.events import ClosingKind, Event, Fate, Round, RunStarted
from engine.trace.statistics import SeenGrams

if TYPE_CHECKING:
    from collections.abc import Iterable

WORDS = (*(str(fate) for fate in Fate), *(str(kind) for kind in ClosingKind))
"""What became of a token, by its code: fates of drafted tokens, then kinds of closing ones."""

CODES = {word: code for code, word in enumerate(WORDS)}
FIRST_CLOSING = len(Fate)  # codes from here on are of closing tokens
_PLACE = struct.Struct("<QI")  # a line's start and its size


class Portion(msgspec.Struct, frozen=True, kw_only=True):
    """Events of one run in a row.

    Attributes
    ----------
    run
        Its id.
    events
        How many events.
    others
        Those that are no rounds, each with its place among the events.
    rounds
        How many rounds; the following have one entry, or one row, for each.
    rows
        float64 rows of columns, as `app.viewmodels.columns` has them.
    lengths
        Tokens: the drafted ones, and the closing one if there is one.
    round_places
        Its place among the events.
    texts
        What its tokens released to the text.
    codes, pieces
        Of each token of each round in order: what became of it (`WORDS`), and the number of its
        bytes, as uint32.
    new_pieces
        Bytes that occur for the first time in the run; their numbers follow on.
    lines
        Where each round's line stands in the file: 8 bytes of start, 4 of size. Empty where the
        events come from no file.
    """

    run: str
    events: int
    others: tuple[tuple[int, Event], ...]
    rounds: int
    rows: bytes
    lengths: tuple[int, ...]
    round_places: tuple[int, ...]
    texts: tuple[str, ...]
    codes: bytes
    pieces: bytes
    new_pieces: tuple[bytes, ...]
    lines: bytes = b""


class Gatherer:
    """Condenses the events of one run, a portion at a time.

    The first `RunStarted` decides the run. Events of another run are stale: they were on their way
    when this one began, and are dropped.

    Attributes
    ----------
    run
        The run id, or None before the run started.
    rounds
        How many rounds there were so far.
    held
        How many events the next portion has.
    """

    def __init__(self) -> None:
        self.run: str | None = None
        self.rounds = 0
        self._started = False
        self._grams = SeenGrams()
        self._numbers: dict[bytes, int] = {}  # of pieces
        self._begin()

    def _begin(self) -> None:
        self.held = 0
        self._others: list[tuple[int, Event]] = []
        self._rows: list[tuple[float, ...]] = []
        self._lengths: list[int] = []
        self._places: list[int] = []
        self._texts: list[str] = []
        self._codes: list[int] = []
        self._pieces: list[int] = []
        self._new_pieces: list[bytes] = []
        self._lines: list[bytes] = []

    def add(self, event: Event, place: tuple[int, int] | None = None) -> bool:
        """Take in an event; return whether it is one of the run.

        Parameters
        ----------
        place
            Start and size of its line in a file, if it comes from one.

        Raises
        ------
        DraftscopeError
            If a round is missing or comes twice: then the session file is damaged.
        """
        if self.run is None and isinstance(event, RunStarted):
            self.run = event.run
        if event.run != self.run or (isinstance(event, RunStarted) and self._started):
            return False
        if isinstance(event, Round):
            self._add_round(event)
            if place is not None:
                self._lines.append(_PLACE.pack(*place))
        else:
            self._started = self._started or isinstance(event, RunStarted)
            self._others.append((self.held, event))
        self.held += 1
        return True

    def _add_round(self, one: Round) -> None:
        if one.index != self.rounds:
            raise DraftscopeError(
                f"Round {self.rounds + 1} is missing, round {one.index + 1} stands in its place: "
                "the session file is damaged, open an earlier copy of it."
            )
        self.rounds += 1
        codes = [CODES[token.fate] for token in one.drafted]
        self._pieces += [self._number(token.piece) for token in one.drafted]
        if one.closing is not None:
            codes.append(CODES[one.closing.kind])
            self._pieces.append(self._number(one.closing.piece))
        self._codes += codes
        self._lengths.append(len(codes))
        self._places.append(self.held)
        self._texts.append("".join(one.texts))
        self._rows.append(row_of(one, self._grams.extend(one.emitted_ids)))

    def _number(self, piece: bytes) -> int:
        number = self._numbers.get(piece)
        if number is None:
            number = self._numbers[piece] = len(self._numbers)
            self._new_pieces.append(piece)
        return number

    def portion(self) -> Portion:
        """Return what was added since the last portion."""
        assert self.run is not None  # nothing is added before a run started
        made = Portion(
            run=self.run,
            events=self.held,
            others=tuple(self._others),
            rounds=len(self._rows),
            rows=b"".join(struct.pack(f"<{len(row)}d", *row) for row in self._rows),
            lengths=tuple(self._lengths),
            round_places=tuple(self._places),
            texts=tuple(self._texts),
            codes=bytes(self._codes),
            pieces=struct.pack(f"<{len(self._pieces)}I", *self._pieces),
            new_pieces=tuple(self._new_pieces),
            lines=b"".join(self._lines),
        )
        self._begin()
        return made


def line_places(lines: bytes) -> Iterable[tuple[int, int]]:
    """Yield start and size of each line of `Portion.lines`."""
    return _PLACE.iter_unpack(lines)
