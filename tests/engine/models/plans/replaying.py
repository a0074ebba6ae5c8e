"""A recorder for tests: it replays on the host what was recorded, on the same addresses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch


@dataclass
class Replayed:
    """A body that runs again on its own tensors, as a graph does."""

    body: Callable[[], torch.Tensor]
    output: torch.Tensor
    replays: int = 0

    def replay(self) -> None:
        self.replays += 1
        self.output.copy_(self.body())


class Replaying:
    """Makes such recordings, or fails once so many were made."""

    def __init__(self, fails_after: int | None = None) -> None:
        self.made: list[Replayed] = []
        self._left = fails_after

    def record(self, body: Callable[[], torch.Tensor]) -> Replayed:
        if self._left is not None and len(self.made) >= self._left:
            raise RuntimeError("operation not permitted when stream is capturing\nmore lines")
        self.made.append(Replayed(body, body().clone()))
        return self.made[-1]
