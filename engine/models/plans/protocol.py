"""What a plan is: the one seam between a model and the machine's kernels.

A plan knows weights, widths and layers; nothing of caches' owners, of text or of rules. Knows no
particular plan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import torch
    from torch import Tensor

    from engine.cache import KVCache
    from engine.models.blocks import Block
    from engine.models.rotary import Rotary
    from engine.scans import Scans


class Linear(Protocol):
    """A linear layer: [n, out] from [n, in]."""

    def __call__(self, x: Tensor) -> Tensor:
        """Return the product with the bias, if there is one; the type of `x` is kept."""
        ...

    def normed(self, x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
        """Return the product of the RMS norm of each row, times `weight` [in]."""
        ...


class Stack(Protocol):
    """Layers that follow one another, ready to run."""

    def run(self, x: Tensor, cache: KVCache, layers: slice, ahead: int = 0) -> Tensor:
        """Run some of the layers on the rows of a pass.

        Parameters
        ----------
        x
            [n, D], the residual stream; n is a width of the plan.
        cache
            Receives keys and values of the rows at `cache.length + ahead` and on; its length stays.
        layers
            Which of the layers.

        Returns
        -------
        Tensor
            [n, D].
        """
        ...


class Plan(Protocol):
    """A way of computing a model's layers."""

    @property
    def name(self) -> str:
        """Name of the plan, as chosen and as traced."""
        ...

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        ...

    @property
    def dtype(self) -> torch.dtype:
        """Type of activations."""
        ...

    @property
    def description(self) -> str:
        """Say which types are multiplied and summed, for the trace."""
        ...

    @property
    def draft_description(self) -> str:
        """Say which types are multiplied and summed in a trained drafter."""
        ...

    @property
    def draft_weight_bytes(self) -> int | None:
        """Bytes of a weight in a trained drafter; None: as many as in the target."""
        ...

    @property
    def rounds_alike(self) -> bool:
        """Whether a row comes out bit for bit the same in passes of every width of a round."""
        ...

    @property
    def scans(self) -> Scans:
        """Who looks along rows of the vocabulary's length."""
        ...

    def linear(self, weight: Tensor, bias: Tensor | None = None) -> Linear:
        """Prepare a weight [out, in] and a bias [out]; the plan keeps what it needs of them."""
        ...

    def draft_linear(self, weight: Tensor) -> Linear:
        """Prepare a weight [out, in] of a trained drafter, whose numbers may be rounded further.

        What a drafter proposes need not be exact; that it drew from the law it tells of is enough.
        """
        ...

    def table(self, weight: Tensor) -> Tensor:
        """Prepare an embedding table [V, D] for look-up; rows are cast to `dtype` when read."""
        ...

    def stack(self, blocks: Sequence[Block], rotary: Rotary) -> Stack:
        """Make layers whose linear layers this plan prepared ready to run."""
        ...

    def width(self, rows: int) -> int:
        """Return the width, at least `rows`, that a pass of `rows` tokens is padded to."""
        ...

    def calibrate(self, run: Callable[[int], Tensor]) -> None:
        """Learn which widths round alike; `run(w)` returns the first rows of a pass w wide."""
        ...
