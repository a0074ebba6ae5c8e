"""Drafting by look-up: what followed the last time the text ended like this.

Saxena 2023, "Prompt lookup decoding". Deterministic, so its law is one-hot. Knows token ids only.
It remembers where its last match was: while the text keeps following that place, it goes on there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.drafters.protocol import Proposal
from engine.trace.events import DraftEnd, Match, ModelInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from engine.drafters.protocol import Context, DraftRequest


class NgramDrafter:
    """Copies the tokens that followed the latest earlier occurrence of the text's last n-gram."""

    cache = None

    def __init__(
        self, end_tokens: Collection[int] = (), *, longest: int = 4, shortest: int = 1
    ) -> None:
        """Set the lengths of the n-grams that are looked up, longest first.

        Single tokens count by default: a pass on a few tokens costs little more than on one, so a
        poor match costs little and an ordinary text has few others.

        `end_tokens` are never proposed: a copied end of turn would say nothing about this text.
        """
        self.spec = "ngram"
        self.info = ModelInfo(
            name=f"n-gram look-up, {longest} to {shortest} tokens", kind="ngram", source="the text"
        )
        self._end_tokens = frozenset(end_tokens)
        self._lengths = range(longest, shortest - 1, -1)
        self.begin()

    def begin(self) -> None:
        """Forget the last sequence."""
        self._tokens: list[int] = []
        self._latest: dict[tuple[int, ...], int] = {}  # n-gram -> index of what followed it
        self._source: Match | None = None  # of the last proposal

    def prepare(self, context: Context, stopped: Callable[[], bool]) -> None:
        """Index the prompt."""
        self._read(context.tokens)

    def propose(self, context: Context, request: DraftRequest) -> Proposal:
        """Copy up to k tokens from the match; none if nothing matches."""
        self._read(context.tokens)
        match = self._followed() or self._look_up()
        self._source = match
        if request.k == 0:
            return Proposal(())
        if match is None:
            return Proposal((), end=DraftEnd.NO_MATCH)
        copied = self._tokens[match.start : match.start + request.k]
        for index, token in enumerate(copied):
            if token in self._end_tokens:
                copied = copied[:index]
                break
        end = DraftEnd.NO_MATCH if len(copied) < request.k else None
        return Proposal(tuple(copied), match=match if copied else None, end=end)

    def observe(self, tokens: Sequence[int]) -> None:
        """Follow the source along with the committed tokens, or lose it at the first difference."""
        grown = len(tokens) - len(self._tokens)
        source = self._source
        if source is not None:
            copied = self._tokens[source.start : source.start + grown]
            same = len(copied) == grown and list(tokens[len(self._tokens) :]) == copied
            self._source = Match(start=source.start + grown, length=source.length + grown)
            if not same:
                self._source = None
        self._read(tokens)

    def close(self) -> None:
        """Nothing is held."""

    def _followed(self) -> Match | None:
        """Return the place where the last match goes on, while the text has kept to it."""
        source = self._source
        if source is None or source.start >= len(self._tokens):
            return None
        return source

    def _look_up(self) -> Match | None:
        for length in self._lengths:
            if length >= len(self._tokens):
                continue
            start = self._latest.get(tuple(self._tokens[-length:]))
            if start is not None:
                return Match(start=start, length=length)
        return None

    def _read(self, tokens: Sequence[int]) -> None:
        """Index every n-gram together with the token that followed it."""
        for index in range(len(self._tokens), len(tokens)):
            for length in self._lengths:
                if length <= index:
                    self._latest[tuple(self._tokens[index - length : index])] = index
            self._tokens.append(tokens[index])
