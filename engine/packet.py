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
    """Named tensors, of any shapes and types, that are to be read together."""

    parts: Mapping[str, Tensor]
    joined: Tensor | None = (
        None  # [n], float64: ids up to 2**53 and float32 stand in it as they are
    )

    @classmethod
    def of(cls, parts: Mapping[str, Tensor]) -> Packet:
        """Join parts on their device, one behind the other; nothing is read."""
        flat = [part.to(torch.float64).flatten() for part in parts.values()]
        return cls(parts, torch.cat(flat))

    def read(self) -> dict[str, list[float]]:
        """Wait for the device and return each part's numbers, flat.

        Parts that were not joined are read one by one, which is quicker where reading is free.
        """
        if self.joined is None:
            return {name: part.flatten().tolist() for name, part in self.parts.items()}
        numbers: list[float] = self.joined.tolist()
        found, begin = {}, 0
        for name, part in self.parts.items():
            end = begin + part.numel()
            found[name] = numbers[begin:end]
            begin = end
        return found
