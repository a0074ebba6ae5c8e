"""Models whose law depends on the last token alone: a table. Their texts have known laws.

Knows the little that a decoder and a drafter ask of a transformer. The caches count positions and
hold no rows, so a test of what caches hold needs a tiny transformer instead.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

import msgspec
import torch

from engine.cache import PagePool
from engine.drafters.small import SmallModelDrafter
from engine.models.plans.eager import EagerPlan
from engine.trace.events import ModelInfo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from engine.cache import KVCache
    from engine.loading import LoadedModel

LONG = 20_000  # positions: no test reaches the end of such a context, unless a limit is broken


class TableModel:
    """After token i the logits are row i."""

    whole = None

    def __init__(self, table: Tensor) -> None:
        self._table = table  # [V, V]
        self.vocabulary = len(table)
        self.config = SimpleNamespace(width=1, vocabulary=self.vocabulary)
        self.plan = EagerPlan(torch.device("cpu"), torch.float64, rounds_alike=True)
        self.fed: list[tuple[int, list[int]]] = []  # cache length before each pass, and its ids

    def new_pool(self) -> PagePool:
        return PagePool(1, 1, 1)

    def forward(self, ids: Sequence[int] | Tensor, cache: KVCache, lower: object = None) -> Tensor:
        index = torch.as_tensor(ids)
        self.fed.append((cache.length, index.tolist()))
        cache.append(len(index))
        return index.to(torch.float64)[:, None]

    def logits(self, hidden: Tensor) -> Tensor:
        return self._table[hidden[:, 0].long()]


def same_everywhere(law: Sequence[float]) -> Tensor:
    """The table of independent draws from one law; [V, V], natural logarithms."""
    return torch.tensor([law] * len(law), dtype=torch.float64).log()


def counting(size: int, exceptions: dict[int, int] | None = None) -> Tensor:
    """The table of a greedy text that counts: i is followed by i + 1, but for the exceptions."""
    follows = [(i + 1) % size for i in range(size)]
    for token, other in (exceptions or {}).items():
        follows[token] = other
    return 9.0 * torch.eye(size, dtype=torch.float64)[follows]


def table_target(like: LoadedModel, table: Tensor, ends: Sequence[int] = ()) -> LoadedModel:
    """A target with this table; its text side is that of `like`."""
    info = msgspec.structs.replace(like.info, vocabulary=len(table), context_length=LONG)
    model: object = TableModel(table)
    return replace(like, transformer=model, info=info, end_tokens=frozenset(ends))  # type: ignore[arg-type]  # stands in for one


def table_drafter(table: Tensor) -> SmallModelDrafter:
    """A small model with this table, under the real drafter."""
    info = ModelInfo(name="table", kind="model", vocabulary=len(table), context_length=LONG)
    model: object = TableModel(table)
    return SmallModelDrafter(model, info, "model:table", len(table))  # type: ignore[arg-type]  # stands in for one
