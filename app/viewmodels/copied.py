"""What an n-gram drafter copied in one round, and from where. Knows no pixel, chip and colour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.viewmodels.refs import TokenRef
from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from app.viewmodels.document import Document


@dataclass(frozen=True)
class Copied:
    """The draft of one round and the tokens that it was copied from, one for one.

    Attributes
    ----------
    start
        Index in prompt + emitted tokens of the first token that was copied.
    matched
        Tokens just before `start` that are the last ones of the context, too.
    sources, drafted
        Tokens of the context, and those of the draft, both in order.
    """

    start: int
    matched: int
    sources: tuple[TokenRef, ...]
    drafted: tuple[TokenRef, ...]


def copied(document: Document, ref: TokenRef) -> Copied | None:
    """Return what the round of a token copied, or None if it copied nothing.

    None, too, if the round cannot be read back: whoever paints cannot do anything about it.
    """
    if ref.in_prompt or not 0 <= ref.round < len(document.rounds):
        return None
    try:
        one = document.rounds[ref.round]
        if one.match is None:
            return None
        length = min(len(one.drafted), one.position - one.match.start)
        found = [document.ref_at(one.match.start + slot) for slot in range(max(0, length))]
    except DraftscopeError:
        return None
    sources = tuple(source for source in found if source is not None)
    if not sources:
        return None
    drafted = tuple(TokenRef(ref.round, slot) for slot in range(len(sources)))
    return Copied(one.match.start, one.match.length, sources, drafted)


def source_words(copy: Copied) -> str:
    """Say where the arrow comes from, if that is not in sight."""
    return f"token {copy.start + 1}"
