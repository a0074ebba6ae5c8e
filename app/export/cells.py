"""Cells of a table that a spreadsheet opens: text that it must not run, and bytes as text.

Knows what spreadsheets take for formulas. A quote before such a text makes it one; `restored` takes
it away again, so that nothing is lost. Knows no token and no file.
"""

from __future__ import annotations

import re
import unicodedata

# What begins a formula: signs, their full-width, small and typographic twins.
_SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212"
_BLANKS = r"\s\x00-\x1f\x7f-\xa0\xad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff"
_SIGN = re.compile(f"[{_SIGNS}]")
# A spreadsheet of another country parts cells at semicolons, whatever the quotes say.
_INNER = re.compile(f"([;\t][{_BLANKS}]*'*)(?=[{_SIGNS}])")
_QUOTED = re.compile(f"([;\t][{_BLANKS}]*'*)'(?=[{_SIGNS}])")
_BYTES = "0x"  # so that no spreadsheet takes 31 for a number or 12e4 for a larger one


def guarded(text: str) -> str:
    """Return a text cell that no spreadsheet runs, whatever the text is."""
    text = _INNER.sub(r"\1'", text)
    return f"'{text}" if text.startswith("'") or _starts_formula(text) else text


def restored(cell: str) -> str:
    """Return the text that a cell was made of."""
    return _QUOTED.sub(r"\1", cell.removeprefix("'"))


def bytes_cell(data: bytes) -> str:
    """Return bytes as text: 0x and two digits each."""
    return _BYTES + data.hex()


def restored_bytes(cell: str) -> bytes:
    """Return the bytes that a cell was made of.

    Raises
    ------
    ValueError
        If it was made of none.
    """
    if not cell.startswith(_BYTES):
        raise ValueError(f"{cell!r} holds no bytes")
    return bytes.fromhex(cell.removeprefix(_BYTES))


def readable(piece: bytes) -> str:
    r"""Return a token's bytes as text; bytes that are no character, and NUL, are written \xff."""
    return piece.decode("utf-8", "backslashreplace").replace("\0", "\\x00")


def _starts_formula(text: str) -> bool:
    for character in text:
        if character in "\t\r\n":
            return True
        if not (character.isspace() or unicodedata.category(character) in ("Cc", "Cf")):
            return _SIGN.match(character) is not None
    return False
