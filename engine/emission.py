"""Which tokens of a verdict reach the text: end tokens, stop strings, limits. No model, no rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.trace.events import FinishReason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.models.text.streaming import TextStream


@dataclass(frozen=True)
class Limits:
    """Where a text must end."""

    prompt_length: int
    max_new_tokens: int
    context_length: int  # of the target
    end_tokens: frozenset[int] = frozenset()

    @property
    def _longest(self) -> int:
        return min(self.prompt_length + self.max_new_tokens, self.context_length)

    def room(self, position: int) -> int:
        """Return how many tokens may still be added to a text of `position` tokens."""
        return self._longest - position

    def reason(self, token: int, position: int, stopped: bool) -> FinishReason | None:
        """Say why the text ends with `token`, which made it `position` tokens long, or None.

        A stop wins over the limit when both fall on one token.
        """
        if token in self.end_tokens:
            return FinishReason.END_TOKEN
        if stopped:
            return FinishReason.STOP_STRING
        if position < self._longest:
            return None
        if position < self.prompt_length + self.max_new_tokens:
            return FinishReason.CONTEXT
        return FinishReason.LIMIT


@dataclass(frozen=True)
class Emission:
    """What one round added to the text."""

    tokens: tuple[int, ...]
    texts: tuple[str, ...]  # released by each token
    reason: FinishReason | None  # None: the text goes on
    cut: bool  # whether tokens were left out behind the end


def emit(kept: Sequence[int], position: int, limits: Limits, stream: TextStream) -> Emission:
    """Push kept tokens into the stream until one ends the text.

    Parameters
    ----------
    kept
        Accepted tokens and the closing one.
    position
        Tokens (prompt + emitted) before the round.
    limits, stream
        Of the run.
    """
    texts: list[str] = []
    for count, token in enumerate(kept, start=1):
        texts.append(stream.push(token))
        reason = limits.reason(token, position + count, stream.stopped)
        if reason is not None:
            return Emission(tuple(kept[:count]), tuple(texts), reason, count < len(kept))
    return Emission(tuple(kept), tuple(texts), None, False)
