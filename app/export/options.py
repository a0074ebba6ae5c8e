"""What an export is asked for, whatever its format. Plain values; knows no format and no parser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

THEMES = ("light", "dark")
PANELS = ("all", "text", "court", "acceptance", "throughput", "timeline", "caches")
WITHHELD = ("prompt", "machine")
SIZES = {"slide": (1920, 1080), "paper": (1400, 900), "square": (1080, 1080), "phone": (1080, 1920)}
FONT_SCALES, SPEEDS, FRAME_RATES = (0.5, 3.0), (0.1, 64.0), (1.0, 60.0)  # least and most

Theme = Literal["light", "dark"]
SvgText = Literal["fonts", "outlines"]


class Progress(Protocol):
    """Told how far an export is; `total` 0 means that nobody knows."""

    def __call__(self, done: int, total: int, what: str) -> None:
        """Take it in."""


def silent(done: int, total: int, what: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """What was chosen; each format takes what concerns it.

    Attributes
    ----------
    run
        Which of the trace's runs, from 0; formats that show several show all.
    theme
        None: light, but a page follows its viewer's own.
    title
        In place of the session's own; None leaves that.
    captions
        Whether markers' titles and notes, and what figures mean, are written beside pictures.
    size
        Of a picture or a frame, pixels; None: the format's own.
    at
        Moment of a picture, as `app.export.moments` reads it; "" is the end.
    panel
        One of `PANELS`.
    begin, end
        Moments between which a video plays; "" is the start, or the end.
    speed
        Times as fast as the presentation clock at speed 1.
    frame_rate
        Frames a second, at most; None: the format's own.
    told
        Round that slides tell step by step, as a moment; "" chooses the most telling one.
    svg_text
        Text of an SVG: with embedded fonts, or as outlines.
    withheld
        Which of `WITHHELD` are left out.
    most_rounds
        A page holds no more of them; None: its own limit.
    """

    run: int = 0
    theme: Theme | None = None
    title: str | None = None
    captions: bool = True
    size: tuple[int, int] | None = None
    font_scale: float = 1.0
    panel: str = "all"
    at: str = ""
    begin: str = ""
    end: str = ""
    speed: float = 1.0
    frame_rate: float | None = None
    title_card: bool = True
    drafts: bool = True
    told: str = ""
    svg_text: SvgText = "fonts"
    withheld: frozenset[str] = frozenset()
    most_rounds: int | None = None

    @property
    def painted_theme(self) -> Theme:
        """The theme of what has its colours painted in."""
        return self.theme or "light"
