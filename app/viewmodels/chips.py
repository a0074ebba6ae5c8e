"""One token as it stands in the strip: its text in fragments, its fate, what it shares.

Knows how a chip's text is cut into pieces that are drawn alike, and where a stop string cuts it.
Knows no round, no order of tokens and no pixel.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from app.viewmodels.characters import hex_bytes, on_one_line, runs, without_escapes

if TYPE_CHECKING:
    from app.viewmodels.characters import Decoded
    from app.viewmodels.refs import TokenRef

FragmentKind = Literal["text", "bytes", "space", "newline", "beyond"]

SHOWN_CHARACTERS = 160  # of a chip; longer tokens are elided in the middle
_TAIL_CHARACTERS = 40


class Fragment(NamedTuple):
    """A run of characters drawn alike on one line.

    A "newline" ends the line; what is "beyond" the stop string that cut the text is no part of it.
    """

    text: str
    kind: FragmentKind


class Cut(NamedTuple):
    """How a stop string cuts the text in a token or before it.

    Attributes
    ----------
    kept
        How many of the token's characters come before the cut.
    first
        Whether the cut is in this token or right before it.
    """

    kept: int
    first: bool


class Chip(NamedTuple):
    """One shown token.

    Attributes
    ----------
    ref
        Which token.
    fate
        A key of the theme's fates.
    text
        The characters that are complete with this token. Joined over emitted tokens they are the
        text and, where a stop string cut it, what lies beyond.
    fragments
        What is drawn.
    shares_before, shares_after
        A character is begun by an earlier token and goes on here, or is not complete here.
    starts_round
        A round boundary stands before it.
    elided
        Not all of the token's characters are drawn.
    cut
        Where a stop string cuts the text in this token or before it, in characters of `text`.
    """

    ref: TokenRef
    fate: str
    text: str
    fragments: tuple[Fragment, ...]
    shares_before: bool
    shares_after: bool
    starts_round: bool
    elided: bool
    cut: Cut | None = None


def make_chip(
    ref: TokenRef,
    fate: str,
    decoded: Decoded,
    carried: bool,
    starts: bool,
    *,
    cut: Cut | None = None,
    whole: bool = False,
) -> Chip:
    """Return the chip of a decoded token.

    Parameters
    ----------
    carried
        A character was begun before it.
    starts
        It is the first one that is shown of its round.
    cut
        Where a stop string cuts the text, in characters of `decoded.text`.
    whole
        Draw all characters of a long token.
    """
    text = decoded.text
    own = decoded.carry[len(decoded.carry) - decoded.own :]
    make = _fragments if whole else _shown_fragments
    fragments, elided = make(
        text, own, None if cut is None else cut.kept, len(text) if whole else SHOWN_CHARACTERS
    )
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
        cut and cut._replace(kept=len(without_escapes(text[: cut.kept]))),
    )


def _fragments(
    text: str, begun: bytes, cut: int | None, most: int
) -> tuple[tuple[Fragment, ...], bool]:
    """Return what is drawn of a text of at most `most` characters, and whether that is not all."""
    before, beyond = (text, "") if cut is None else (text[:cut], text[cut:])
    kept, after = _elided(before, most), _elided(beyond, most)
    elided = (kept, after) != (before, beyond)
    parts = _lines(kept, show_space=cut is not None or not begun)
    if begun and cut is None:
        parts.append(Fragment(hex_bytes(begun), "bytes"))
    elif cut is not None and (after or begun):
        unkept = on_one_line(after) + (hex_bytes(begun) if begun else "")
        parts.append(Fragment(unkept, "beyond"))
    return tuple(parts) or (Fragment("⟨⟩", "bytes"),), elided


_shown_fragments = lru_cache(maxsize=1 << 16)(_fragments)  # not of whole texts, which can be long


def _elided(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return text[: most - _TAIL_CHARACTERS] + "…" + text[-_TAIL_CHARACTERS:]


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
