"""Which plan a device gets, by name and by default."""

from __future__ import annotations

import pytest
import torch

from engine import DraftscopeError
from engine.models.plans.choice import choose_plan
from engine.models.plans.eager import EagerPlan
from engine.models.plans.graphs import GraphPlan
from engine.models.plans.onednn import OneDnnPlan
from engine.models.plans.packed import PackedPlan

CPU, CUDA = torch.device("cpu"), torch.device("cuda")


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this a processor for which FBGEMM has no kernels and nothing was built."""
    monkeypatch.setattr("engine.models.native.build.tried", lambda: None)
    monkeypatch.setattr(PackedPlan, "available", staticmethod(lambda: False))


@pytest.mark.usefixtures("elsewhere")
def test_a_cpu_without_fbgemm_gets_onednn() -> None:
    assert isinstance(choose_plan("packed", CPU), OneDnnPlan)
    assert isinstance(choose_plan(None, CPU), OneDnnPlan)
    assert isinstance(choose_plan("eager", CPU), EagerPlan)


@pytest.mark.usefixtures("elsewhere")
def test_a_cpu_without_either_gets_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OneDnnPlan, "available", staticmethod(lambda: False))
    assert type(choose_plan(None, CPU)) is EagerPlan
    with pytest.raises(DraftscopeError, match="FBGEMM or oneDNN"):
        choose_plan("packed", CPU)


@pytest.mark.parametrize("plan", ["packed", "compiled"])
def test_a_type_asks_for_the_reference(plan: str) -> None:
    assert type(choose_plan(None, CPU, torch.float64)) is EagerPlan
    with pytest.raises(DraftscopeError, match="choose --plan eager"):
        choose_plan(plan, CPU, torch.float64)


def test_cuda_gets_recorded_graphs_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.models.plans.graphs._usual_type", lambda _: (torch.bfloat16, ()))
    plan = choose_plan("compiled", CUDA)
    assert isinstance(plan, GraphPlan)
    assert (plan.name, plan.device, plan.dtype) == ("compiled", CUDA, torch.bfloat16)
    by_default = choose_plan(None, CUDA)
    assert type(by_default) is EagerPlan
    assert by_default.dtype == torch.bfloat16
    with pytest.raises(DraftscopeError, match="packed plan needs a CPU"):
        choose_plan("packed", CUDA)
