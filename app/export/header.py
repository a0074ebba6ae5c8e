"""What a page says about the run above its text: models, prompt, seed, machine.

Knows the first event of a trace. Knows no HTML.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from app.viewmodels.imported import settings_told

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from engine.trace.events import ModelInfo, RunStarted
    from engine.trace.imported import Imported
    from engine.trace.markers import SessionNote


class Header(msgspec.Struct, frozen=True):
    """Names and sentences, ready to be shown."""

    title: str  # empty: none was given
    note: str  # what is to be said of the whole
    target: str
    target_detail: str
    drafter: str  # empty: none
    drafter_detail: str
    prompt: str
    withheld: bool  # the prompt is left out on request
    facts: tuple[str, ...]  # seed, machine
    fates: tuple[str, ...]  # those that occur, in the legend's order


_LEGEND = ("accepted", "rejected", "discarded", "correction", "bonus", "plain", "cut")


def header(
    started: RunStarted,
    fates: AbstractSet[str],
    said: SessionNote,
    title: str | None,
    imported: Imported | None = None,
) -> Header:
    """Return what is said about a run, or about one that another program made.

    Parameters
    ----------
    fates
        Those that occur.
    title
        In place of the session's own; None leaves that.
    """
    drafter = started.drafter
    title = said.title if title is None else title
    return Header(
        title=title,
        note=said.note,
        target=started.target.name,
        target_detail=detail(started.target),
        drafter=drafter.name if drafter is not None else "",
        drafter_detail=detail(drafter) if drafter is not None else "",
        prompt=started.prompt,
        withheld="prompt" in started.withheld,
        facts=_facts(started, imported, brief=bool(title)),
        fates=("pending", *(fate for fate in _LEGEND if fate in fates)),
    )


def _facts(started: RunStarted, imported: Imported | None, *, brief: bool) -> tuple[str, ...]:
    """Return what stands above the text; beside a title the machine is told elsewhere."""
    facts = [f"seed {started.seed}"]
    if imported is not None:
        seed = [] if "seed" in imported.missing else facts
        facts = [f"imported from {imported.program}", settings_told(started, imported), *seed]
    if "machine" in started.withheld:
        facts.append("machine left out on request")
    elif started.machine and not brief:
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
