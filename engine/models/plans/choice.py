"""Which plan runs on a device: by name, or the best that can. Knows no kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from engine.errors import DraftscopeError
from engine.models.plans.eager import EagerPlan
from engine.models.plans.packed import PackedPlan

if TYPE_CHECKING:
    from engine.models.plans.protocol import Plan

PLANS = ("eager", "packed")


def choose_plan(name: str | None, device: torch.device, dtype: torch.dtype | None = None) -> Plan:
    """Return the plan of this name, or the device's default: packed on x86, else eager.

    Raises
    ------
    DraftscopeError
        For an unknown name, or a plan that this device cannot run.
    """
    if name not in (None, *PLANS):
        raise DraftscopeError(f"There is no plan called {name!r}; choose eager or packed.")
    can_pack = device.type == "cpu" and dtype is None and PackedPlan.available()
    if name == "packed" and not can_pack:
        raise DraftscopeError(
            "The packed plan needs an x86 processor and float16 weights; choose --plan eager."
        )
    if name == "packed" or (name is None and can_pack):
        return PackedPlan()
    if dtype is None:
        dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    return EagerPlan(device, dtype)
