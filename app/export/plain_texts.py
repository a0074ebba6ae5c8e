"""What text each token of a plain run added, where its trace kept only ids and the whole text.

A boundary between two tokens is told only where the whole text and the bytes of known ids leave one
place for it; elsewhere a token's text is given out with the next boundary. Nothing is guessed.
"""

from __future__ import annotations

import codecs
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LONGEST = 48  # bytes of a token that is not known


def texts_of(
    ids: Sequence[int], text: str, pieces: Mapping[int, bytes], ends: Sequence[int] = ()
) -> tuple[str, ...] | None:
    """Return what each token added, "" for one that waits for the next boundary.

    Parameters
    ----------
    ids, text
        Of the whole run.
    pieces
        Bytes of ids, as far as they are known.
    ends
        Ids that add nothing to the text.

    Returns
    -------
    Joined they are `text`. None if ids and text do not fit together.
    """
    data = text.encode("utf-8", "surrogatepass")
    known = [b"" if number in ends else pieces.get(number) for number in ids]
    forward = [{0}]
    for piece in known:
        forward.append(_after(forward[-1], piece, data))
    if len(data) not in forward[-1]:
        return None
    places = {len(data)}
    told: list[int | None] = [len(data)]
    for piece, reached in zip(reversed(known), reversed(forward[:-1]), strict=True):
        places = {place for place in reached if _after({place}, piece, data) & places}
        told.append(next(iter(places)) if len(places) == 1 else None)
    told.reverse()
    return _cut(data, told)


def _after(places: set[int], piece: bytes | None, data: bytes) -> set[int]:
    """Return where the text may stand after a token, by where it may stand before it."""
    if piece is not None:
        return {at + len(piece) for at in places if data.startswith(piece, at)}
    return {
        end for at in places for end in range(at + 1, min(at + _LONGEST, len(data)) + 1)
    }  # fmt: skip


def _cut(data: bytes, boundaries: Sequence[int | None]) -> tuple[str, ...]:
    """Return the text between boundaries; a character is given out when it is complete."""
    stream = codecs.getincrementaldecoder("utf-8")("replace")
    texts, begun = [], 0
    for _, end in pairwise(boundaries):
        if end is None:
            texts.append("")
            continue
        texts.append(stream.decode(data[begun:end]))
        begun = end
    return tuple(texts)
