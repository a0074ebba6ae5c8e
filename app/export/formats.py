"""The table of formats: what each is for, by which file names it is known, which options it takes.

Knows names; a format's own module is imported when it is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from pathlib import Path

    from app.export.options import Options, Progress
    from app.export.source import Source

_ALWAYS = frozenset({"withheld"})
_PICTURE = frozenset({"run", "theme", "title", "captions", "size", "font_scale", "drafts"})
_FIGURE = _PICTURE | {"at", "panel"}
_FILM = _PICTURE | {"begin", "end", "speed", "frame_rate", "title_card"}
_OF_ROUNDS = {
    "mp4": "a film",
    "webm": "a film",
    "gif": "a film",
    "pptx": "slides",
    "csv": "a table of tokens",
    "rounds.csv": "a table of rounds",
    "perfetto.json": "a timeline",
    "cast": "a recording of a terminal",
}


@dataclass(frozen=True)
class Format:
    """One kind of file that a session can become.

    Attributes
    ----------
    name
        As in `--format`.
    suffixes
        Ends of file names, the first one offered; longer ones are looked at first.
    title
        In menus: a few words.
    what
        What it is for, in a sentence.
    writer
        "module:function" that writes it, called with a source, a path, options and progress.
    takes
        Fields of `Options` that mean something to it.
    """

    name: str
    suffixes: tuple[str, ...]
    title: str
    what: str
    writer: str
    takes: frozenset[str]

    @property
    def of_rounds(self) -> str:
        """What it is called where a run without rounds cannot become it; "" where it can."""
        return _OF_ROUNDS.get(self.name, "")

    def write(self, source: Source, out: Path, options: Options, progress: Progress) -> None:
        """Write the file at `out`, where nothing is yet.

        Raises
        ------
        DraftscopeError
            If this trace cannot become such a file.
        OSError
            If it cannot be written.
        """
        module, function = self.writer.split(":")
        getattr(import_module(f"app.export.{module}"), function)(source, out, options, progress)


def _format(
    name: str, title: str, what: str, writer: str, takes: frozenset[str], *more: str
) -> Format:
    return Format(name, (f".{name}", *more), title, what, writer, takes | _ALWAYS)


FORMATS: tuple[Format, ...] = (
    _format(
        "html",
        "HTML replay",
        "One page that plays the session in any browser, offline.",
        "html:write_html",
        frozenset({"run", "title", "theme", "most_rounds"}),
        ".htm",
    ),
    _format("mp4", "Video (MP4)", "A film, H.264: plays anywhere.", "video:write_mp4", _FILM),
    _format("webm", "Video (WebM)", "A film, VP9: for the web.", "video:write_webm", _FILM),
    _format(
        "gif", "Animated GIF", "A short film for pages that play none.", "gif:write_gif", _FILM
    ),
    _format("png", "Picture (PNG)", "One moment, in pixels.", "png:write_png", _FIGURE),
    _format(
        "svg",
        "Picture (SVG)",
        "One moment, sharp at any size.",
        "svg:write_svg",
        _FIGURE | {"svg_text"},
    ),
    _format("pdf", "Picture (PDF)", "One moment, for a paper.", "pdf:write_pdf", _FIGURE),
    _format(
        "pptx",
        "Slides (PPTX)",
        "Slides with shapes and charts that can be edited.",
        "slides:write_pptx",
        frozenset({"run", "title", "theme", "captions", "told", "font_scale"}),
    ),
    _format(
        "csv", "Tokens (CSV)", "A row a token.", "tables:write_tokens", frozenset(), ".tokens.csv"
    ),
    _format("rounds.csv", "Rounds (CSV)", "A row a round.", "tables:write_rounds", frozenset()),
    _format(
        "perfetto.json",
        "Timeline (Perfetto)",
        "Every phase as a span, for ui.perfetto.dev and chrome://tracing.",
        "perfetto:write_perfetto",
        frozenset(),
    ),
    _format(
        "md",
        "Summary (Markdown)",
        "The figures and where they come from.",
        "summary:write_markdown",
        frozenset({"run", "title"}),
    ),
    _format(
        "cast",
        "Terminal (asciicast)",
        "The coloured text as it came, for asciinema.",
        "asciicast:write_cast",
        frozenset({"run", "title", "speed", "size", "drafts"}),
    ),
    _format("jsonl", "Session", "The session itself, whole.", "lines:write_jsonl", frozenset()),
    _format(
        "jsonl.zst",
        "Session, packed",
        "The session itself, small.",
        "lines:write_packed",
        frozenset(),
    ),
)


def format_named(name: str) -> Format:
    """Return a format by its name.

    Raises
    ------
    DraftscopeError
        If there is none.
    """
    for one in FORMATS:
        if one.name == name:
            return one
    raise DraftscopeError(f"There is no format {name}: take one of {names()}.")


def format_of(path: Path) -> Format:
    """Return the format that a file's name asks for.

    Raises
    ------
    DraftscopeError
        If none does.
    """
    name = path.name.lower()
    ends = sorted(
        ((suffix, one) for one in FORMATS for suffix in one.suffixes),
        key=lambda found: -len(found[0]),
    )
    for suffix, one in ends:
        if name.endswith(suffix) and name != suffix:
            return one
    raise DraftscopeError(
        f"{path.name} does not say what it is to be: end its name in one of {names('.')}, or say "
        "--format."
    )


def names(before: str = "") -> str:
    """Return the names of all formats in a row."""
    return ", ".join(before + one.name for one in FORMATS)
