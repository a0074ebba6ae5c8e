"""What a film shows and for how long: the title, each step of the session, markers, the end.

Pure: knows the presentation clock, markers and how fast people read. Knows no frame and no picture.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from app.export.moments import moment_of
from app.viewmodels.presentation import Presentation
from engine.errors import DraftscopeError
from engine.trace.markers import PHASES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.export.moments import Moment
    from app.viewmodels.document import Document
    from app.viewmodels.presentation import Cursor
    from app.viewmodels.refs import TokenRef
    from engine.trace.markers import Marker

TITLE_S = 4.0  # the title card
STAND_S = 1.5  # the first picture before it moves, and the last one once it does no more
END_S = 5.0  # then, with what the figures are
LEAST_HOLD_S = 2.5  # at a marker, and all that it is held for where no words are shown
MOST_HOLD_S = 20.0
FIND_S = 1.0  # before one begins to read
WORDS_A_SECOND = 3.0


class Segment(NamedTuple):
    """A picture that stands.

    Attributes
    ----------
    cursor
        How much is shown; None: the title card.
    marker
        Whose words are shown.
    pinned
        The token before the court.
    last
        Whether this is the hold at the end.
    """

    seconds: float
    cursor: Cursor | None
    marker: Marker | None = None
    pinned: TokenRef | None = None
    last: bool = False


def reading_s(*texts: str) -> float:
    """Return how long words are shown: one second, and one for three words; 2.5 to 20 s in all.

    Of scripts that write no spaces, two characters count as a word.
    """
    words = 0.0
    for text in texts:
        wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
        words += len(text.split()) + wide / 2
    return min(MOST_HOLD_S, max(LEAST_HOLD_S, FIND_S + words / WORDS_A_SECOND))


class Schedule:
    """The segments of a film, made anew each time they are gone through.

    Each step takes what the presentation clock gives it at this speed; how long words are held does
    not depend on the speed. A marker that pauses holds the picture while its words are read. The
    words of one that does not stay while the session goes on: until they are read, or until others
    come. Of several at one moment all but the last one hold, and at the end all do.

    Parameters
    ----------
    begin, end
        Moments between which it plays.
    speed
        Times as fast as the presentation clock at speed 1.
    title_card
        Whether it begins with one.
    captions
        Whether markers' words are shown; a marker that pauses then holds for `LEAST_HOLD_S`.
    most_s
        A film is not longer.

    Attributes
    ----------
    seconds
        The whole length.

    Raises
    ------
    DraftscopeError
        If it would end before it begins, or be longer than `most_s`.
    """

    def __init__(
        self,
        document: Document,
        begin: Moment,
        end: Moment,
        *,
        speed: float = 1.0,
        title_card: bool = True,
        captions: bool = True,
        most_s: float = float("inf"),
    ) -> None:
        self._document, self._begin, self._end = document, begin, end
        self._speed, self._title_card, self._captions = speed, title_card, captions
        self._first, self._last = self._cursor(begin), self._cursor(end)
        if _order(self._first) > _order(self._last):
            raise DraftscopeError(
                "The film would end before it begins: choose an earlier --from or a later --to."
            )
        self._markers: dict[Cursor, list[Marker]] = {}
        for marker in document.markers:
            if marker.round < len(document.rounds):
                self._markers.setdefault(self._cursor(moment_of(marker)), []).append(marker)
        self.seconds = 0.0
        for segment in self:
            self.seconds += segment.seconds
            if self.seconds > most_s:
                raise DraftscopeError(
                    f"The film would be longer than {most_s / 60:g} minutes, which is the most: "
                    "choose a part of the session with --from and --to, or a higher --speed."
                )

    def _cursor(self, moment: Moment) -> Cursor:
        presentation = Presentation(self._document)
        presentation.seek(moment.round, moment.phase)
        return presentation.cursor

    def __iter__(self) -> Iterator[Segment]:
        """Yield the segments in order; each lasts longer than nothing."""
        if self._title_card:
            yield Segment(TITLE_S, None)
        yield Segment(STAND_S, self._first, pinned=self._begin.pinned)
        presentation = Presentation(self._document, speed=self._speed)
        presentation.show(self._first)
        told: Marker | None = None
        left_s = 0.0
        while True:
            cursor, coming = presentation.cursor, presentation.coming()
            ended = coming is None or _order(cursor) >= _order(self._last)
            here = self._markers.get(cursor, [])
            for marker in here:
                told, left_s = marker, self._hold_s(marker)
                if marker.pause or ended or marker is not here[-1]:
                    yield self._telling(left_s, cursor, marker)
                    told = None
            if coming is None or ended:
                break
            following, seconds = coming
            if told is not None:
                part_s = min(left_s, seconds)
                yield self._telling(part_s, cursor, told)
                left_s, seconds = left_s - part_s, seconds - part_s
                told = told if left_s > 0 else None
            if seconds > 0:
                yield Segment(seconds, cursor)
            presentation.show(following)
        if told is not None:
            yield self._telling(left_s, cursor, told)
        yield Segment(STAND_S, cursor, pinned=self._end.pinned)
        yield Segment(END_S, cursor, pinned=self._end.pinned, last=True)

    def _telling(self, seconds: float, cursor: Cursor, marker: Marker) -> Segment:
        return Segment(seconds, cursor, marker, moment_of(marker).pinned)

    def _hold_s(self, marker: Marker) -> float:
        return reading_s(marker.title, marker.note) if self._captions else LEAST_HOLD_S


def _order(cursor: Cursor) -> tuple[int, int, int]:
    return cursor.round, PHASES.index(cursor.phase), cursor.revealed
