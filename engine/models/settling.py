"""Where the host waits for the device, so that a measured time is that phase's own.

A GPU works behind the host's back: a pass only queued would be paid for by whoever reads the next
number. Phases that end with reading a number have waited already; the others end here.
"""

from __future__ import annotations

import torch


def settle(device: torch.device) -> None:
    """Wait until everything queued on the device is done; on a CPU nothing ever is."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()
