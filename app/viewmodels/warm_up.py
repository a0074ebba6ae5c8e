"""The compiled plan in words: whether it is built, can be, and how it did. No torch, no Qt.

Knows what `draftscope warm-up` leaves behind. Builds nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.models.native import build

if TYPE_CHECKING:
    from app.viewmodels.desk import Waiting
    from engine.models.native.build import Record
    from engine.trace.events import ModelInfo


@dataclass(frozen=True)
class WarmUpState:
    """Where this machine stands with the compiled plan."""

    record: Record | None = None  # how the built one did
    hindrance: str = ""  # why it cannot be built, in a sentence
    failure: str = ""  # of the last try, in a sentence
    building: bool = False
    waiting: Waiting | None = None  # how far the build is

    @property
    def possible(self) -> bool:
        """Whether it is not built yet and could be now."""
        return self.record is None and not self.hindrance and not self.building


NOT_BUILT = WarmUpState()


def found() -> WarmUpState:
    """Look whether the compiled plan is built, or could be."""
    return WarmUpState(record=build.tried(), hindrance=build.hindrance() or "")


def built_words(record: Record) -> str:
    """Say that the compiled plan is built, how it did, and what follows."""
    chosen = (
        "it is the plan of every model loaded on this CPU from now on"
        if record.worth_it
        else "that is less than a tenth gained, so packed stays the default"
    )
    return (
        f"The compiled plan is built for this processor ({record.compiler}, "
        f"{record.seconds:.1f} s). A pass on one token takes {record.over_packed:.2f} of the "
        f"packed plan's time; {chosen}."
    )


def plan_words(state: WarmUpState, target: ModelInfo | None) -> str:
    """Say which plan the model in memory uses, and what there is to know of the compiled one."""
    plan = f"Plan: {target.plan}." if target is not None and target.plan else ""
    if target is not None and target.device != "cpu":
        return plan and f"{plan[:-1]}, on {target.device}."
    return " ".join(part for part in (plan, _compiled_words(state, target)) if part)


def _compiled_words(state: WarmUpState, target: ModelInfo | None) -> str:
    if state.building:
        return "The compiled plan is being built; runs go on meanwhile."
    if state.record is not None:
        return _record_words(state.record, target)
    if state.hindrance:
        return state.hindrance
    if state.failure:
        return state.failure
    return "The compiled plan is faster as a rule; building it takes a few seconds, once."


def _record_words(record: Record, target: ModelInfo | None) -> str:
    share = f"a pass on one token takes {record.over_packed:.2f} of the packed plan's time"
    if not record.worth_it:
        return f"The compiled plan is built, but {share} here; packed stays the default."
    if target is not None and target.plan == "compiled":
        return f"It is built for this processor: {share}."
    return f"The compiled plan is built and comes with the next run: {share}."
