"""Several small tensors of a device, read by the host in one transfer. Knows no meaning of any."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import Tensor


@dataclass(frozen=True)
class Packet:
    """Named rows of numbers, one behind the other in one tensor."""

    numbers: Tensor  # [n], float64: ids up to 2**53 and float32 numbers stand in it as they are
    sizes: Mapping[str, int]  # of each part, in order

    @classmethod
    def of(cls, parts: Mapping[str, Tensor]) -> Packet:
        """Join parts of any shape and type on their device; nothing is read."""
        flat = [part.to(torch.float64).flatten() for part in parts.values()]
        sizes = {name: part.numel() for name, part in parts.items()}
        return cls(torch.cat(flat), sizes)

    def read(self) -> dict[str, list[float]]:
        """Wait for the device and return each part's numbers, flat."""
        numbers: list[float] = self.numbers.tolist()
        found, begin = {}, 0
        for name, size in self.sizes.items():
            found[name] = numbers[begin : begin + size]
            begin += size
        return found
