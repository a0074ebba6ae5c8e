"""From a token's text in the vocabulary to its own bytes: what decoding is made of.

Text is the UTF-8 of the tokens' bytes, one after the other; so a stream costs the same for every
token, and nothing is ever cleaned up afterwards. Knows no ids and no files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.errors import DraftscopeError

SUPPORTED = (
    "Supported are byte-level decoders (ByteLevel) and those of SentencePiece vocabularies "
    "(Metaspace, or Replace, ByteFallback, Fuse and Strip)."
)


def _byte_alphabet() -> dict[str, int]:
    """Return the characters that byte-level vocabularies write bytes as (GPT-2's table)."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(0x100) if byte not in shown]
    table = {chr(byte): byte for byte in shown}
    table.update({chr(0x100 + index): byte for index, byte in enumerate(hidden)})
    return table


BYTE_ALPHABET = _byte_alphabet()


@dataclass(frozen=True)
class PieceDecoder:
    """How a vocabulary's entries become bytes.

    Attributes
    ----------
    replacements
        Pairs of strings, replaced in order in every entry.
    strip
        Spaces that the beginning of a text loses (0 or 1).
    first_without
        What the first token of a text loses wherever it stands in it (Metaspace), or "".
    """

    byte_level: bool = False
    byte_fallback: bool = False
    replacements: tuple[tuple[str, str], ...] = ()
    strip: int = 0
    first_without: str = ""

    def piece(self, entry: str) -> bytes:
        """Return an entry's own bytes; they can be a part of a character."""
        if self.byte_level:
            found = [BYTE_ALPHABET.get(character) for character in entry]
            known = bytes(byte for byte in found if byte is not None)
            return known if len(known) == len(found) else entry.encode()
        for old, new in self.replacements:
            entry = entry.replace(old, new)
        if self.byte_fallback and len(entry) == 6 and entry[:3] == "<0x" and entry[5] == ">":
            try:
                return bytes.fromhex(entry[3:5])
            except ValueError:
                pass
        return entry.encode()

    def first_piece(self, entry: str) -> bytes:
        """Return an entry's bytes where it begins a text."""
        if self.first_without:
            entry = entry.replace(self.first_without, "")
        piece = self.piece(entry)
        return piece[1:] if self.strip and piece.startswith(b" ") else piece


def piece_decoder(description: dict[str, Any] | None) -> PieceDecoder:
    """Understand the `decoder` of a tokenizer.json.

    Raises
    ------
    DraftscopeError
        Naming the decoder that is not supported.
    """
    if description is None:
        raise DraftscopeError(f"The tokenizer has no decoder, which is not supported. {SUPPORTED}")
    if description["type"] == "ByteLevel":
        return PieceDecoder(byte_level=True)
    steps = description["decoders"] if description["type"] == "Sequence" else [description]
    fields: dict[str, Any] = {}
    fused = False
    for step in steps:
        kind = step["type"]
        if kind == "Fuse":
            fused = True
        elif kind == "ByteFallback":
            fields["byte_fallback"] = True
        elif kind == "Replace" and "String" in step["pattern"]:
            pair = (step["pattern"]["String"], step["content"])
            fields["replacements"] = (*fields.get("replacements", ()), pair)
        elif kind == "Strip" and fused and _strips_one_space(step):
            fields["strip"] = step["start"]
        elif kind == "Metaspace":
            mark = step["replacement"]
            fields["replacements"] = (*fields.get("replacements", ()), (mark, " "))
            fields["first_without"] = mark if step.get("prepend_scheme") != "never" else ""
        else:
            raise DraftscopeError(f"The tokenizer's decoder {kind} is not supported. {SUPPORTED}")
    return PieceDecoder(**fields)


def _strips_one_space(step: dict[str, Any]) -> bool:
    return step["content"] == " " and step["start"] in (0, 1) and step["stop"] == 0
