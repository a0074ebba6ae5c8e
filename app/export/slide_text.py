"""How much room text takes on a slide, and text made to fit: smaller first, then shorter.

Knows how wide letters are in the two faces of a deck. They are faces that Windows and macOS have
and that Linux replaces by others of the same widths, so what is measured here holds wherever a deck
is shown; letters that those faces lack are taken as wide as substitutes get. Knows no slide.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from app.viewmodels.characters import written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

FACE = "Arial"
CODE_FACE = "Courier New"  # each letter takes 0.6 of the size
LINE = 1.2  # height of a line over the size
TALL_LINE = 1.45  # with letters that are taken from another face
LEAST = 10.0  # points; nothing is smaller
BODY = 14.0  # points; what is meant to be read is not smaller
SHARED = 0.97  # of the width: programs differ in where a line breaks

_CODE = 0.602
_BOLD = 1.09
# Of Arial, thousandths of the size, from space to tilde.
_WIDTHS = (
    "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 "
    "556 556 556 278 278 584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 "
    "722 778 667 778 722 667 611 722 667 944 667 667 611 278 278 278 469 556 333 556 556 500 556 "
    "556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 278 556 500 722 500 500 500 334 "
    "260 334 584"
)
_ASCII = tuple(int(one) / 1000 for one in _WIDTHS.split())
_OTHERS = {"“": 0.34, "”": 0.34, "’": 0.23, "·": 0.34, "–": 0.56, "×": 0.59, "−": 0.59, "≥": 0.56}


@dataclass(frozen=True)
class Run:
    """Letters that look alike.

    Attributes
    ----------
    text
        As `clean` returns it.
    size
        Points.
    colour
        `#rrggbb`, or "" for the deck's own.
    fate
        A key of the theme's fates, whose colour and mark it takes, or "".
    """

    text: str
    size: float = 16.0
    colour: str = ""
    bold: bool = False
    code: bool = False
    fate: str = ""


@dataclass(frozen=True)
class Paragraph:
    """Runs on lines of their own; `after` is the space below, in points."""

    runs: tuple[Run, ...]
    after: float = 0.0
    align: Literal["left", "centre", "right"] = "left"

    @property
    def text(self) -> str:
        """All letters."""
        return "".join(run.text for run in self.runs)

    @property
    def rtl(self) -> bool:
        """Whether its first letter with a direction is written from right to left."""
        kinds = (unicodedata.bidirectional(c) for c in self.text)
        return next((kind in ("R", "AL") for kind in kinds if kind in ("L", "R", "AL")), False)


def words(
    text: str,
    size: float = 16.0,
    colour: str = "",
    *,
    bold: bool = False,
    code: bool = False,
    after: float = 0.0,
    align: Literal["left", "centre", "right"] = "left",
) -> Paragraph:
    """Return a paragraph of one run, with what a slide cannot hold made visible."""
    return Paragraph((Run(clean(text), size, colour, bold, code),), after, align)


def clean(text: str) -> str:
    """Return a text without what XML forbids or what is not seen: each has its name instead."""
    return written(text.replace("\r\n", "\n")).replace("\t", "    ")


def one_line(text: str) -> str:
    """Return a text on one line."""
    return " ".join(clean(text).split())


@lru_cache(maxsize=1 << 14)
def advance(character: str, code: bool = False, bold: bool = False) -> float:
    """Return how wide a letter is at most, over the size."""
    category = unicodedata.category(character)
    if category in ("Mn", "Me", "Cf"):
        return 0.0
    if ord(character) >= 0x1F000:
        return 1.45
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    if code:
        return _CODE if ord(character) < 0x0700 or character in _OTHERS else 0.85
    if " " <= character <= "~":
        width = _ASCII[ord(character) - 32]
    else:
        width = _OTHERS.get(character) or (0.72 if category[0] == "L" else 1.02)
    return width * _BOLD if bold else width


def text_width(run: Run) -> float:
    """Return how wide a run is on one line, points."""
    return run.size * sum(advance(c, run.code, run.bold) for c in run.text)


def widest_word(paragraph: Paragraph) -> float:
    """Return how wide the longest word of a paragraph's runs is, points."""
    found = (
        text_width(replace(run, text=word)) for run in paragraph.runs for word in run.text.split()
    )
    return max(found, default=0.0)


def lines(paragraph: Paragraph, width: float) -> int:
    """Return how many lines a paragraph takes at a width in points."""
    width = max(1.0, width * SHARED)
    count, line, word = 1, 0.0, 0.0
    for run in paragraph.runs:
        for character in run.text:
            if character == "\n":
                count, line, word = count + 1, 0.0, 0.0
                continue
            own = run.size * advance(character, run.code, run.bold)
            if character == " ":
                line, word = line + word + own, 0.0
                continue
            if unicodedata.east_asian_width(character) in "WF":
                line, word = line + word, 0.0
            if line + word + own > width:
                count += 1
                if line == 0.0:
                    word = 0.0
                line = 0.0
                while word + own > width and word:
                    count, word = count + 1, max(0.0, word - width)
            word += own
    return count


def height(paragraphs: Iterable[Paragraph], width: float) -> float:
    """Return how high paragraphs are at a width, points."""
    return sum(
        lines(one, width) * max((run.size for run in one.runs), default=16.0) * _line(one)
        + one.after
        for one in paragraphs
    )


def fit(
    paragraphs: Sequence[Paragraph], width: float, most: float, *, keep: bool = False
) -> tuple[Paragraph, ...]:
    """Return paragraphs that are at most `most` points high.

    They are made smaller, down to `BODY` where they were larger and to `LEAST` where not; then the
    longest is shortened, with an ellipsis for what is left out.

    Parameters
    ----------
    keep
        On one line each, as labels are: they may go down to `LEAST`.
    """
    shown = tuple(paragraphs)
    for step in range(40):
        shown = tuple(scaled(one, 0.97**step, floor=not keep) for one in paragraphs)
        if _fits(shown, width, most, keep):
            return shown
    while not _fits(shown, width, most, keep):
        longest = max(range(len(shown)), key=lambda at: lines(shown[at], width))
        if len(shown[longest].text) <= 1:
            if len(shown) == 1:
                break
            shown = shown[:-1]
            continue
        shown = (
            *shown[:longest],
            _halved(shown, longest, width, most, keep),
            *shown[longest + 1 :],
        )
    return shown


def scaled(paragraph: Paragraph, factor: float, *, floor: bool = False) -> Paragraph:
    """Return a paragraph with larger or smaller letters, never smaller than `LEAST`."""

    def sized(run: Run) -> Run:
        least = max(LEAST, min(BODY, run.size)) if floor else LEAST
        return replace(run, size=round(max(least, run.size * factor) * 2) / 2)

    return replace(paragraph, runs=tuple(sized(run) for run in paragraph.runs))


def shortened(paragraph: Paragraph, kept: int) -> Paragraph:
    """Return a paragraph of its first letters and an ellipsis."""
    runs: list[Run] = []
    for run in paragraph.runs:
        if kept <= 0:
            break
        part = run.text[:kept]
        kept -= len(part)
        runs.append(replace(run, text=part))
    if runs:
        runs[-1] = replace(runs[-1], text=runs[-1].text.rstrip() + "…")
    return replace(paragraph, runs=tuple(runs) or (Run("…"),))


def _fits(paragraphs: Sequence[Paragraph], width: float, most: float, keep: bool) -> bool:
    if keep and any(lines(one, width) > 1 for one in paragraphs):
        return False
    return height(paragraphs, width) <= most + 0.01


def _halved(
    shown: Sequence[Paragraph], at: int, width: float, most: float, keep: bool
) -> Paragraph:
    """Return the longest beginning of one paragraph with which all fit, or half of it."""

    def fits(kept: int) -> bool:
        tried = (*shown[:at], shortened(shown[at], kept), *shown[at + 1 :])
        return _fits(tried, width, most, keep)

    whole = len(shown[at].text)
    kept = largest(fits, whole - 1)
    return shortened(shown[at], kept or max(0, whole // 2 - 1))


def largest(fits: Callable[[int], bool], most: int) -> int:
    """Return the largest number from 1 to `most` that fits, or 0."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _line(paragraph: Paragraph) -> float:
    text = paragraph.text
    tall = not text.isascii() and any(
        ord(c) >= 0x1F000 or unicodedata.east_asian_width(c) in "WF" for c in text
    )
    return TALL_LINE if tall else LINE
