"""Drafting with a head on the target's hidden states (multi-token prediction).

In the manner of EAGLE (Li et al. 2024) and DeepSeek-V3's MTP (2024, section 2.2): slot i joins
the target's state of token i with the embedding of token i+1 and predicts token i+2. Knows the
target's embedding and plan; no rule, no text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from engine.cache import KVCache, PagePool
from engine.drafters.drafting import begin_draft
from engine.drafters.protocol import Proposal
from engine.models.blocks import rms_norm
from engine.models.settling import uploaded
from engine.prefill import CHUNK, Stopped
from engine.trace.events import DraftEnd

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from engine.drafters.head_weights import HeadWeights
    from engine.drafters.protocol import Context, DraftRequest, QueuedProposal
    from engine.models.transformer import Transformer
    from engine.trace.events import ModelInfo


class HeadDrafter:
    """A one-layer head with its own cache; it scores a part of the vocabulary only.

    Slots made from the target's states stand; slots that the head fed to itself while drafting
    are dropped after verification and made again from the target's states.
    """

    def __init__(self, target: Transformer, weights: HeadWeights, info: ModelInfo) -> None:
        """Attach a head to its target."""
        self.spec = "head"
        self.info = info
        self._target = target
        self._weights = weights
        block = weights.block
        self._pool = PagePool(
            1, block.kv_heads, block.head_dim, dtype=target.plan.dtype, device=target.plan.device
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
        weights = self._weights
        draft = begin_draft(context, request, self._target.vocabulary, weights.vocabulary)
        x = self._catch_up(context, len(context.tokens) - 1, lambda: False)[-1:]
        while True:
            draft.extend(self._target.score(x, weights.head, weights.output_norm))
            if draft.over:
                return draft.proposal()
            x = self._slots(x, draft.newest)

    def observe(self, tokens: Sequence[int]) -> None:
        """Drop the slots that the head fed to itself."""
        self._cache.truncate(min(self._firm, self._cache.length))

    def close(self) -> None:
        """Give the cache back."""
        self._cache.close()

    def _catch_up(self, context: Context, slots: int, stopped: Callable[[], bool]) -> Tensor:
        """Make slots from the target's states until there are `slots`; return the last rows.

        Always makes at least one when drafting, since every round commits at least one token.
        """
        if slots == self._firm and slots > 0:  # drafted twice at one place: make the last again
            self._firm -= 1
            self._cache.truncate(self._firm)
        x = context.hidden[:0]
        while self._firm < slots:
            if stopped():
                raise Stopped
            begin, end = self._firm, min(slots, self._firm + CHUNK)
            x = self._slots(context.hidden[begin:end], context.tokens[begin + 1 : end + 1])
            self._firm = end
        return x

    def _slots(self, hidden: Tensor, tokens: Sequence[int] | Tensor) -> Tensor:
        """Run n slots that follow what is cached; [n, D] from [n, D] and the n next tokens."""
        weights, plan = self._weights, self._target.plan
        n = len(tokens)
        pad = plan.width(n) - n
        if pad:
            hidden = functional.pad(hidden, (0, 0, 0, pad))
        if isinstance(tokens, torch.Tensor):
            ids = functional.pad(tokens, (0, pad)) if pad else tokens
        else:
            ids = uploaded([*tokens, *([0] * pad)], torch.long, plan.device)
        embedded = self._target.embed(ids)
        epsilon = weights.block.epsilon
        joined = torch.cat(
            (
                rms_norm(hidden, weights.hidden_norm, epsilon),
                rms_norm(embedded, weights.embedding_norm, epsilon),
            ),
            dim=-1,
        )
        x = weights.stack.run(weights.fuse(joined), self._cache, slice(None))
        self._cache.append(n)
        return x[:n]
