"""One moment as a figure of some size, ready for any painter: a whole scene, or one panel alone.

Knows a source, options and the window's own painting. Knows no file format.

A figure's pixels are 300 to the inch, so a paper's 1400 x 900 are 4.7 x 3 inches (a text's width)
and a slide's 1920 x 1080 are 6.4 x 3.6. What is smaller than a slide keeps the slide's height of
letters, nearly, instead of becoming a small slide, so that it can be read on a page: the words of
one panel alone have 5.5 to 6 points there, and 5 in a column's 1000 x 650. A whole scene has more
to say: it is for slides, and for a page's whole width.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.export.figure_words import (
    ALL,
    figure_caption,
    marker_at,
    name_words,
    provenance_lines,
    title_words,
)
from app.export.moments import parse_moment
from app.export.painter import ready
from app.export.sayable import sayable
from app.painting.moment import Moment
from app.painting.scene_scale import panel_scale, scene_scale
from app.theme import THEMES
from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QPainter

    from app.export.moments import Moment as Wanted
    from app.export.options import Options
    from app.export.source import Source

SLIDE = (1920, 1080)
PAPER = (1400, 900)
PIXELS_PER_INCH = 300
LEAST_EDGE, MOST_EDGE = 64, 200_000  # pixels
_MOST_LARGER = 1.5
_SHARE = {True: 0.4, False: 0.9}  # of what a size lacks of a slide's, as a power, is made up for
_BELOW = {True: 0.8, False: 0.9}  # letters below a scene, and below a panel, of the panels' own
_MARGIN = {True: 23.0, False: 16.4}  # beside them, so that they begin below the panels' edge


@dataclass(frozen=True)
class Figure:
    """What is painted, and what is said of it.

    Attributes
    ----------
    size
        Width and height in pixels.
    paint
        Paints all of it from a painter's origin.
    title
        Never "".
    description
        The caption, whether it is painted or not.
    provenance
        What has to be known of the run, each with its name.
    recorded
        When the run started, as the trace says it.
    """

    size: tuple[int, int]
    paint: Callable[[QPainter], None]
    title: str
    description: str
    provenance: tuple[tuple[str, str], ...]
    recorded: str


def figure_of(source: Source, options: Options, size: tuple[int, int]) -> Figure:
    """Compose the figure that is asked for.

    Parameters
    ----------
    size
        Where the options leave it to the format.

    Raises
    ------
    DraftscopeError
        If there is no such moment, or no picture of such a size.
    """
    size = options.size or size
    if not LEAST_EDGE <= min(size) <= max(size) <= MOST_EDGE:
        raise DraftscopeError(
            f"A picture of {size[0]:,} x {size[1]:,} pixels is not made: choose a --size whose "
            f"edges have {LEAST_EDGE} to {MOST_EDGE:,} pixels."
        )
    ready()
    document = source.document
    wanted = parse_moment(options.at, document)
    moment = Moment.at(
        document,
        wanted.round,
        wanted.phase,
        pinned=wanted.pinned,
        show_drafts=options.drafts,
    )
    visible = moment.presentation.visible_rounds()
    panel, title = options.panel, title_words(source, options)
    words = figure_caption(source, wanted, panel, visible)
    return Figure(
        size=size,
        paint=_painting(source, options, size, moment, wanted, title),
        title=title or name_words(source, panel),
        description=words,
        provenance=provenance_lines(source),
        recorded=source.started.started_at,
    )


def _painting(
    source: Source,
    options: Options,
    size: tuple[int, int],
    moment: Moment,
    wanted: Wanted,
    title: str,
) -> Callable[[QPainter], None]:
    """Return what paints the figure: the words below it, then the picture in the room left."""
    from app.painting.below import paint_below
    from app.painting.captions import Caption
    from app.painting.panel_figure import paint_panel_figure
    from app.painting.scene import Scene

    panel, theme = options.panel, THEMES[options.painted_theme]
    whole = panel == ALL
    ground = theme.window if whole else theme.base
    larger = options.font_scale * _larger(size, whole=whole)
    own = (scene_scale if whole else panel_scale)(size)
    visible = moment.presentation.visible_rounds()
    marker = marker_at(source.document, wanted) if options.captions and whole else None
    told = Caption(sayable(marker.title), sayable(marker.note)) if marker else Caption()
    below = [
        figure_caption(source, wanted, panel, visible, note=not whole, brief=brief)
        for brief in (False, True)
        if options.captions
    ]

    def paint(painter: QPainter) -> None:
        # Letters asked to be larger are the picture's: the words below it would take its room.
        less = math.sqrt(max(1.0, options.font_scale))
        scale, margin = own * larger * _BELOW[whole] / less, _MARGIN[whole] * less
        taken = paint_below(painter, size, below, theme, ground, scale, margin)
        left = (size[0], size[1] - taken)
        if whole:
            Scene(theme, left, larger, title=title).paint(painter, moment, told)
        else:
            paint_panel_figure(painter, left, moment, theme, panel, larger, title=title)

    return paint


def _larger(size: tuple[int, int], *, whole: bool) -> float:
    """Return how much larger letters are than in a slide made as small as this size."""
    small = math.sqrt(SLIDE[0] * SLIDE[1] / (size[0] * size[1]))
    return float(min(_MOST_LARGER, max(1.0, small ** _SHARE[whole])))
