"""Drafting with a small model of the same vocabulary, on a cache of its own.

Knows a transformer, a cache and sampling; no rule and no target.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from engine.cache import KVCache
from engine.drafters.protocol import Context, Proposal
from engine.prefill import feed
from engine.sampling import draw, greedy_ids, probabilities

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from engine.models.transformer import Transformer
    from engine.sampling import Sampling
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
        if len(context.tokens) >= self.info.context_length:
            return
        waiting = context.tokens[self._cache.length : len(context.tokens) - 1]
        if waiting:
            feed(self._model, waiting, self._cache, stopped=stopped)

    def propose(
        self, context: Context, k: int, sampling: Sampling, uniforms: Sequence[float]
    ) -> Proposal:
        """Draft k tokens; each is fed before the next is drawn, the last one is not."""
        room = self.info.context_length - len(context.tokens)
        if k == 0 or k > room:  # past the drafter's own context rounds are plain
            return Proposal(())
        waiting: Sequence[int] = context.tokens[self._cache.length :]
        tokens: list[int] = []
        laws: list[Tensor] = []
        for index in range(k):
            hidden = feed(self._model, waiting, self._cache)[-1:]
            logits = self._fit(self._model.logits(hidden))
            if sampling.greedy:
                token = int(greedy_ids(logits)[0])
            else:
                law = probabilities(logits, sampling)
                token = draw(law[0], uniforms[index])
                laws.append(law)
            tokens.append(token)
            waiting = [token]
        return Proposal(tuple(tokens), torch.cat(laws) if laws else None)

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
