"""Drafting with a small model of the same vocabulary, on a cache of its own.

Knows what reads and scores tokens, a cache and sampling; no rule and no target.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import torch

from engine.cache import KVCache
from engine.drafters.drafting import begin_draft
from engine.prefill import CHUNK, feed
from engine.trace.events import DraftEnd

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from engine.cache import PagePool
    from engine.drafters.protocol import Context, DraftRequest, Proposal, QueuedProposal
    from engine.models.network import Ids, Network, Passed, Wish
    from engine.trace.events import ModelInfo


class SmallModel(Protocol):
    """What reads and scores tokens: a whole model, or one that shares its target's tables."""

    @property
    def whole(self) -> Network | None:
        """The model from ids to scores, where that can be had in one."""
        ...

    def forward(self, ids: Ids, cache: KVCache, /) -> Tensor:
        """Run n tokens that follow what is cached; [n, W]."""
        ...

    def logits(self, hidden: Tensor, /) -> Tensor:
        """Score; [m, V'] or [m, R] in float32 or wider from [m, W]."""
        ...

    def new_pool(self) -> PagePool:
        """Return an empty store for its caches."""
        ...


class SmallModelDrafter:
    """Draws k tokens one after another from a model."""

    def __init__(
        self,
        model: SmallModel,
        info: ModelInfo,
        spec: str,
        vocabulary: int,
        support: Tensor | None = None,
    ) -> None:
        """Wrap a loaded model.

        `vocabulary` is the target's V: ids beyond it are never proposed, ids that this model lacks
        get no mass. `support` [R] are the target's ids that its columns stand for, rising; None:
        its columns are ids.
        """
        self.spec = spec
        self.info = info
        self._model = model
        self._vocabulary = vocabulary
        self._support = support
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
        draft = begin_draft(context, request, self._vocabulary, self._support)
        near = False
        waiting = draft.fed(context.tokens[self._cache.length :])
        while not draft.over:
            draft.extend(*self._scored(waiting, draft.wish, near))
            waiting, near = draft.newest, True
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

    def _scored(self, waiting: Ids, wish: Wish, near: bool) -> tuple[Tensor, Passed | None]:
        """Read tokens, and score what follows the last; with what was found of these scores."""
        rest, model = len(waiting) - CHUNK, self._model
        if model.whole is None:
            hidden = feed(model, waiting, self._cache)[-1:]
            return self._fit(model.logits(hidden)), None
        if rest > 0:
            feed(model, waiting[:rest], self._cache)
            waiting = waiting[rest:]
        passed = model.whole.score(waiting, self._cache, wish=wish, near=near)
        scores = self._fit(passed.scores)
        return scores, passed if scores.shape == passed.scores.shape else None

    def _fit(self, logits: Tensor) -> Tensor:
        """Cut or pad [1, V'] to the target's vocabulary [1, V]; [1, R] stays as it is."""
        if self._support is not None:
            return logits
        missing = self._vocabulary - logits.shape[-1]
        if missing <= 0:
            return logits[:, : self._vocabulary]
        return torch.nn.functional.pad(logits, (0, missing), value=float("-inf"))
