"""Tokens on a terminal: each fate has a colour and a mark that does without it.

Knows escape codes and what a terminal must never be sent. Knows no model and no file.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, TextIO

from engine.trace.events import Fate, Round

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.trace.events import DraftedToken

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


def shows_colours(stream: TextIO) -> bool:
    """Whether to write styles: a terminal that takes them, and no NO_COLOR (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


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


class TokenPrinter:
    """Writes rounds as they come: styled on a terminal, else the text alone, exactly.

    Parameters
    ----------
    stream
        Standard output.
    show_drafts
        On a terminal, write tokens that did not stay, too.
    """

    def __init__(self, stream: TextIO, *, show_drafts: bool = False) -> None:
        self._stream = stream
        self._terminal = stream.isatty()
        self._styled = shows_colours(stream)
        self._show_drafts = show_drafts and self._styled
        self._line_open = False

    def begin(self, prompt: str) -> None:
        """Write the legend and the prompt; nothing where no styles are shown."""
        if not self._styled:
            return
        names = legend(drafts=self._show_drafts)
        self._stream.write(f"{names}\n\n{self._style('prompt', harmless(prompt))}\n\n")
        self._stream.flush()

    def round(self, one: Round) -> None:
        """Write what a round emitted, by fate, and what it dropped if that was asked for."""
        fates = ["accepted"] * one.accepted
        texts = list(one.texts)
        closing = texts[one.accepted :]
        self._write("".join(map(self._token, fates, texts)))
        if self._show_drafts:
            self._write("".join(map(self._draft, one.drafted)))
        if one.closing is not None and closing:
            self._write(self._token(one.closing.kind.value, closing[0]))
        self._stream.flush()

    def end(self, tail: str) -> None:
        """Write what was withheld, and end the line on a terminal."""
        self._write(self._token("plain", tail))
        if self._terminal and self._line_open:
            self._stream.write("\n")
        self._stream.flush()

    def _write(self, text: str) -> None:
        if text:
            self._stream.write(text)
            self._line_open = not text.endswith("\n")

    def _token(self, fate: str, text: str) -> str:
        return self._style(fate, harmless(text)) if self._terminal else text

    def _draft(self, token: DraftedToken) -> str:
        if token.fate is Fate.ACCEPTED:
            return ""
        return self._style(token.fate.value, on_one_line(token.piece))

    def _style(self, fate: str, text: str) -> str:
        return styled(fate, text) if self._styled else text


def _picture(control: re.Match[str]) -> str:
    code = ord(control[0])
    if code < 0x20:
        return chr(0x2400 + code)  # Control Pictures
    return "␡" if code == 0x7F else f"\\x{code:02x}"
