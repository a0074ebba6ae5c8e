"""Our greedy text against a peer's on the same weights: identical, a tie, or a fault.

Two implementations round apart even at one width. A first difference is a *tie* where one of them
held the two tokens no further apart than passes of several widths of either round apart among
themselves; else it is a *fault*. Knows two lists of ids and what scores them on both sides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

import msgspec

from engine.comparison import first_gap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from engine.session import Session

WIDTHS = (1, 2, 3, 5, 9)  # of the peer's passes that are compared


class Scorer(Protocol):
    """A peer that can say what it computed."""

    def rows(self, tokens: Sequence[int], widths: Sequence[int]) -> Tensor:
        """Return the logits after `tokens` from passes of several widths; [widths, V]."""
        ...


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """The first position at which the texts differ.

    Margins are of logits: how far a side held its own token above the other's, in a one-token
    pass. None where a text had ended.
    """

    prompt: int  # index in its set
    position: int  # index among the new tokens
    our_id: int | None  # None: our text had ended
    their_id: int | None
    our_margin: float | None = None
    their_margin: float | None = None
    rounding: float | None = None  # how far apart one side's passes of several widths round
    kind: Literal["tie", "fault"] = "fault"


def first_difference(
    session: Session,
    peer: Scorer,
    prompt: int,
    tokens: Sequence[int],
    ours: Sequence[int],
    theirs: Sequence[int],
) -> Difference | None:
    """Find the first difference of two greedy texts, and say what it is; None if there is none.

    Parameters
    ----------
    prompt
        Its index, to be named.
    tokens
        The prompt's ids.
    ours, theirs
        New ids.
    """
    gap = first_gap(session.target.transformer, session.pool, tokens, ours, theirs)
    if gap is None:
        return None
    found = gap.difference
    our_id, their_id = found.speculative_id, found.plain_id
    if our_id is None or their_id is None or gap.rounding is None:
        return Difference(prompt=prompt, position=found.position, our_id=our_id, their_id=their_id)
    assert found.speculative_logit is not None
    assert found.plain_logit is not None
    ours_apart = found.speculative_logit - found.plain_logit
    rows = peer.rows([*tokens, *ours[: found.position]], WIDTHS)
    theirs_apart = float(rows[0, their_id] - rows[0, our_id])
    rounding = max(gap.rounding, float((rows - rows[0]).abs().max()))
    tie = found.kind == "tie" or min(abs(ours_apart), abs(theirs_apart)) <= 2.0 * rounding
    return Difference(
        prompt=prompt,
        position=found.position,
        our_id=our_id,
        their_id=their_id,
        our_margin=ours_apart,
        their_margin=theirs_apart,
        rounding=rounding,
        kind="tie" if tie else "fault",
    )
