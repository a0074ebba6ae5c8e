"""From a token's bytes to characters, when a character may be spread over several tokens.

Knows UTF-8 and which characters would be invisible or would disturb the line. Knows no token, no
fate and no font.
"""

from __future__ import annotations

import codecs
import unicodedata
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

# Embedding and override controls would reorder what stands beside them.
_BIDI_CONTROLS = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)


class Decoded(NamedTuple):
    """What one token adds to a text whose last bytes may be a begun character.

    Attributes
    ----------
    text
        Characters that are complete with this token, one begun earlier among them. A byte that
        can be part of no character stands as a lone surrogate (`surrogateescape`).
    carry
        Bytes of a character that is still incomplete, earlier tokens' bytes among them.
    own
        How many of the bytes in `carry` are this token's.
    completes
        Whether the first character of `text` was begun by an earlier token.
    """

    text: str
    carry: bytes
    own: int
    completes: bool


def decode_piece(carry: bytes, piece: bytes) -> Decoded:
    """Decode a token's bytes after a begun character.

    If the token does not go on with that character, the begun bytes stay where they were shown,
    with the token they came from, and this token starts afresh.
    """
    data = carry + piece
    text, used = codecs.utf_8_decode(data, "surrogateescape", False)
    rest = data[used:]
    if carry and text and _is_escape(text[0]):
        text, used = codecs.utf_8_decode(piece, "surrogateescape", False)
        return Decoded(text, piece[used:], len(piece) - used, False)
    return Decoded(text, rest, min(len(rest), len(piece)), bool(carry and text))


class Run(NamedTuple):
    """A part of a text; `named`: ⟨..⟩ stands for a byte or for a character that is not drawn."""

    text: str
    named: bool


@lru_cache(maxsize=1 << 16)
def runs(text: str) -> tuple[Run, ...]:
    """Return text fit to be drawn: bytes as hex, unseen and direction-changing characters by name.

    Spaces, tabs and line feeds stay as they are.
    """
    if text.isprintable() and not is_mark(text[:1]):
        return (Run(text, False),) if text else ()
    alone = all(is_mark(c) or unicodedata.category(c) == "Cf" for c in text)
    parts: list[Run] = []
    for escaped, group in groupby(text, _is_escape):
        if escaped:
            parts.append(Run(hex_bytes(bytes(ord(c) - 0xDC00 for c in group)), True))
            continue
        for name, same in groupby(group, lambda c: _name(c, alone)):
            alike = "".join(same)
            parts.append(Run(f"⟨{name}⟩" * len(alike) if name else alike, bool(name)))
    return tuple(parts)


def written(text: str) -> str:
    """Return the runs of a text joined."""
    return "".join(run.text for run in runs(text))


def hex_bytes(data: bytes) -> str:
    """Write bytes that are no characters, or not yet: ⟨E4 B8⟩."""
    return f"⟨{data.hex(' ').upper()}⟩"


def is_mark(character: str) -> bool:
    """Whether a character is drawn over the one before it."""
    return bool(character) and unicodedata.category(character) in ("Mn", "Me")


def on_one_line(text: str) -> str:
    """Write a text with its line ends and its white space visible where that is all it has."""
    shown = text.replace("\r\n", "\n")
    if shown.isspace():
        shown = shown.replace(" ", "·")
    return written(shown.replace("\n", "↵").replace("\t", "⇥"))


def without_escapes(text: str) -> str:
    """Return the characters of a text, without the surrogates that stand for stray bytes."""
    return text if text.isprintable() else "".join(c for c in text if not _is_escape(c))


def _is_escape(character: str) -> bool:
    return "\udc80" <= character <= "\udcff"


def _name(character: str, alone: bool) -> str:
    """Name a character that would not be seen or would disturb the line, else ""."""
    if character in "\n\t":
        return ""
    category = unicodedata.category(character)
    if category == "Cc":
        return f"{ord(character):02X}"
    unseen = character in _BIDI_CONTROLS or category in ("Zl", "Zp", "Cn", "Co", "Cs")
    if unseen or (alone and (category == "Cf" or is_mark(character))):
        return f"U+{ord(character):04X}"
    return ""
