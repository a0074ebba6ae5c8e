"""Drafting with a small model of the same vocabulary, on a cache of its own.

Knows a transformer, a cache and sampling; no rule and no target.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from engine.cache import KVCache
from engine.drafters.drafting import begin_draft
from engine.prefill import feed
from engine.trace.events import DraftEnd

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from engine.drafters.protocol import Context, DraftRequest, Proposal, QueuedProposal
    from engine.models.transformer import Transformer
    from engine.trace.events import ModelInfo


class SmallModelDrafter:
    """Draws k tokens one after another from a model."""

    def __init__(self, model: Transformer, info: ModelInfo, spec: str, vocabulary: int) -> None:
        """Wrap a loaded model.

        `vocabulary` is the target's V: ids beyond it are never proposed, ids that this model lacks
        get no mass.
        """
        self.spec = spec
        self.info = info
        self._model = model
        self._vocabulary = vocabulary
        self._pool = model.new_pool()
        self._cache = KVCache(self._pool)

    @property
    def cache(self) -> KVCache:
        """The drafter's own cache."""
        return self._cache

    def begin(self) -> None:
        """Forget the last sequence."""
        self._cache.truncate(0)

    def prepare(self, context: Context, stopped: Callable[[], bool]) -> None:
        """Read all but the last token, which the first round feeds.

        A text that reaches past this model's context is not read: nothing is drafted there.
        """
        if len(context.tokens) > self.info.context_length:
            return
        waiting = context.tokens[self._cache.length : len(context.tokens) - 1]
        if waiting:
            feed(self._model, waiting, self._cache, stopped=stopped)

    def propose(self, context: Context, request: DraftRequest) -> Proposal | QueuedProposal:
        """Draft up to k tokens; each is fed before the next is drawn, the last one is not."""
        # the last token drawn is not fed, so it may stand just past this model's context
        room = max(0, self.info.context_length - len(context.tokens) + 1)
        asked = request.k
        if asked > room:  # at the end of the drafter's own context drafts get shorter, then stop
            request = replace(request, k=room)
        draft = begin_draft(context, request, self._vocabulary)
        waiting = draft.fed(context.tokens[self._cache.length :])
        while not draft.over:
            hidden = feed(self._model, waiting, self._cache)[-1:]
            draft.extend(self._fit(self._model.logits(hidden)))
            waiting = draft.newest
        proposal = draft.proposal()
        if asked > room and draft.full:
            return replace(proposal, end=DraftEnd.CONTEXT)
        return proposal

    def observe(self, tokens: Sequence[int]) -> None:
        """Drop what was drafted and not kept."""
        self._cache.truncate(min(self._cache.length, len(tokens) - 1))

    def close(self) -> None:
        """Give the cache back."""
        self._cache.close()

    def _fit(self, logits: Tensor) -> Tensor:
        """Cut or pad [1, V'] to the target's vocabulary [1, V]."""
        missing = self._vocabulary - logits.shape[-1]
        if missing <= 0:
            return logits[:, : self._vocabulary]
        return torch.nn.functional.pad(logits, (0, missing), value=float("-inf"))
