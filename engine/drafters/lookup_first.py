"""Drafting by look-up where the text repeats something long enough, and by another drafter else.

A stretch that the text has said before is copied for nothing and mostly accepted, where a drafter
with laws would guess token by token. Which of the two drafts is decided by the text so far, before
anything is drawn, so each round's law is that of its own drafter. Knows two drafters; no rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from engine.drafters.names import LOOKUP_FIRST
from engine.drafters.ngram import NgramDrafter

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from engine.cache import KVCache
    from engine.drafters.protocol import (
        Context,
        Drafter,
        DraftRequest,
        Proposal,
        QueuedProposal,
    )

LONGEST, SHORTEST = 5, 3  # tokens of a match that is trusted more than the other drafter


class LookupFirstDrafter:
    """An n-gram look-up with another drafter behind it."""

    def __init__(self, other: Drafter, end_tokens: Collection[int] = ()) -> None:
        """Take the drafter that drafts wherever nothing long enough is found."""
        self._lookup = NgramDrafter(end_tokens, longest=LONGEST, shortest=SHORTEST)
        self._other = other
        self.spec = f"{LOOKUP_FIRST}{other.spec}"
        self.info = msgspec.structs.replace(
            other.info,
            name=f"n-gram look-up from {SHORTEST} tokens, else {other.info.name}",
        )
        self.taps: tuple[int, ...] = getattr(other, "taps", ())

    @property
    def cache(self) -> KVCache | None:
        """The other drafter's; a look-up has none."""
        return self._other.cache

    def begin(self) -> None:
        """Forget the last sequence."""
        self._lookup.begin()
        self._other.begin()

    def prepare(self, context: Context, stopped: Callable[[], bool]) -> None:
        """Let both read the prompt."""
        self._lookup.prepare(context, stopped)
        self._other.prepare(context, stopped)

    def propose(self, context: Context, request: DraftRequest) -> Proposal | QueuedProposal:
        """Copy up to k tokens from a match, or let the other drafter draft."""
        found = self._lookup.propose(context, request)
        return found if found.length else self._other.propose(context, request)

    def observe(self, tokens: Sequence[int]) -> None:
        """Let both learn what was committed."""
        self._lookup.observe(tokens)
        self._other.observe(tokens)

    def close(self) -> None:
        """Give the other drafter's cache back."""
        self._other.close()
