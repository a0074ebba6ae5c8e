"""Which ids a drafter scores: the commonest of the corpus, and the target's rows for them.

Scoring the whole vocabulary would cost more than all else that a small drafter does. Knows counts
and rows; no drafter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.nn import functional

if TYPE_CHECKING:
    from torch import Tensor

    from engine.training.batched import BatchedTransformer


def commonest(tokens: Tensor, choices: Tensor, size: int, count: int) -> Tensor:
    """Return the ids to score, in order; [count], or all there are.

    Parameters
    ----------
    tokens, choices
        Ids of the text, and the target's argmax after each: both are counted, since what is asked
        of a drafter is the target's choice as much as what was drawn.
    size
        The target's V.
    """
    counts = torch.bincount(tokens.long(), minlength=size)[:size]
    counts += torch.bincount(choices.long(), minlength=size)[:size]
    ranked = torch.argsort(counts, descending=True, stable=True)
    return ranked[: min(count, size)].sort().values.to(torch.int64)


class Scored:
    """The scored ids with the target's rows for them."""

    def __init__(self, target: BatchedTransformer, ids: Tensor) -> None:
        self.ids = ids.to(target.plan.device)  # [R], ascending
        self.table = target.scored(ids.tolist()).to(target.plan.factors)  # [R, D]
        self._norm = target.output_norm
        self._epsilon = target.config.rms_epsilon
        columns = torch.full((target.config.vocabulary,), -1, dtype=torch.int64)
        columns[ids] = torch.arange(len(ids))
        self.columns = columns.to(target.plan.device)  # [V], the column of an id, or -1

    def normed(self, hidden: Tensor) -> Tensor:
        """Return the target's states as its head reads them; [..., D] from [..., (1 + taps) D]."""
        width = self._norm.shape[0]
        return functional.rms_norm(hidden[..., :width], (width,), self._norm, self._epsilon)
