"""Which plans a benchmark measures on a device, and why it leaves others out. Measures nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import DraftscopeError
from engine.models.plans.choice import PLANS, choose_plan

if TYPE_CHECKING:
    import torch


def runnable(plan: str | None, device: torch.device) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the plans that can run, and a line for each that cannot.

    Parameters
    ----------
    plan
        The one that was asked for; None: every plan.

    Raises
    ------
    DraftscopeError
        If the plan that was asked for cannot run.
    """
    if plan is not None:
        choose_plan(plan, device)
        return (plan,), ()
    names, left_out = [], []
    for name in PLANS:
        try:
            choose_plan(name, device)
        except DraftscopeError as reason:
            left_out.append(f"{name}: {reason}")
        else:
            names.append(name)
    return tuple(names), tuple(left_out)
