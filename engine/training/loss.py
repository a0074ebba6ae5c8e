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
    """Cross-entropy of a drafter's law to the target's, restricted to the ids that are scored.

    The gradient is that of sum(weight * -sum(wanted * log q_draft)), where `wanted` holds the
    target's probabilities of the scored ids, which add up to less than 1 where it has mass
    elsewhere: such a row counts less, as nothing that the drafter does could win that mass.
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
    ) -> Tensor:
        """Return the weighted sum.

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
            Share of the loss that asks for the argmax; the rest asks for the law.
        """
        total = rows.new_zeros(())
        gradient = torch.empty_like(rows)
        for begin in range(0, rows.shape[0], ROWS):
            span = slice(begin, begin + ROWS)
            logits = functional.linear(rows[span].to(table.dtype), table)
            log_law = logits.float().log_softmax(dim=-1)
            wanted = functional.linear(target_rows[span].to(table.dtype), table)
            wanted = wanted.float().sub_(normalisers[span, None]).exp_().mul_(1.0 - hardness)
            chosen = choices[span]
            hard = (chosen >= 0).float() * hardness
            wanted.scatter_add_(1, chosen.clamp(min=0)[:, None], hard[:, None])
            wanted *= weights[span, None]
            total -= (wanted * log_law).sum()
            mass = wanted.sum(dim=-1, keepdim=True)
            slope = log_law.exp_().mul_(mass).sub_(wanted).to(table.dtype)
            gradient[span] = (slope @ table).to(rows.dtype)
        ctx.save_for_backward(gradient)
        return total

    @staticmethod
    def backward(ctx: Any, scale: Tensor) -> tuple[Tensor | None, ...]:
        """Scale what the forward pass has made."""
        (gradient,) = ctx.saved_tensors
        return gradient * scale, None, None, None, None, None, None
