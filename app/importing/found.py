"""What was found in another program's file, and the trace that it becomes. Knows no program.

A trace needs a start with settings: what the file does not tell is left empty there and named in
`Imported.missing`, so that nobody takes a seed of 0 for a seed.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from engine.errors import DraftscopeError
from engine.trace.events import (
    SCHEMA_VERSION,
    Event,
    FinishReason,
    ModelInfo,
    RunFinished,
    RunStarted,
    Settings,
)
from engine.trace.imported import contradictions
from engine.version import VERSION

if TYPE_CHECKING:
    from app.importing.reading import Material
    from engine.trace.imported import Imported

NOT_RECORDED = "not recorded"  # a model's name is shown as it stands

# What no other program tells, and what a start has that most do not.
_COUNTS = ("rounds", "drafts", "drafted", "accepted", "rejected", "discarded", "emitted")
_TIMES = {
    "decode_ns": "decoding time",
    "prefill_ns": "prefill time",
    "first_token_ns": "time to the first token",
}
_NEVER = ("tokens", "laws", "times of phases", "plain rate")


@dataclass(frozen=True, kw_only=True)
class Found:
    """A run as far as a program told it; "" or None is what it did not tell."""

    imported: Imported  # without its run, its missing names and its tested ones
    target: str = ""
    drafter: str = ""
    k: int | None = None
    temperature: float | None = None
    seed: int | None = None
    limit: int | None = None
    prompt: str = ""
    machine: str = ""
    date: str = ""  # ISO 8601, UTC
    finish: FinishReason | None = None
    message: str = ""  # where it failed


def events_of(found: Found, material: Material) -> list[Event]:
    """Return the trace of what was found; the same file gives the same trace.

    Raises
    ------
    DraftscopeError
        If its counts contradict each other, or it has none.
    """
    told = found.imported
    wrong = contradictions(told)
    if wrong:
        what, recorded, follows = wrong[0]
        raise DraftscopeError(
            f"{material.name} contradicts itself ({what}: {recorded:,} beside {follows:,}): import "
            "a file that its program wrote."
        )
    if all(getattr(told, name) is None for name in ("drafted", "emitted", "tokens_per_second")):
        raise DraftscopeError(
            f"{material.name} tells neither drafted nor emitted tokens nor a rate: there is "
            "nothing to show of it."
        )
    run = hashlib.sha256(told.program.encode() + b"\0" + material.data).hexdigest()[:16]
    imported = msgspec.structs.replace(told, run=run, missing=_missing(found))
    events: list[Event] = [_started(found, run), imported]
    if found.finish is not None:
        events.append(RunFinished(run=run, reason=found.finish, message=found.message))
    return events


def _started(found: Found, run: str) -> RunStarted:
    drafts = found.drafter or found.imported.drafted
    return RunStarted(
        schema=SCHEMA_VERSION,
        run=run,
        version=VERSION,
        started_at=found.date,
        prompt=found.prompt,
        raw=True,
        prompt_tokens=(),
        settings=Settings(drafter="imported", k=found.k or 0, temperature=found.temperature or 0.0),
        seed=found.seed or 0,
        max_new_tokens=found.limit or 0,
        target=ModelInfo(name=found.target or NOT_RECORDED, kind="target"),
        drafter=ModelInfo(name=found.drafter or NOT_RECORDED, kind="model") if drafts else None,
        top_n=0,
        machine=found.machine,
    )


def _missing(found: Found) -> tuple[str, ...]:
    told = found.imported
    names = [name for name in _COUNTS if getattr(told, name) is None]
    if told.tested is None:
        names.append("tested")
    names += [word for field, word in _TIMES.items() if getattr(told, field) is None]
    if not told.tested_by_position:
        names.append("acceptance by position")
    if not told.accepted_lengths:
        names.append("accepted lengths")
    if not told.text:
        names.append("text")
    known = {
        "prompt": found.prompt,
        "prompt tokens": told.prompt_tokens,
        "target": found.target or None,
        "drafter": found.drafter or None,
        "k": found.k,
        "temperature": found.temperature,
        "seed": found.seed,
        "limit": found.limit,
        "machine": found.machine,
        "date": found.date,
    }
    names += [name for name, value in known.items() if value is None or value == ""]
    return (*names, *_NEVER)
