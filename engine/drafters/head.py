"""Drafting with a head on the target's hidden states (multi-token prediction).

In the manner of EAGLE (Li et al. 2024) and DeepSeek-V3's MTP (2024, section 2.2): slot i joins
the target's state of token i with the embedding of token i+1 and predicts token i+2. Knows the
target's embedding and plan; no rule, no text. What it reads is beside the last state those after
some lower layers, where its file says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.cache import KVCache, PagePool
from engine.drafters.drafting import begin_draft
from engine.drafters.protocol import Proposal
from engine.prefill import CHUNK, Stopped
from engine.trace.events import DraftEnd

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from engine.drafters.head_weights import HeadWeights
    from engine.drafters.protocol import Context, DraftRequest, QueuedProposal
    from engine.models.network import Passed, Wish
    from engine.models.transformer import Transformer
    from engine.trace.events import ModelInfo


class HeadDrafter:
    """A head of a few layers with its own cache; it scores a part of the vocabulary only.

    Slots made from the target's states stand; slots that the head fed to itself while drafting
    are dropped after verification and made again from the target's states.
    """

    def __init__(
        self, target: Transformer, weights: HeadWeights, info: ModelInfo, spec: str = "head"
    ) -> None:
        """Attach a head to its target."""
        self.spec = spec
        self.info = info
        self.taps = weights.taps
        self._target = target
        self._weights = weights
        block, plan = weights.blocks[0], target.plan
        self._pool = PagePool(
            len(weights.blocks),
            block.kv_heads,
            block.head_dim,
            dtype=plan.dtype,
            device=plan.device,
        )
        self._cache = KVCache(self._pool)
        self._firm = 0  # slots made from the target's states

    @property
    def cache(self) -> KVCache:
        """The head's own cache: one slot for each token but the last."""
        return self._cache

    def begin(self) -> None:
        """Forget the last sequence."""
        self._cache.truncate(0)
        self._firm = 0

    def prepare(self, context: Context, stopped: Callable[[], bool]) -> None:
        """Make the prompt's slots, but for the last one, which the first round makes."""
        self._catch_up(context, len(context.tokens) - 2, stopped)

    def propose(self, context: Context, request: DraftRequest) -> Proposal | QueuedProposal:
        """Draft up to k tokens, the first from the target's states, the others from its own."""
        if request.k == 0:
            return Proposal(())
        if len(context.tokens) < 2:  # a slot joins a token's state with the token after it
            return Proposal((), end=DraftEnd.TOO_SHORT)
        weights, cache = self._weights, self._cache
        draft = begin_draft(context, request, self._target.vocabulary, weights.vocabulary)
        passed = self._follow(context, draft.wish)
        while True:
            draft.extend(passed.scores, passed)
            if draft.over:
                return draft.proposal()
            states = passed.rows[-1:]
            passed = weights.own.score(draft.newest, cache, states, wish=draft.wish, near=True)

    def observe(self, tokens: Sequence[int]) -> None:
        """Drop the slots that the head fed to itself, and those of tokens that are gone."""
        self._firm = min(self._firm, max(0, len(tokens) - 1))
        self._cache.truncate(min(self._firm, self._cache.length))

    def close(self) -> None:
        """Give the cache back."""
        self._cache.close()

    def _follow(self, context: Context, wish: Wish) -> Passed:
        """Make slots from the target's states for all tokens but the last, and score the last one.

        There is always one to make, since every round commits at least one token.
        """
        slots = len(context.tokens) - 1
        if slots == self._firm:  # drafted twice at one place: make the last again
            self._firm -= 1
            self._cache.truncate(self._firm)
        self._catch_up(context, slots - CHUNK, lambda: False)
        waiting = context.tokens[self._firm + 1 : slots + 1]
        states = self._states(context, self._firm, lambda: False)[: len(waiting)]
        passed = self._weights.first.score(waiting, self._cache, states, wish=wish)
        self._firm = slots
        return passed

    def _catch_up(self, context: Context, slots: int, stopped: Callable[[], bool]) -> None:
        """Make slots from the target's states until there are `slots`."""
        if slots <= self._firm:
            return
        first = self._firm
        states = self._states(context, first, stopped)
        while self._firm < slots:
            if stopped():
                raise Stopped
            begin, end = self._firm, min(slots, self._firm + CHUNK)
            tokens = context.tokens[begin + 1 : end + 1]
            self._weights.first.read(tokens, self._cache, states[begin - first : end - first])
            self._firm = end

    def _states(self, context: Context, first: int, stopped: Callable[[], bool]) -> Tensor:
        """Return the states that slots from `first` on are made from; [n, (1 + taps) D]."""
        if not self.taps:
            return context.hidden[first:]
        assert context.sequence is not None, "states after lower layers are kept by a sequence"
        return context.sequence.states(self.taps, first, stopped)
