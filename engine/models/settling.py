"""Where the host waits for the device, and where it does not have to.

A GPU works behind the host's back: a pass only queued would be paid for by whoever reads the next
number, and whoever reads a number waits for all that was queued before it. Knows devices; no model.
"""

from __future__ import annotations

import functools
from contextlib import nullcontext
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from torch import Tensor


def settle(device: torch.device) -> None:
    """Wait until everything queued on the device is done; on a CPU nothing ever is."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()


def queues_rounds(device: torch.device) -> bool:
    """Return whether a round on this device is queued whole and read once, at its end.

    The one place where this is chosen. On a CPU reading is free and a draft may stop at once; MPS
    has no float64, in which tokens are drawn, so there the host draws.
    """
    return device.type == "cuda"


def uploaded(
    values: Sequence[int] | Sequence[float], dtype: torch.dtype, device: torch.device
) -> Tensor:
    """Return numbers of the host on the device, without waiting for what is queued there; [n]."""
    here = torch.tensor(values, dtype=dtype)
    if device.type != "cuda" or not len(values):
        return here.to(device)
    return here.pin_memory().to(device, non_blocking=True)


def side_stream(device: torch.device) -> Callable[[], AbstractContextManager[object]]:
    """Return what puts work beside all other work of the device; on a CPU it changes nothing.

    Only what is there already may be used within: it waits for nothing that is still queued. There
    is one such stream a device: torch keeps the memory freed on a stream for that stream alone.
    """
    if device.type != "cuda":
        return nullcontext
    return functools.partial(torch.cuda.stream, _side(device))


@functools.cache
def _side(device: torch.device) -> torch.cuda.Stream:
    return torch.cuda.Stream(device)  # type: ignore[no-untyped-call]  # torch's own
