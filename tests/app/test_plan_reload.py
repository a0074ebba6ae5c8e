"""A compiled plan that was built while a target was held: the next job loads it, no run is cut."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import torch

from app.viewmodels.prompt import PromptState
from engine import loading
from engine.models.native import build
from engine.models.plans.eager import EagerPlan
from tests.app.building import FASTER, NO_FASTER, Building
from tests.app.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from app.desk import Desk
    from engine.models.plans.protocol import Plan

PROMPT = PromptState(
    prompt="a b c a b c", raw=True, limit=8, drafter="ngram", k=4, temperature=0, baseline=False
)
LONG = replace(PROMPT, limit=100_000)


@pytest.fixture
def building(monkeypatch: pytest.MonkeyPatch) -> Building:
    made = Building()

    def choose(*_: object, **__: object) -> Plan:
        pays = made.record is not None and made.record.worth_it
        return EagerPlan(torch.device("cpu"), name="compiled" if pays else "eager")

    monkeypatch.setattr(build, "tried", lambda: made.record)
    monkeypatch.setattr(loading, "choose_plan", choose)
    return made


def run(desk: Desk, target: Path) -> str:
    """Run to the end and return the plan that ran, as its trace says."""
    desk.run(str(target), PROMPT.request)
    wait_until(lambda: not desk.state.busy)
    assert desk.document.started is not None
    return desk.document.started.target.plan


def test_the_run_under_way_keeps_its_plan_and_the_next_one_has_the_new(
    desk: Desk, building: Building, tiny_model: Path
) -> None:
    desk.run(str(tiny_model), LONG.request)
    wait_until(lambda: len(desk.document.rounds) >= 3)
    building.record = FASTER
    seen = len(desk.document.rounds)
    wait_until(lambda: len(desk.document.rounds) > seen + 3)
    assert "eager plan" in desk.state.loaded
    desk.stop()
    wait_until(lambda: not desk.state.busy)
    assert run(desk, tiny_model) == "compiled"
    assert "compiled plan" in desk.state.loaded


def test_load_takes_the_new_plan_too(desk: Desk, building: Building, tiny_model: Path) -> None:
    assert run(desk, tiny_model) == "eager"
    building.record = FASTER
    desk.load(str(tiny_model), "ngram")
    wait_until(lambda: not desk.state.busy)
    assert "compiled plan" in desk.state.loaded


def test_a_plan_that_is_no_faster_is_not_loaded(
    desk: Desk, building: Building, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads = count_loads(monkeypatch)
    run(desk, tiny_model)
    building.record = NO_FASTER
    assert run(desk, tiny_model) == "eager"
    assert len(loads) == 1


def test_the_new_plan_is_loaded_once(
    desk: Desk, building: Building, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads = count_loads(monkeypatch)
    run(desk, tiny_model)
    building.record = FASTER
    assert [run(desk, tiny_model) for _ in range(2)] == ["compiled", "compiled"]
    assert len(loads) == 2


def count_loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    import engine

    loads: list[str] = []
    really = engine.load_model

    def load(name: str, **options: object) -> loading.LoadedModel:
        loads.append(name)
        return really(name, **options)  # type: ignore[arg-type]  # as they came

    monkeypatch.setattr(engine, "load_model", load)
    return loads
