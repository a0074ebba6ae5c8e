"""One token as it stands in the strip: its text in fragments, its fate, what it shares.

Knows how a chip's text is cut into pieces that are drawn alike. Knows no round, no order of
tokens and no pixel.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from app.viewmodels.characters import hex_bytes, runs, without_escapes

if TYPE_CHECKING:
    from app.viewmodels.characters import Decoded
    from app.viewmodels.refs import TokenRef

FragmentKind = Literal["text", "bytes", "space", "newline"]

SHOWN_CHARACTERS = 160  # of a chip; longer tokens are elided in the middle
_TAIL_CHARACTERS = 40


class Fragment(NamedTuple):
    """A run of characters drawn alike on one line; a "newline" ends the line."""

    text: str
    kind: FragmentKind


class Chip(NamedTuple):
    """One shown token.

    Attributes
    ----------
    ref
        Which token.
    fate
        A key of the theme's fates.
    text
        The characters that are complete with this token; joined over emitted tokens, the text.
    fragments
        What is drawn.
    shares_before, shares_after
        A character is begun by an earlier token and goes on here, or is not complete here.
    starts_round
        A round boundary stands before it.
    elided
        Not all of the token's characters are drawn.
    """

    ref: TokenRef
    fate: str
    text: str
    fragments: tuple[Fragment, ...]
    shares_before: bool
    shares_after: bool
    starts_round: bool
    elided: bool


def make_chip(ref: TokenRef, fate: str, decoded: Decoded, carried: bool, starts: bool) -> Chip:
    """Return the chip of a decoded token; `carried`: a character was begun before it."""
    text = decoded.text
    own = decoded.carry[len(decoded.carry) - decoded.own :]
    fragments, elided = _fragments(text, own)
    goes_on = carried and not decoded.text and len(decoded.carry) > decoded.own
    return Chip(
        ref,
        fate,
        without_escapes(text),
        fragments,
        decoded.completes or goes_on,
        bool(own),
        starts,
        elided,
    )


@lru_cache(maxsize=1 << 16)
def _fragments(text: str, begun: bytes) -> tuple[tuple[Fragment, ...], bool]:
    elided = len(text) > SHOWN_CHARACTERS
    if elided:
        text = text[: SHOWN_CHARACTERS - _TAIL_CHARACTERS] + "…" + text[-_TAIL_CHARACTERS:]
    parts = _lines(text, show_space=not begun)
    if begun:
        parts.append(Fragment(hex_bytes(begun), "bytes"))
    return tuple(parts) or (Fragment("⟨⟩", "bytes"),), elided


def _lines(text: str, *, show_space: bool) -> list[Fragment]:
    """Cut a text at its line ends; a line of white space alone is made visible if asked."""
    parts: list[Fragment] = []
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n")):
        if number:
            parts.append(Fragment("↵", "newline"))
        if show_space and line.isspace():
            dots = "".join("⇥" if c == "\t" else "·" for c in line)
            parts.append(Fragment(dots, "space"))
        else:
            parts += [
                Fragment(run.text.replace("\t", "    "), "bytes" if run.named else "text")
                for run in runs(line)
            ]
    return parts
