"""How a run ended, in one sentence: the window's and the exports' own words.

Knows the reasons of a run's end. Knows no token on show, no widget and no HTML.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.viewmodels.numbers import quoted
from app.viewmodels.stop_cut import stop_cut
from engine.trace.events import FinishReason

if TYPE_CHECKING:
    from app.viewmodels.document import Document

_SENTENCES = {
    FinishReason.END_TOKEN: "The run ended at an end token.",
    FinishReason.STOP_STRING: "The run ended at a stop string: the text is cut there.",
    FinishReason.LIMIT: "The run ended at its limit of new tokens.",
    FinishReason.CONTEXT: "The run ended where the model's context is full.",
    FinishReason.CANCELLED: "The run was stopped.",
    FinishReason.ERROR: "The run ended with an error.",
}
_AT_ONCE = "The run ended at once: its first token was an end token, so there is no text."


def ending(document: Document) -> str:
    """Say how the document's run ended, or "" while it has not."""
    end = document.finished
    if end is None:
        return ""
    if document.imported is not None:  # its text has no tokens to look at
        return _SENTENCES[end.reason]
    if end.reason is FinishReason.END_TOKEN and _ended_at_once(document):
        return _AT_ONCE
    cut = stop_cut(document)
    if cut is not None:
        stop = quoted(cut.stop.encode("utf-8", "surrogatepass"))
        return f"The run ended at the stop string {stop}: the text is cut there."
    return _SENTENCES[end.reason]


def _ended_at_once(document: Document) -> bool:
    """Whether the very first emitted token was an end token."""
    rounds, started = document.rounds, document.started
    emitted = rounds[0].emitted_ids if rounds else ()
    return started is not None and (not emitted or emitted[0] in started.end_tokens)
