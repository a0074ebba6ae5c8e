"""Which characters a PDF's glyphs stand for, as whoever searches or copies types them.

Qt looks glyphs up backwards, and finds the tab for a space and shapes for the letters of Arabic.
Knows the tables that Qt writes (ISO 32000-1, 9.10.3), one for each font. Knows no page.
"""

from __future__ import annotations

import re
import unicodedata

_TABLE = re.compile(rb"begincmap.*endcmap", re.DOTALL)
_LENGTH = re.compile(rb"/Length \d+")
_ROW = re.compile(rb"\[(?:<[0-9A-F]+> *)+\]")  # what the glyphs of a range stand for, one by one
_ONE = re.compile(rb"(?<=\n)(<([0-9A-F]{4})> <\2> )(<[0-9A-F]{4}>)")  # and of a single glyph
_VALUE = re.compile(rb"<([0-9A-F]{4})>")
_SHAPES = ((0xFB00, 0xFDFF), (0xFE70, 0xFEFE))  # letters as they look in a place, and ligatures


def typed(body: bytes) -> bytes:
    """Return an object's bytes; what its glyphs stand for is put right where it is such a table."""
    if _TABLE.search(body) is None:
        return body
    head, word, rest = body.partition(b"stream\n")
    stream, end, after = rest.rpartition(b"\nendstream")
    stream = _ROW.sub(lambda row: _VALUE.sub(_typed, row[0]), stream)
    stream = _ONE.sub(lambda row: row[1] + _VALUE.sub(_typed, row[3]), stream)
    return _LENGTH.sub(b"/Length %d" % len(stream), head) + word + stream + end + after


def _typed(value: re.Match[bytes]) -> bytes:
    code = int(value[1], 16)
    letters = chr(code)
    if any(low <= code <= high for low, high in _SHAPES):
        letters = unicodedata.normalize("NFKC", letters)
    elif code < 0x20:
        letters = " " if code == 0x09 else "\N{REPLACEMENT CHARACTER}"
    elif 0xD800 <= code < 0xE000:
        return value[0]
    return b"<%s>" % letters.encode("utf-16-be").hex().upper().encode()
