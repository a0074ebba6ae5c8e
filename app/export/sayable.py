"""Text that any picture, page of XML and file's metadata can hold. Knows characters alone."""

from __future__ import annotations

import re

_UNSAID = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]")  # no font and no XML has them
_STEERING = re.compile("[\u202a-\u202e\u2066-\u2069]")  # turns round what follows, to a line's end


def sayable(text: str) -> str:
    """Return a text without what no picture can show: control characters, halves of characters.

    Characters that turn the direction of what follows are left out: what follows is not theirs.
    """
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _UNSAID.sub("\N{REPLACEMENT CHARACTER}", _STEERING.sub("", whole))
