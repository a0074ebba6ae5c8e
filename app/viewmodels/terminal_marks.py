"""How a token looks on a terminal: each fate has a colour and a mark that does without it.

Knows escape codes and what a terminal must never be sent. Knows no stream, no model and no file.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# Select Graphic Rendition. The mark (4 underline, 9 strike, 7 reverse, 1;3 bold italic, 2 faint)
# tells fates apart without the colour.
_STYLES: Mapping[str, str] = {
    "prompt": "2",
    "pending": "3;33",
    "accepted": "4;32",
    "rejected": "9;31",
    "discarded": "2;9",
    "cut": "2;3",
    "correction": "7;34",
    "bonus": "1;3;35",
    "plain": "",
}
_EMITTED = ("accepted", "correction", "bonus", "plain")
_DRAFTS = ("rejected", "discarded", "cut")

# All controls but tab and line feed: a model's text must not move the cursor or set a title.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def styled(fate: str, text: str) -> str:
    """Return text in a fate's colour and mark.

    Each line is styled by itself, so that no mark runs to the terminal's edge.

    Parameters
    ----------
    fate
        A fate, a closing token's kind, "prompt" or "pending".
    """
    code = _STYLES[fate]
    if not code:
        return text
    return "\n".join(f"\x1b[{code}m{line}\x1b[0m" if line else "" for line in text.split("\n"))


def legend(*, drafts: bool) -> str:
    """Return the names of what may become of a token, each in its own style.

    Parameters
    ----------
    drafts
        Tokens that do not stay are shown, too.
    """
    return "  ".join(styled(name, name) for name in (*_EMITTED, *(_DRAFTS if drafts else ())))


def harmless(text: str) -> str:
    """Return the text with its control characters made visible."""
    return _CONTROLS.sub(_picture, text)


def on_one_line(piece: bytes) -> str:
    """Return the bytes of a token that is not in the text, without a line break."""
    return harmless(piece.decode("utf-8", "replace").replace("\n", "⏎"))


def _picture(control: re.Match[str]) -> str:
    code = ord(control[0])
    if code < 0x20:
        return chr(0x2400 + code)  # Control Pictures
    return "␡" if code == 0x7F else f"\\x{code:02x}"
