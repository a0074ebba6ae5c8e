"""vLLM's acceptance statistics: its records a step, its log lines, its counters.

Records are `SpecDecodingStats` (vllm-project/vllm, vllm/v1/spec_decode/metrics.py), one a line or
in a list, alone or within the scheduler's statistics: num_spec_tokens, num_drafts,
num_draft_tokens, num_accepted_tokens, num_accepted_tokens_per_pos. A step's record adds up the
drafts of all requests. vLLM's "acceptance rate" is accepted / drafted, the glossary's draft yield;
its "mean acceptance length" is 1 + accepted / drafts; its rates by position divide by drafts.
Knows no window.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from app.importing.counting import of_one_length, of_rounds
from app.importing.found import Found
from app.importing.reading import MOST_STEPS, added, inner, whole
from app.importing.vllm_log import MARK, read_log
from app.importing.vllm_metrics import NAME, metrics_of
from engine.errors import DraftscopeError
from engine.trace.imported import Imported, ImportedStep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.importing.reading import Material, Object

PROGRAM = "vLLM"
EXPECTED = (
    "lines with 'SpecDecoding metrics:', vllm:spec_decode counters of /metrics, or records with "
    "num_draft_tokens and num_accepted_tokens"
)
_RECORDS = ("spec_decoding_stats", "spec_decode_stats")
_OTHERS = "vLLM counts only rounds with a draft, so rounds without one are not told."


def looks_like(material: Material) -> bool:
    """Return whether a file holds vLLM's statistics."""
    if material.objects:
        return bool(_records(material)) or any(
            str(one.get("name", "")).startswith(NAME) for one in material.objects
        )
    return MARK in material.text or NAME in material.text


def read(material: Material) -> Found:
    """Return the run that the statistics tell of.

    Raises
    ------
    DraftscopeError
        If there are none, or a number is none.
    """
    records = _records(material)
    if records:
        return _of_records(records)
    metrics = metrics_of(material)
    if metrics is not None:
        return _of_counts(
            metrics.drafts,
            metrics.drafted,
            metrics.accepted,
            metrics.by_position,
            form="counters of /metrics, of all requests since the server began",
            model=metrics.model,
        )
    if MARK in material.text:
        return read_log(material)
    raise DraftscopeError(f"{material.name} holds no statistics of vLLM: expected are {EXPECTED}.")


def _records(material: Material) -> list[Object]:
    alone = [one for one in material.objects if _is_record(one)]
    if alone:
        return alone
    found: list[Object] = []
    for key in _RECORDS:
        found += [one for one in inner(material.objects, key) if _is_record(one)]
    return found


def _is_record(one: Object) -> bool:
    return "num_draft_tokens" in one and "num_accepted_tokens" in one


def _of_records(records: Sequence[Object]) -> Found:
    if len(records) > MOST_STEPS:
        raise DraftscopeError(
            f"There are {len(records):,} records of steps: cut them to {MOST_STEPS:,} at most."
        )
    steps: list[ImportedStep] = []
    sums: list[int] = []
    positions_known = True
    for one in records:
        step = _step(one)
        by_position = _by_position(one)
        positions_known = positions_known and by_position is not None
        if by_position is not None and sum(by_position) != step.accepted:
            raise DraftscopeError(
                f"A record tells {step.accepted:,} accepted tokens and {sum(by_position):,} by "
                "position: import a file that vLLM wrote."
            )
        sums += [0] * (len(by_position or ()) - len(sums))
        for place, kept in enumerate(by_position or ()):
            sums[place] += kept
        steps.append(step)
    lengths = {whole(one, "num_spec_tokens") for one in records}
    k = lengths.pop() if len(lengths) == 1 else None
    drafts = added(step.drafts for step in steps)
    one_each = all(step.drafts == 1 or (step.drafts, step.drafted) == (0, 0) for step in steps)
    found = _of_counts(
        drafts,
        sum(step.drafted for step in steps),
        sum(step.accepted for step in steps),
        sums if positions_known else [],
        form=f"{len(records):,} records of steps (SpecDecodingStats)",
        steps=tuple(steps),
    )
    if one_each and drafts:
        rounds = [(step.drafted, step.accepted, 0) for step in steps if step.drafts]
        more = of_rounds(rounds) | {"rounds": None, "drafts": drafts}
        found = replace(found, imported=msgspec.structs.replace(found.imported, **more))
    return replace(found, k=k)


def _step(one: Object) -> ImportedStep:
    drafted, accepted = whole(one, "num_draft_tokens"), whole(one, "num_accepted_tokens")
    if drafted is None or accepted is None:
        raise DraftscopeError(f"A record of a step lacks a count: expected are {EXPECTED}.")
    if accepted > drafted:
        raise DraftscopeError(
            f"A record tells {accepted:,} accepted of {drafted:,} drafted tokens: import a file "
            "that vLLM wrote."
        )
    return ImportedStep(drafted=drafted, accepted=accepted, drafts=whole(one, "num_drafts"))


def _by_position(one: Object) -> list[int] | None:
    values = one.get("num_accepted_tokens_per_pos")
    if not isinstance(values, list) or not values:
        return None
    name = "num_accepted_tokens_per_pos"
    return [whole({name: value}, name) or 0 for value in values]


def _of_counts(
    drafts: int | None,
    drafted: int,
    accepted: int,
    by_position: Sequence[int],
    *,
    form: str,
    model: str = "",
    steps: tuple[ImportedStep, ...] = (),
) -> Found:
    follows = {} if drafts is None else of_one_length(drafts, drafted, by_position)
    imported = Imported(
        run="",
        program=PROGRAM,
        form=form,
        drafts=drafts,
        drafted=drafted,
        accepted=accepted,
        accepted_by_position=tuple(by_position),
        steps=steps,
        notes=(_OTHERS,),
    )
    return Found(
        imported=msgspec.structs.replace(imported, **follows),
        target=model,
        k=len(by_position) or None,
    )
