"""How often the host reads a tensor, and how long the reading itself takes.

Stands in for torch's own ways of reading while it is entered. Before each read it waits for the
device, so that what is timed is the transfer and not the work that was queued before it: runs that
are watched like this are not to be timed themselves. Knows tensors; no round.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import torch

from engine.models.settling import settle

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

# every way by which Python gets at the numbers in a tensor
_READERS = ("tolist", "item", "cpu", "numpy", "__int__", "__float__", "__bool__", "__index__")


class HostReads:
    """Counts and times reads while entered."""

    def __init__(self) -> None:
        self.count = 0
        self.ns = 0
        self._kept: dict[str, Callable[..., Any]] = {}

    def __enter__(self) -> HostReads:
        """Begin to watch."""
        for name in _READERS:
            self._kept[name] = getattr(torch.Tensor, name)
            setattr(torch.Tensor, name, self._watched(self._kept[name]))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give torch its own ways back."""
        for name, reader in self._kept.items():
            setattr(torch.Tensor, name, reader)

    def _watched(self, reader: Callable[..., Any]) -> Callable[..., Any]:
        def read(tensor: torch.Tensor, *rest: Any, **named: Any) -> Any:
            settle(tensor.device)
            begin = time.perf_counter_ns()
            try:
                return reader(tensor, *rest, **named)
            finally:
                self.ns += time.perf_counter_ns() - begin
                self.count += 1

        return read
