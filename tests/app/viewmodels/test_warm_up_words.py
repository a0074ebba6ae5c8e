"""What is said of the compiled plan, in each state of it."""

from __future__ import annotations

import pytest

from app.viewmodels.desk import DeskState
from app.viewmodels.warm_up import NOT_BUILT, WarmUpState, built_words, plan_words
from engine.trace.events import ModelInfo
from tests.app.building import FASTER, NO_FASTER

PACKED = ModelInfo(name="tiny", kind="target", plan="packed", device="cpu")
COMPILED = ModelInfo(name="tiny", kind="target", plan="compiled", device="cpu")
ON_GPU = ModelInfo(name="tiny", kind="target", plan="eager", device="NVIDIA")
NO_COMPILER = "There is no compiler; install one."


@pytest.mark.parametrize(
    ("state", "target", "words"),
    [
        (NOT_BUILT, None, "The compiled plan is faster as a rule"),
        (NOT_BUILT, PACKED, "Plan: packed. The compiled plan is faster as"),
        (NOT_BUILT, ON_GPU, "Plan: eager, on NVIDIA."),
        (WarmUpState(hindrance=NO_COMPILER), None, NO_COMPILER),
        (WarmUpState(hindrance=NO_COMPILER), PACKED, f"Plan: packed. {NO_COMPILER}"),
        (WarmUpState(building=True), PACKED, "Plan: packed. The compiled plan is being built"),
        (WarmUpState(failure="It failed."), PACKED, "Plan: packed. It failed."),
        (WarmUpState(record=FASTER), PACKED, "Plan: packed. The compiled plan is built and comes"),
        (WarmUpState(record=FASTER), COMPILED, "Plan: compiled. It is built for this processor"),
        (WarmUpState(record=NO_FASTER), PACKED, "Plan: packed. The compiled plan is built, but"),
        (WarmUpState(record=FASTER, hindrance=NO_COMPILER), COMPILED, "Plan: compiled. It is bui"),
    ],
)
def test_plan_is_said_with_what_can_be_done(
    state: WarmUpState, target: ModelInfo | None, words: str
) -> None:
    assert plan_words(state, target).startswith(words)


@pytest.mark.parametrize(
    ("state", "target", "can"),
    [
        (NOT_BUILT, None, True),
        (NOT_BUILT, PACKED, True),
        (NOT_BUILT, ON_GPU, False),
        (WarmUpState(hindrance=NO_COMPILER), PACKED, False),
        (WarmUpState(building=True), PACKED, False),
        (WarmUpState(record=FASTER), PACKED, False),
        (WarmUpState(failure="It failed."), PACKED, True),
    ],
)
def test_build_is_offered_where_it_is_possible_and_of_use(
    state: WarmUpState, target: ModelInfo | None, can: bool
) -> None:
    assert DeskState(warm_up=state, target=target).can_warm_up is can


def test_the_end_says_what_follows() -> None:
    assert "(g++, 3.3 s)" in built_words(FASTER)
    assert "every model loaded on this CPU from now on" in built_words(FASTER)
    assert "packed stays the default" in built_words(NO_FASTER)
