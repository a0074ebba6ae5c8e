"""How far a drafter's laws are from the target's, with its gradient. Knows rows; no model.

Logits over thousands of ids for thousands of rows do not fit into a processor's caches, so they are
made, used and dropped a few hundred rows at a time, and never kept for the backward pass: the
gradient with respect to the rows is made at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional

if TYPE_CHECKING:
    from torch import Tensor

ROWS = 512  # at a time


class LawLoss(torch.autograd.Function):
    """A drafter's distance to the target's law, restricted to the ids that are scored.

    Of two parts: the cross-entropy, -sum(wanted * log q_draft), where `wanted` holds the target's
    probabilities of the scored ids, which add up to less than 1 where it has mass elsewhere (such a
    row counts less, as nothing that the drafter does could win that mass); and what is rejected, 1
    - sum(min(p_target, q_draft)). The second is what a drafter is for, but has no slope where
    nothing overlaps yet (Samarin et al. 2026, "LK losses"): mix them by `mixing`.
    """

    @staticmethod
    def forward(
        ctx: Any,
        rows: Tensor,
        target_rows: Tensor,
        table: Tensor,
        normalisers: Tensor,
        choices: Tensor,
        weights: Tensor,
        hardness: float,
        mixing: float,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the weighted sums: of the mixed loss, of the cross-entropy and of the overlap.

        Only the first has a gradient.

        Parameters
        ----------
        rows
            [n, D], what the drafter scores the table with.
        target_rows
            [n, D], the same of the target: its states after its last norm.
        table
            [R, D], the target's rows for the scored ids.
        normalisers
            [n], log of the sum of exp over the whole vocabulary.
        choices
            [n], the column of the target's argmax, or -1 where that id is not scored.
        weights
            [n], of each row in the sum.
        hardness
            Share of the cross-entropy that asks for the argmax; the rest asks for the law.
        mixing
            Share of the cross-entropy in the loss, from 0 to 1.
        """
        crossed, overlapped = rows.new_zeros(()), rows.new_zeros(())
        gradient = torch.empty_like(rows)
        for begin in range(0, rows.shape[0], ROWS):
            span = slice(begin, begin + ROWS)
            weight = weights[span, None]
            log_law = _logits(rows[span], table).log_softmax(dim=-1)
            law = _logits(target_rows[span], table).sub_(normalisers[span, None]).exp_()
            wanted = _wanted(law, choices[span], hardness)
            crossed -= (weight * wanted * log_law).sum()
            draft = log_law.exp_()
            overlapped += (weight * torch.minimum(draft, law)).sum()
            slope = _slope(draft, law, wanted, mixing).mul_(weight)
            gradient[span] = (slope.to(table.dtype) @ table).to(rows.dtype)
        total = mixing * crossed + (1.0 - mixing) * (weights.sum() - overlapped)
        ctx.save_for_backward(gradient)
        ctx.mark_non_differentiable(crossed, overlapped)
        return total, crossed, overlapped

    @staticmethod
    def backward(ctx: Any, *scales: Tensor) -> tuple[Tensor | None, ...]:
        """Scale what the forward pass has made."""
        (gradient,) = ctx.saved_tensors
        return gradient * scales[0], None, None, None, None, None, None, None


def _logits(rows: Tensor, table: Tensor) -> Tensor:
    return functional.linear(rows.to(table.dtype), table).float()


def _wanted(law: Tensor, choices: Tensor, hardness: float) -> Tensor:
    """Return the law with the argmax's share added, where the argmax is scored."""
    wanted = law * (1.0 - hardness)
    hard = (choices >= 0).float() * hardness
    return wanted.scatter_add_(1, choices.clamp(min=0)[:, None], hard[:, None])


def _slope(draft: Tensor, law: Tensor, wanted: Tensor, mixing: float) -> Tensor:
    """Return the mixed loss's slope along the logits; [n, R]."""
    slope = torch.zeros_like(draft)
    if mixing > 0.0:
        slope += mixing * (wanted.sum(dim=-1, keepdim=True) * draft - wanted)
    if mixing < 1.0:
        below = (draft < law).float()
        slope += (1.0 - mixing) * draft * ((draft * below).sum(dim=-1, keepdim=True) - below)
    return slope
