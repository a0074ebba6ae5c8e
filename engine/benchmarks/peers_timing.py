"""When the tokens of one run arrived, on whichever side: what every rate of `peers` comes from.

Both sides are timed alike. The prompt is read before the first arrival, so a rate is of what came
after it: those tokens, over the time from the first arrival to the last. Knows no model.
"""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Decoded:
    """One text as one side decoded it.

    Attributes
    ----------
    token_ids
        All new tokens, the one that ended the text too.
    tokens
        That arrived after the first burst.
    decode_ns
        From the first arrival to the last.
    call_ns
        Of the whole call, the prompt's reading too.
    passes
        Of the target with a token to show for it; the prompt's own is none.
    rounds_ns
        Draft, verify, accept and commit of the rounds after the first, summed; None where the side
        does not say.
    """

    token_ids: tuple[int, ...]
    tokens: int
    decode_ns: int
    call_ns: int
    passes: int
    rounds_ns: int | None = None


class Arrivals:
    """Notes each burst of tokens at the moment that its reader has it."""

    def __init__(self) -> None:
        self._begin = time.perf_counter_ns()
        self._moments: list[int] = []
        self._bursts: list[list[int]] = []

    def put(self, tokens: list[int]) -> None:
        """Take in the tokens that one pass gave."""
        self._moments.append(time.perf_counter_ns())
        self._bursts.append(tokens)

    def decoded(self, rounds_ns: int | None = None) -> Decoded:
        """Return the whole run; to be called when the call has returned."""
        end = time.perf_counter_ns()
        later = self._bursts[1:]
        return Decoded(
            token_ids=tuple(token for burst in self._bursts for token in burst),
            tokens=sum(map(len, later)),
            decode_ns=self._moments[-1] - self._moments[0] if later else 0,
            call_ns=end - self._begin,
            passes=len(self._bursts),
            rounds_ns=rounds_ns,
        )
