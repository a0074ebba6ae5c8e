"""What plans share that pad passes to widths whose rows round alike. Knows no kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch

from engine.models.blocks import BlockStack
from engine.models.plans.drafts_alike import DraftsAlike
from engine.models.plans.widths import WIDEST_PROBED, alike, padded
from engine.scans import TorchScans

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from engine.models.blocks import Block
    from engine.models.plans.protocol import Stack
    from engine.models.rotary import Rotary
    from engine.scans import Scans


@dataclass
class PaddedPlan(DraftsAlike):
    """A plan on the CPU, in all but its weights: layer after layer, at widths that round alike."""

    device: torch.device = field(default_factory=lambda: torch.device("cpu"))
    dtype: torch.dtype = torch.float32
    rounds_alike: bool = True  # at the widths that passes are padded to
    scans: Scans = field(default_factory=TorchScans)
    widths: tuple[int, ...] = (WIDEST_PROBED,)  # until calibrated: the one alike to itself

    def stack(self, blocks: Sequence[Block], rotary: Rotary) -> Stack:
        """Run layer after layer."""
        return BlockStack(blocks, rotary)

    def width(self, rows: int) -> int:
        """Return the next width whose rows round as those of every other such width."""
        return padded(rows, self.widths)

    def calibrate(self, run: Callable[[int], Tensor]) -> None:
        """Keep the widths at which shared rows come out bit for bit as in the widest pass."""
        self.widths = alike(run, range(1, WIDEST_PROBED + 1))
