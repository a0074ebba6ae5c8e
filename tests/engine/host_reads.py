"""Counts what would make the host wait for a device, on a CPU where nothing does.

Reading a number, and asking for a tensor whose shape depends on numbers, wait until the device has
made them; so does sending what was not pinned. Here every such call is counted, wherever it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import torch
from torch.utils._python_dispatch import TorchDispatchMode

import engine.models.settling as settling

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

_ATEN = torch.ops.aten
_READS = {
    _ATEN._local_scalar_dense,  # item, int, float, bool, index
    _ATEN.is_nonzero,
    _ATEN.nonzero,
    _ATEN.masked_select,
    _ATEN.equal,
    _ATEN._unique2,
}
_SENDERS = ("queued", "penalties", "observation", "plain", "drafters.queued", "models.network")


class HostReads(TorchDispatchMode):
    """What was read and sent while it is entered."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self.reads: list[str] = []
        self.sent = 0  # tensors made of the host's numbers
        self.sent_at_once = 0  # of these, through `uploaded`, which does not wait
        self._within = False
        self._inside = False  # a patched call, whose own operations are not counted
        for name in ("tolist", "numpy", "cpu"):
            patch.setattr(torch.Tensor, name, self._counted(name, getattr(torch.Tensor, name)))
        uploaded = settling.uploaded

        def watched(*arguments: Any) -> torch.Tensor:
            self.sent_at_once += self._within
            return uploaded(*arguments)

        for module in _SENDERS:
            patch.setattr(f"engine.{module}.uploaded", watched)

    def __enter__(self) -> Self:
        self._within = True
        return super().__enter__()  # type: ignore[no-any-return]  # torch's own

    def __exit__(self, *error: object) -> None:
        self._within = False
        super().__exit__(*error)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        packet = func.overloadpacket
        chosen = args[1] if packet in (_ATEN.index, _ATEN.index_put_) else ()
        by_mask = any(one is not None and one.dtype == torch.bool for one in chosen)
        if not self._inside and (packet in _READS or by_mask):
            self.reads.append(str(packet))
        self.sent += packet is _ATEN.lift_fresh
        return func(*args, **(kwargs or {}))

    def _counted(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(tensor: torch.Tensor) -> Any:
            if not self._within or self._inside:
                return call(tensor)
            self.reads.append(name)
            self._inside = True
            try:
                return call(tensor)
            finally:
                self._inside = False

        return counted
