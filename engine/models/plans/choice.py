"""Which plan runs on a device: by name, or the best that can. Knows no kernel."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import torch

from engine.errors import DraftscopeError
from engine.models.native import build
from engine.models.native.library import Library
from engine.models.native.warm_up import warm_up
from engine.models.plans.compiled import CompiledPlan
from engine.models.plans.eager import EagerPlan
from engine.models.plans.graphs import GraphPlan
from engine.models.plans.onednn import OneDnnPlan
from engine.models.plans.packed import PackedPlan

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.models.plans.protocol import Plan

PLANS = ("eager", "packed", "compiled")


def choose_plan(
    name: str | None,
    device: torch.device,
    dtype: torch.dtype | None = None,
    *,
    progress: Callable[[int, int, str], None] | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Plan:
    """Return the plan of this name, or the device's default.

    On a CPU that is *compiled* where it was built and found at least a tenth faster
    (`draftscope warm-up`), else *packed*: by FBGEMM on x86, elsewhere by oneDNN where there is one.
    Everywhere else it is *eager*, and a type asks for that too. On CUDA *compiled* has to be asked
    for: it was not measured on a GPU, and becomes the default there once it was.

    Where *compiled* is asked for and was not built, it is built now: `progress` and `cancelled` are
    as for `warm_up`.

    Raises
    ------
    DraftscopeError
        For an unknown name, or a plan that this device cannot run.
    BuildCancelled
        If `cancelled()` became true while the compiled plan was being built.
    """
    if name not in (None, *PLANS):
        raise DraftscopeError(f"There is no plan called {name!r}; choose one of {_list(PLANS)}.")
    on_cpu = device.type == "cpu" and dtype is None
    if name == "compiled":
        if device.type == "cuda":
            return GraphPlan.on(device, dtype)
        if not on_cpu:
            raise DraftscopeError("The compiled plan needs a CPU or CUDA; choose --plan eager.")
        if build.tried() is None:
            warm_up(progress, cancelled)
        return _compiled()
    packed = _packed() if on_cpu else None
    if name == "packed" and packed is None:
        raise DraftscopeError(
            "The packed plan needs a CPU, with torch's FBGEMM or oneDNN, and no other type of "
            "number; choose --plan eager."
        )
    record = build.tried() if name is None and on_cpu else None
    if record is not None and record.worth_it:
        with suppress(DraftscopeError):  # a library that another machine has built: packed serves
            return _compiled()
    if name != "eager" and packed is not None:
        return packed
    if dtype is None:
        dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    return EagerPlan(device, dtype)


def _packed() -> Plan | None:
    if PackedPlan.available():
        return PackedPlan()
    return OneDnnPlan() if OneDnnPlan.available() else None


def _compiled() -> Plan:
    try:
        return CompiledPlan(Library(build.library_path()))
    except OSError as error:
        raise DraftscopeError(
            f"The compiled plan cannot be loaded ({error}); build it again with "
            "`draftscope warm-up --again`, or choose --plan packed."
        ) from error


def _list(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
