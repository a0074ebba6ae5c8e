"""Tokens on a terminal as they come: when they are styled, and what is written around them.

Knows the terminal's stream; how a fate looks there is `app.viewmodels.terminal_marks`'. Knows no
model and no file.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TextIO

from app.viewmodels.terminal_marks import harmless, legend, on_one_line, styled
from engine.trace.events import Fate

if TYPE_CHECKING:
    from engine.trace.events import DraftedToken, Round


def shows_colours(stream: TextIO) -> bool:
    """Whether to write styles: a terminal that takes them, and no NO_COLOR (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


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
