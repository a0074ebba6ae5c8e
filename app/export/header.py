"""What a page says about the run above its text: models, prompt, seed, machine.

Knows the first event of a trace. Knows no HTML.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from app.viewmodels.imported import settings_told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.trace.events import ModelInfo, Round, RunStarted
    from engine.trace.imported import Imported


class Header(msgspec.Struct, frozen=True):
    """Names and sentences, ready to be shown."""

    target: str
    target_detail: str
    drafter: str  # empty: none
    drafter_detail: str
    prompt: str
    facts: tuple[str, ...]  # seed, machine, day, version
    fates: tuple[str, ...]  # those that occur, in the legend's order


_LEGEND = ("accepted", "rejected", "discarded", "correction", "bonus", "plain", "cut")


def header(
    started: RunStarted, rounds: Sequence[Round], imported: Imported | None = None
) -> Header:
    """Return what is said about a run, or about one that another program made."""
    present = {str(token.fate) for one in rounds for token in one.drafted}
    present |= {str(one.closing.kind) for one in rounds if one.closing is not None}
    drafter = started.drafter
    return Header(
        target=started.target.name,
        target_detail=detail(started.target),
        drafter=drafter.name if drafter is not None else "",
        drafter_detail=detail(drafter) if drafter is not None else "",
        prompt=started.prompt,
        facts=_facts(started, imported),
        fates=("pending", *(fate for fate in _LEGEND if fate in present)),
    )


def _facts(started: RunStarted, imported: Imported | None) -> tuple[str, ...]:
    facts = [f"seed {started.seed}"]
    if imported is not None:
        seed = [] if "seed" in imported.missing else facts
        facts = [f"imported from {imported.program}", settings_told(started, imported), *seed]
    if started.machine:
        facts.append(started.machine)
    return tuple(facts)


def detail(model: ModelInfo) -> str:
    """Return what kind of model it is and how it ran, in words."""
    parts = [_parameters(model.parameters)] if model.parameters else []
    parts += [part for part in (model.plan, model.dtype, model.device) if part]
    return "; ".join([", ".join(parts), *model.notes] if parts else model.notes)


def _parameters(count: int) -> str:
    for size, unit in ((1e9, "B"), (1e6, "M"), (1e3, "K")):
        if count >= size:
            return f"{count / size:.3g} {unit} parameters"
    return f"{count} parameters"
