"""What a drafter is. Knows no particular drafter and no rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from engine.trace.events import DraftEnd

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from engine.cache import KVCache
    from engine.laws import Lawmaker
    from engine.models.transformer import LowerRows
    from engine.penalties import Seen
    from engine.sampling import Sampling
    from engine.trace.events import Match, ModelInfo


@dataclass(frozen=True)
class Proposal:
    """The tokens of one round's draft with the law that each was drawn from."""

    tokens: tuple[int, ...]  # k of them, or fewer
    q_draft: Tensor | None = None  # [k, V]; None: deterministic, one-hot at the tokens
    support: Tensor | None = None  # [R]: the only ids that q_draft can hold mass at; None: all V
    match: Match | None = None  # n-gram: where the tokens were copied from
    end: DraftEnd | None = None  # why there are fewer than were asked for
    lower: LowerRows | None = None  # early exit: what the verifying pass need not compute again

    @property
    def length(self) -> int:
        """How many tokens were drafted."""
        return len(self.tokens)


@dataclass(frozen=True)
class QueuedProposal:
    """A round's draft that stands on the device, and that the host has not read."""

    ids: Tensor  # [k], of which the first so many are proposed as the drafter was sure of
    q_draft: Tensor | None = None  # [k, V]; None: one-hot at the ids
    support: Tensor | None = None  # as in Proposal
    sure: Tensor | None = None  # [k] of bool: whether to draw token i; None: it was not asked
    sound: Tensor | None = None  # [k] of bool: whether token i was drawn from numbers; None: all
    match: Match | None = None
    end: DraftEnd | None = None  # why k is less than was asked for, where the drafter was sure
    lower: LowerRows | None = None

    @property
    def length(self) -> int:
        """How many tokens were drafted, proposed or not."""
        return self.ids.shape[0]

    def read(self, tokens: tuple[int, ...]) -> Proposal:
        """Return the proposal that it turned out to be."""
        count = len(tokens)
        end = self.end if count == self.ids.shape[0] else DraftEnd.UNSURE
        q_draft = None if self.q_draft is None else self.q_draft[:count]
        if not count:
            q_draft = None
        return Proposal(
            tokens,
            q_draft,
            None if q_draft is None else self.support,
            match=self.match,
            end=end,
            lower=self.lower,
        )


@dataclass(frozen=True)
class Context:
    """What a drafter may look at between rounds."""

    tokens: Sequence[int]  # prompt + emitted, T of them
    hidden: Tensor  # [T-1 or more, D]: the target's states, before its final norm
    cache: KVCache | None = None  # the target's own; early exit works past its length
    seen: Seen | None = None  # what the text holds, where the sampling asks for it
    sequence: States | None = None  # asked for the states after lower layers


class States(Protocol):
    """Where states after lower layers are kept, or made again."""

    def states(
        self, taps: tuple[int, ...], begin: int = ..., stopped: Callable[[], bool] = ...
    ) -> Tensor:
        """Return [T-1 - begin, (1 + taps) D]: after the last layer, then after each of `taps`."""
        ...


@dataclass(frozen=True)
class DraftRequest:
    """How a drafter is to draft in one round.

    At most `k` tokens, by `sampling`; `uniforms[i]` draws token i. The draft ends early, before a
    draw, where the drafter's largest probability (at temperature 1) is below `confidence`; not
    before `k_min` tokens.

    With `queue`, the uniforms stand on the device, and a drafter that works there reads nothing
    back: it draws k tokens, says of each whether it was sure, and returns a QueuedProposal.
    """

    k: int
    sampling: Sampling
    uniforms: Sequence[float] = ()
    k_min: int = 0
    confidence: float = 0.0
    queue: Tensor | None = None  # [k] or more, float64
    laws: Lawmaker | None = None  # who makes laws and draws from them; None: torch


class Drafter(Protocol):
    """Proposes tokens for one sequence at a time and takes back what was not kept."""

    spec: str  # as in Settings.drafter
    info: ModelInfo

    @property
    def cache(self) -> KVCache | None:
        """Its own cache, if it has one; its length is at most `len(tokens) - 1` between rounds."""
        ...

    def begin(self) -> None:
        """Forget the last sequence."""
        ...

    def prepare(self, context: Context, stopped: Callable[[], bool]) -> None:
        """Read the prompt ahead of the first round, so that no round's time contains it."""
        ...

    def propose(self, context: Context, request: DraftRequest) -> Proposal | QueuedProposal:
        """Draft up to k tokens to follow `context.tokens`.

        It may stop before drawing another token; a token once drawn is in the proposal and will be
        verified, or the law would be biased. A queued draft goes on, and `sure` says where it ends:
        by the laws alone and never by what was drawn there.
        """
        ...

    def observe(self, tokens: Sequence[int]) -> None:
        """Learn what was committed and drop every cached position that no longer stands."""
        ...

    def close(self) -> None:
        """Give its caches back."""
        ...
