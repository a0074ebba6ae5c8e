"""The plain JSON in which any program can tell what it counted, and its schema.

The format is made of the records below: `assets/schema/plain-1.schema.json` is theirs. Everything
but `format`, `version` and `program` may be left out; what is there must be right. Knows no other
program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from app.importing.counting import of_rounds
from app.importing.found import Found
from app.importing.reading import MOST_STEPS, added, nanoseconds
from engine.bounds import HOTTEST
from engine.errors import DraftscopeError
from engine.trace.events import FinishReason
from engine.trace.imported import MOST, MOST_NS, Imported, ImportedStep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.importing.reading import Material

FORMAT = "draftscope-plain"
SCHEMA_ID = "plain-1.schema.json"
EXPECTED = f'a JSON object with "format": "{FORMAT}" and "version": 1'

_Count = Annotated[int, Meta(ge=0, le=MOST)]
_Heat = Annotated[float, Meta(ge=0, le=HOTTEST)]
_Ns = Annotated[int, Meta(ge=0, le=MOST_NS)]
_Line = Annotated[str, Meta(max_length=500)]


class PlainRound(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One round: one pass of the target."""

    drafted: Annotated[_Count, Meta(description="Tokens proposed in this round; 0 for none.")]
    accepted: Annotated[
        _Count, Meta(description="Of them, how many were kept, from the first one on.")
    ]
    cut: Annotated[
        _Count,
        Meta(
            description="Of them, how many lay past a stop or the limit and were never tested. "
            "Where drafted - cut is more than accepted, the next token was rejected."
        ),
    ] = 0
    emitted: Annotated[
        _Count | None,
        Meta(description="Tokens added to the text: accepted + 1 unless a stop cut the round."),
    ] = None
    ns: Annotated[
        _Ns | None, Meta(description="Time of the round, draft and pass, in nanoseconds.")
    ] = None


class PlainTotals(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Sums, where rounds were not written down one by one."""

    rounds: Annotated[
        _Count | None, Meta(description="Passes of the target after the prompt's.")
    ] = None
    drafts: Annotated[_Count | None, Meta(description="Rounds in which something was drafted.")] = (
        None
    )
    drafted: Annotated[_Count | None, Meta(description="Tokens proposed.")] = None
    accepted: Annotated[_Count | None, Meta(description="Of them, those that were kept.")] = None
    rejected: Annotated[
        _Count | None,
        Meta(description="The first of a round that was not kept: at most one a round."),
    ] = None
    discarded: Annotated[
        _Count | None, Meta(description="Those after a rejected one, never tested.")
    ] = None
    emitted: Annotated[_Count | None, Meta(description="Tokens added to the text.")] = None
    decode_ns: Annotated[_Ns | None, Meta(description="Time of all rounds, in nanoseconds.")] = None


class PlainRun(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a program counted while it decoded one text speculatively."""

    format: Annotated[Literal["draftscope-plain"], Meta(description="What this file is.")]
    version: Annotated[Literal[1], Meta(description="Of this format.")]
    program: Annotated[
        str, Meta(min_length=1, max_length=80, description="Which program counted, as shown.")
    ]
    model: Annotated[_Line, Meta(description="The target's name.")] = ""
    drafter: Annotated[_Line, Meta(description="The drafter's name.")] = ""
    k: Annotated[_Count | None, Meta(description="Tokens drafted a round, at most.")] = None
    temperature: Annotated[_Heat | None, Meta(description="0 is greedy.")] = None
    seed: Annotated[_Count | None, Meta(description="Of the sampling.")] = None
    limit: Annotated[_Count | None, Meta(description="New tokens, at most.")] = None
    machine: Annotated[_Line, Meta(description="Processor or GPU, and versions.")] = ""
    date: Annotated[
        str,
        Meta(
            pattern=r"^(\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\+00:00|Z))?)?$",
            description="Day, or day and time in UTC, as in ISO 8601.",
        ),
    ] = ""
    prompt: Annotated[str, Meta(description="As typed.")] = ""
    prompt_tokens: Annotated[_Count | None, Meta(description="How many tokens it has.")] = None
    text: Annotated[str, Meta(description="The target's text.")] = ""
    prefill_ns: Annotated[
        _Ns | None, Meta(description="Time of reading the prompt, in nanoseconds.")
    ] = None
    ended: Annotated[
        Literal["", "end_token", "stop_string", "limit", "context", "cancelled"],
        Meta(description="Why the text ended."),
    ] = ""
    rounds: Annotated[
        tuple[PlainRound, ...],
        Meta(max_length=MOST_STEPS, description="Every round in order; leave `totals` out then."),
    ] = ()
    totals: Annotated[
        PlainTotals | None, Meta(description="In place of `rounds`, where only sums are known.")
    ] = None
    notes: Annotated[_Line, Meta(description="What a viewer should know.")] = ""


def schema() -> dict[str, Any]:
    """Return the format's JSON Schema, as it is published in `assets/schema`."""
    made = msgspec.json.schema(PlainRun)
    # msgspec leaves out that nothing else is allowed, which readers of ours refuse.
    for part in made["$defs"].values():
        part["additionalProperties"] = False
    about = (
        "What any program can write so that Draftscope shows its speculative decoding: "
        "draftscope import FILE OUT.jsonl. Version 1; fields are only ever added."
    )
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "Draftscope plain statistics",
        "description": about,
    }
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(head | made))  # no tuples
    return plain


def looks_like(material: Material) -> bool:
    """Return whether a file says that it is plain statistics."""
    return bool(material.objects) and material.objects[0].get("format") == FORMAT


def read(material: Material) -> Found:
    """Return the run that a file tells of.

    Raises
    ------
    DraftscopeError
        If it is not as the schema asks, or counts contradict each other.
    """
    if not looks_like(material):
        raise DraftscopeError(f"{material.name} is no plain statistics: expected is {EXPECTED}.")
    try:
        run = msgspec.json.decode(material.text.lstrip("\ufeff"), type=PlainRun)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError) as fault:
        raise DraftscopeError(
            f"{material.name} is not as assets/schema/{SCHEMA_ID} asks: {fault}."
        ) from fault
    if run.rounds and run.totals is not None:
        raise DraftscopeError(
            f"{material.name} has both rounds and totals: leave the totals out, they follow."
        )
    for place, one in enumerate(run.rounds, start=1):
        if one.accepted + one.cut > one.drafted:
            raise DraftscopeError(
                f"{material.name}, round {place}: {one.accepted:,} accepted and {one.cut:,} cut of "
                f"{one.drafted:,} drafted tokens: no round can have more than it drafted."
            )
        if one.emitted is not None and one.emitted > one.accepted + 1:
            raise DraftscopeError(
                f"{material.name}, round {place}: {one.emitted:,} emitted of {one.accepted:,} "
                "accepted tokens: a round emits one more at most."
            )
    return _found(run)


def _found(run: PlainRun) -> Found:
    imported = Imported(
        run="",
        program=run.program,
        form=f"plain statistics, {len(run.rounds):,} rounds" if run.rounds else "plain statistics",
        prefill_ns=run.prefill_ns,
        prompt_tokens=run.prompt_tokens,
        text=run.text,
        notes=(run.notes,) if run.notes else (),
    )
    counts = _of_rounds(run.rounds) if run.rounds else _of_totals(run.totals)
    return Found(
        imported=msgspec.structs.replace(imported, **counts),
        target=run.model,
        drafter=run.drafter,
        k=run.k,
        temperature=run.temperature,
        seed=run.seed,
        limit=run.limit,
        prompt=run.prompt,
        machine=run.machine,
        date=run.date,
        finish=FinishReason(run.ended) if run.ended else None,
    )


def _of_rounds(rounds: Sequence[PlainRound]) -> dict[str, Any]:
    counts: dict[str, Any] = of_rounds([(one.drafted, one.accepted, one.cut) for one in rounds])
    steps = tuple(
        ImportedStep(
            drafted=one.drafted - one.cut,
            accepted=one.accepted,
            drafts=int(one.drafted > one.cut),
            emitted=one.emitted,
            ns=one.ns,
        )
        for one in rounds
    )
    times = added(one.ns for one in rounds)
    return counts | {
        "steps": steps,
        "emitted": added(one.emitted for one in rounds),
        "decode_ns": None if times is None else nanoseconds({"ns": times}, "ns", 1.0),
    }


def _of_totals(totals: PlainTotals | None) -> dict[str, Any]:
    return {} if totals is None else msgspec.structs.asdict(totals)
