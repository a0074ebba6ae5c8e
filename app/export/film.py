"""A film's pictures, one after another: painted when they change, and how long each stands.

Knows the schedule and how scenes are painted. Knows no encoder and no file. Nothing but the picture
being shown is held.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from app.export.moments import parse_moment
from app.export.painter import Canvas, ready
from app.export.schedule import Schedule
from app.theme import THEMES
from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    import numpy as np
    import numpy.typing as npt
    from PySide6.QtGui import QPainter

    from app.export.options import Options
    from app.export.schedule import Segment
    from app.export.source import Source
    from app.painting.captions import Caption

_END_TITLE = "What the figures are"
_MEANT = 3  # of them are told at the end
LEAST_EDGE, MOST_EDGE = 120, 4096  # pixels


class Shot(NamedTuple):
    """A picture and when it is shown.

    Attributes
    ----------
    first
        The tick at which it comes.
    ticks
        How long it stands, at least 1.
    pixels
        Blue, green, red and 255, shape [height, width, 4]. They hold until the next shot is asked
        for.
    """

    first: int
    ticks: int
    pixels: npt.NDArray[np.uint8]


class Film:
    """The pictures of a session at one size.

    Parameters
    ----------
    size
        Width and height in pixels.
    clock
        Ticks a second.
    rate
        Pictures a second, at most; no more than `clock`.
    most_s
        It is not longer.

    Attributes
    ----------
    schedule
        What is shown, for how many seconds.
    ticks
        The whole length.

    Raises
    ------
    DraftscopeError
        If a moment is not in the session, or the size or the length is past what is made.
    """

    def __init__(
        self,
        source: Source,
        options: Options,
        *,
        size: tuple[int, int],
        clock: Fraction,
        rate: Fraction,
        most_s: float,
    ) -> None:
        if not LEAST_EDGE <= min(size) <= max(size) <= MOST_EDGE:
            raise DraftscopeError(
                f"A film of {size[0]}×{size[1]} pixels is not made: choose a --size whose edges "
                f"have {LEAST_EDGE} to {MOST_EDGE:,} pixels."
            )
        document = source.document
        self._source, self._options, self.size = source, options, size
        self._clock, self._rate = clock, rate
        self.schedule = Schedule(
            document,
            parse_moment(options.begin or "start", document),
            parse_moment(options.end or "end", document),
            speed=options.speed,
            title_card=options.title_card,
            captions=options.captions,
            most_s=most_s,
        )
        self.ticks = round(self.schedule.seconds * self._clock)

    @property
    def title(self) -> str:
        """What the film is called; "" if nobody said."""
        title = self._options.title
        return self._source.note.title if title is None else title

    def shots(self) -> Iterator[Shot]:
        """Paint the pictures in order; together they last `ticks`."""
        ready()
        paint = _Painting(self._source, self._options, self.title, self.size)
        for first, ticks, segment in self._shown():
            yield Shot(first, ticks, paint(segment))

    def stills(self, count: int) -> Iterator[npt.NDArray[np.uint8]]:
        """Paint some of the pictures, spread evenly over those that differ; first and last too."""
        ready()
        paint = _Painting(self._source, self._options, self.title, self.size)
        whole = sum(1 for _ in self._shown())
        chosen = {round(at * (whole - 1) / max(1, count - 1)) for at in range(count)}
        for index, (_, _, segment) in enumerate(self._shown()):
            if index in chosen:
                yield paint(segment)

    def _shown(self) -> Iterator[tuple[int, int, Segment]]:
        """Yield (first tick, ticks, segment) of what stands long enough to be seen."""
        held: tuple[int, Segment] | None = None
        passed_s = 0.0
        for segment in self.schedule:
            first = self._tick(passed_s)
            passed_s += segment.seconds
            if held is None or first == held[0]:
                held = first, segment
            elif segment[1:] != held[1][1:]:  # another picture
                yield held[0], first - held[0], held[1]
                held = first, segment
        assert held is not None  # a schedule has an end
        yield held[0], self.ticks - held[0], held[1]

    def _tick(self, seconds: float) -> int:
        """Return the tick of the first picture that is taken then or later."""
        picture = math.ceil(seconds * float(self._rate) - 1e-9)
        return round(picture * self._clock / self._rate)


class _Painting:
    """Paints what a segment shows."""

    def __init__(self, source: Source, options: Options, title: str, size: tuple[int, int]) -> None:
        from app.painting.moment import Moment
        from app.painting.scene import Scene
        from app.viewmodels.presentation import Presentation

        self._source, self._options, self._title = source, options, title
        self._theme = THEMES[options.painted_theme]
        self._moment = Moment(
            source.document, Presentation(source.document), show_drafts=options.drafts
        )
        self._canvas = Canvas(size)
        self._scene = Scene(
            self._theme,
            size,
            options.font_scale,
            title=title,
            keep_caption_room=options.captions and bool(source.markers),
        )

    def __call__(self, segment: Segment) -> npt.NDArray[np.uint8]:
        if segment.cursor is None:
            self._canvas.paint(self._paint_title)
        else:
            self._moment.presentation.show(segment.cursor)
            self._moment.pinned = segment.pinned
            caption = self._caption(segment) if self._options.captions else None
            self._canvas.paint(lambda painter: self._scene.paint(painter, self._moment, caption))
        return self._canvas.pixels()

    def _paint_title(self, painter: QPainter) -> None:
        from app.painting.title_card import TitleCard, paint_title_card
        from app.viewmodels.run_words import run_words

        said = (self._source.note.note, *self._source.notices)
        card = TitleCard(self._title, "\n".join(words for words in said if words))
        words = run_words(self._source.document)
        scale = self._options.font_scale
        paint_title_card(painter, self._canvas.size, card, words, self._theme, scale)

    def _caption(self, segment: Segment) -> Caption | None:
        from app.painting.captions import Caption
        from app.viewmodels.run_words import key_readings

        if segment.marker is not None:
            return Caption(segment.marker.title, segment.marker.note)
        if segment.last:
            told = key_readings(self._source.document, self._moment.presentation.visible_rounds())
            meant = [f"{one.name.capitalize()}: {one.definition}" for one in told[:_MEANT]]
            return Caption(_END_TITLE, "\n".join((*self._source.notices, *meant)))
        return None
