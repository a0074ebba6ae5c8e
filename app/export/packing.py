"""Data packed into an element of a page: JSON, deflated, in letters that are never markup.

The same data gives the same letters. Knows no page and no script.
"""

from __future__ import annotations

import base64
import zlib

import msgspec

_LEVEL = 9


def pack(data: object) -> str:
    """Return data as base64 of raw deflate of JSON in UTF-8."""
    encoded = msgspec.json.encode(data)
    squeezer = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return base64.b64encode(squeezer.compress(encoded) + squeezer.flush()).decode()


def unpack(packed: str) -> bytes:
    """Return the JSON that was packed."""
    return zlib.decompress(base64.b64decode(packed), -zlib.MAX_WBITS)
