"""How weights are moved: Muon for matrices, AdamW for the rest, and a rate that falls to nothing.

Jordan et al. 2024 ("Muon"); Loshchilov and Hutter 2019 (AdamW). Knows parameters and how far the
training is; no drafter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from torch import nn

MATRIX_RATE = 0.01  # of Muon, whose steps have one size whatever the gradient
VECTOR_RATE = 1e-3
WARM = 0.02  # share of the training in which the rate rises
FALL = 0.5  # share of the training, at its end, in which the rate falls to nothing
_CLIP = 1.0


class Optimiser:
    """Two optimisers behind one step."""

    def __init__(self, module: nn.Module, matrix_rate: float = MATRIX_RATE) -> None:
        parameters = [value for value in module.parameters() if value.requires_grad]
        matrices = [value for value in parameters if value.dim() == 2]
        vectors = [value for value in parameters if value.dim() != 2]
        self._parameters = parameters
        self._parts: list[torch.optim.Optimizer] = [
            torch.optim.Muon(matrices, lr=matrix_rate, weight_decay=0.0, adjust_lr_fn="original"),
            torch.optim.AdamW(vectors, lr=VECTOR_RATE, betas=(0.9, 0.98), weight_decay=0.0),
        ]
        self._rates = [matrix_rate, VECTOR_RATE]
        self.rate = 0.0  # of the matrices, now

    def step(self, done: float) -> None:
        """Move the weights and forget the gradients; `done` is the share of the training."""
        share = scheduled(done)
        self.rate = share * self._rates[0]
        torch.nn.utils.clip_grad_norm_(self._parameters, _CLIP)
        for part, rate in zip(self._parts, self._rates, strict=True):
            for group in part.param_groups:
                group["lr"] = share * rate
            part.step()
            part.zero_grad(set_to_none=True)

    def state(self) -> list[dict[str, Any]]:
        """Return what a checkpoint keeps."""
        return [part.state_dict() for part in self._parts]

    def restore(self, state: list[dict[str, Any]]) -> None:
        """Go on from a checkpoint."""
        for part, kept in zip(self._parts, state, strict=True):
            part.load_state_dict(kept)


def scheduled(done: float) -> float:
    """Return the rate's share at a share of the training: up, level, then down in a line."""
    if done < WARM:
        return max(done, 1e-3) / WARM
    return min(1.0, max(0.0, 1.0 - done) / FALL)
