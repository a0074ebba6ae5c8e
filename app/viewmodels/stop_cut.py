"""Where a stop string cut a text: which bytes of the last tokens are no part of it.

The tokens are kept in the trace and the text ends before the stop string, so both can be shown.
Knows emitted tokens and stop strings. Knows no chip and no pixel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from app.viewmodels.refs import CLOSING_SLOT, TokenRef
from engine.trace.events import Fate, FinishReason

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from app.viewmodels.document import Document
    from engine.trace.events import Round


class StopCut(NamedTuple):
    """The end of a text that a stop string cut.

    Attributes
    ----------
    stop
        The stop string.
    kept
        For each token of which not all bytes are in the text, in order, how many are.
    """

    stop: str
    kept: Mapping[TokenRef, int]


def stop_cut(document: Document) -> StopCut | None:
    """Return where a stop string cut the document's text, or None if none did.

    The stop string ends in the last token. Of several the one counts that ends first, then the
    longest: `engine.models.text.streaming` cuts the same way. UTF-8 lets bytes be searched as
    well as characters, so that a stop string may begin with a half of one.
    """
    started, end = document.started, document.finished
    if started is None or end is None or end.reason is not FinishReason.STOP_STRING:
        return None
    stops = {stop: stop.encode("utf-8", "surrogatepass") for stop in started.stop_strings}
    tokens = _last_tokens(document.rounds, max(map(len, stops.values()), default=0))
    data = b"".join(piece for _, piece in tokens)
    before_last = len(data) - len(tokens[-1][1]) if tokens else 0
    found = [
        (start + len(code), start, stop)
        for stop, code in stops.items()
        if (start := data.find(code, max(0, before_last - len(code) + 1))) >= 0
    ]
    if not found:
        return (
            None  # shown control tokens stand inside it, or it was made of bytes that are no text
        )
    _, start, stop = min(found)
    kept: dict[TokenRef, int] = {}
    at = 0
    for ref, piece in tokens:
        if at + len(piece) > start:
            kept[ref] = max(0, start - at)
        at += len(piece)
    return StopCut(stop, kept)


def _last_tokens(rounds: Sequence[Round], longest: int) -> list[tuple[TokenRef, bytes]]:
    """Return the last emitted token and those before it that hold `longest` bytes."""
    tokens: list[tuple[TokenRef, bytes]] = []
    held = 0
    for ref, piece in _emitted_backwards(rounds):
        held += len(piece) if tokens else 0
        tokens.insert(0, (ref, piece))
        if held >= longest:
            break
    return tokens


def _emitted_backwards(rounds: Sequence[Round]) -> Iterator[tuple[TokenRef, bytes]]:
    for one in reversed(rounds):
        if one.closing is not None:
            yield TokenRef(one.index, CLOSING_SLOT), one.closing.piece
        for slot in range(len(one.drafted) - 1, -1, -1):
            if one.drafted[slot].fate is Fate.ACCEPTED:
                yield TokenRef(one.index, slot), one.drafted[slot].piece
