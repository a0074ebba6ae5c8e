"""A stand-in for a target whose passes cost next to nothing: its law depends on the last token.

What is left of a round is everything around the pass, which is what can grow with a session. Knows
the little that a session asks of a transformer.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import torch
from msgspec import structs

from engine.cache import PagePool
from engine.models.plans.eager import EagerPlan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from engine.cache import KVCache
    from engine.loading import LoadedModel
    from engine.models.transformer import Transformer

_CHAIN = 512  # ids that are written
_STEP = 7  # token i is most likely followed by the one so many ids on
_LIKELY = 8.0  # its logit above the mean of the others: about three quarters of the mass
_NEVER = -60.0  # the logit of ids beyond the chain


class ChainModel:
    """After token i the logits depend on i alone; the cache holds one number a position."""

    whole = None  # it runs part after part

    def __init__(self, vocabulary: int, seed: int = 20) -> None:
        self.vocabulary = vocabulary
        self.config = SimpleNamespace(width=1, vocabulary=vocabulary)
        self.plan = EagerPlan(torch.device("cpu"), name="none", rounds_alike=True)
        self._size = min(_CHAIN, vocabulary)
        self._others = torch.full((vocabulary,), _NEVER)
        generator = torch.Generator().manual_seed(seed)
        self._others[: self._size] = torch.randn(self._size, generator=generator)

    def new_pool(self) -> PagePool:
        """Return a store of one key and one value a position."""
        return PagePool(1, 1, 1)

    def forward(self, ids: Sequence[int], cache: KVCache, lower: object = None) -> Tensor:
        """Return the ids as hidden rows; [n, 1]."""
        cache.append(len(ids))
        return torch.tensor(ids, dtype=torch.float32)[:, None]

    def logits(self, hidden: Tensor) -> Tensor:
        """Return one law for all, with the token that goes on likely in each; [n, V]."""
        rows = self._others.repeat(len(hidden), 1)
        follows = (hidden.long() % self._size + _STEP) % self._size
        return rows.scatter_(1, follows, _LIKELY)


def chain_target(like: LoadedModel, positions: int, prompt: Sequence[int]) -> LoadedModel:
    """Return a target that writes such a chain with the tokens of `like`, and never ends it.

    Its vocabulary is no larger than the chain and the prompt ask for.
    """
    vocabulary = max(min(_CHAIN, like.info.vocabulary), *(token + 1 for token in prompt))
    info = structs.replace(
        like.info, name="a chain", vocabulary=vocabulary, context_length=positions, plan="none"
    )
    model = cast("Transformer", ChainModel(vocabulary))
    return replace(like, transformer=model, info=info, end_tokens=frozenset())
