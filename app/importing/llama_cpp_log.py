"""What llama.cpp prints: of each request its server's log, of a run llama-speculative at its end.

The server (ggml-org/llama.cpp, tools/server/server-context.cpp, print_timings) prints "prompt eval
time", "eval time" and "draft acceptance rate = R (A accepted / G generated)". The programs
llama-speculative and llama-speculative-simple (examples/speculative-simple) end with "encoded ..."
and "decoded ... tokens in ... seconds", then n_draft, n_predict, n_drafted, n_accept and accept.
Lines "statistics NAME: #calls(b,g,a) = ..." (common/speculative.cpp) count since the program began
and are told in its own words. Knows lines.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from app.importing.found import Found
from app.importing.reading import MOST_STEPS, added, nanoseconds, whole
from engine.errors import DraftscopeError
from engine.trace.imported import Imported, ImportedStep, Stated

if TYPE_CHECKING:
    from app.importing.reading import Material

_RATE = re.compile(
    r"draft acceptance(?: rate)? = +[\d.]+ +\( *(\d{1,18}) accepted / *(\d{1,18}) generated\)"
)
_EVAL = re.compile(r"(prompt )?eval time = +(\d{1,15}\.\d+) ms / +(\d{1,15}) (?:tokens|runs)")
_FIELD = re.compile(r"\b(n_draft|n_predict|n_drafted|n_accept) += +(\d{1,18})\b")
_CODED = re.compile(r"\b(encoded|decoded) +(\d{1,15}) tokens in +(\d{1,12}\.\d+) seconds")
_STATISTICS = re.compile(
    r"statistics +(\S{1,80}): .{0,200}?#gen drafts = +(\d{1,18}), [#]acc drafts = +(\d{1,18}), "
    r"#gen tokens = +(\d{1,18}), [#]acc tokens = +(\d{1,18})"
)
_WORDS = ("drafts generated", "drafts accepted in part", "tokens generated", "tokens accepted")
_UNTOLD = (
    "llama.cpp prints how many drafted tokens were accepted, not which were tested: what it calls "
    "the acceptance rate is the draft yield."
)
_OTHERS = " Other requests of the log that drafted nothing are left out."


def looks_like_log(material: Material) -> bool:
    """Return whether a text holds what llama.cpp prints."""
    text = material.text
    if _RATE.search(text) is not None or _STATISTICS.search(text) is not None:
        return True
    return {"n_drafted", "n_accept"} <= {match[1] for match in _FIELD.finditer(text)}


def read_log(material: Material) -> Found:
    """Return the run that a text tells of; the requests of a server are added up.

    Raises
    ------
    DraftscopeError
        If a number is none, or more was accepted than drafted.
    """
    fields = {match[1]: match[2] for match in _FIELD.finditer(material.text)}
    if {"n_drafted", "n_accept"} <= fields.keys():
        return _of_program(material, fields)
    return _of_server(material)


def _of_program(material: Material, fields: dict[str, str]) -> Found:
    values = {name: int(value) for name, value in fields.items()}
    coded = {match[1]: (match[2], match[3]) for match in _CODED.finditer(material.text)}
    encoded, decoded = coded.get("encoded"), coded.get("decoded")
    imported = Imported(
        run="",
        program="llama.cpp",
        form="what llama-speculative printed at its end",
        drafted=whole(values, "n_drafted"),
        accepted=whole(values, "n_accept"),
        emitted=whole(values, "n_predict"),
        decode_ns=_seconds(decoded),
        prefill_ns=_seconds(encoded),
        prompt_tokens=int(encoded[0]) if encoded else None,
        stated=_statistics(material.text),
        notes=(_UNTOLD,),
    )
    return Found(imported=imported, k=whole(values, "n_draft"))


def _seconds(coded: tuple[str, str] | None) -> int | None:
    return None if coded is None else nanoseconds({"seconds": float(coded[1])}, "seconds", 1e9)


def _of_server(material: Material) -> Found:
    steps: list[ImportedStep] = []
    prompts: list[tuple[int, int]] = []
    prompt = decoded = None  # of the request whose lines are being read: tokens, nanoseconds
    for number, line in enumerate(material.text.splitlines(), start=1):
        if match := _EVAL.search(line):
            timed = int(match[3]), nanoseconds({"ms": float(match[2])}, "ms", 1e6) or 0
            prompt, decoded = (timed, None) if match[1] else (prompt, timed)
        elif match := _RATE.search(line):
            steps.append(_step(match, decoded, f"{material.name}, line {number}"))
            prompts += [prompt] if prompt is not None else []
            prompt = decoded = None
    stated = _statistics(material.text)
    if not steps:
        return Found(imported=_of_statistics(stated, material))
    if len(steps) > MOST_STEPS:
        raise DraftscopeError(
            f"There are {len(steps):,} requests: cut the log to {MOST_STEPS:,} at most."
        )
    many = len(steps) > 1
    whole_prompts = len(prompts) == len(steps)
    imported = Imported(
        run="",
        program="llama.cpp",
        form=f"log of its server, {len(steps):,} requests added up"
        if many
        else "log of its server",
        drafted=sum(step.drafted for step in steps),
        accepted=sum(step.accepted for step in steps),
        emitted=added(step.emitted for step in steps),
        steps=tuple(steps),
        decode_ns=added(step.ns for step in steps),
        prefill_ns=sum(ns for _, ns in prompts) if whole_prompts else None,
        prompt_tokens=sum(tokens for tokens, _ in prompts) if whole_prompts else None,
        stated=stated,
        notes=(_UNTOLD + (_OTHERS if many else ""),),
    )
    return Found(imported=imported)


def _step(match: re.Match[str], decoded: tuple[int, int] | None, where: str) -> ImportedStep:
    accepted, drafted = int(match[1]), int(match[2])
    whole({"generated": drafted}, "generated")
    if accepted > drafted:
        raise DraftscopeError(
            f"{where}: {accepted:,} accepted of {drafted:,} drafted tokens: import the log as "
            "llama.cpp printed it."
        )
    tokens, ns = decoded if decoded is not None else (None, None)
    return ImportedStep(drafted=drafted, accepted=accepted, emitted=tokens, ns=ns)


def _of_statistics(stated: tuple[Stated, ...], material: Material) -> Imported:
    """Add up the drafters' own counts, where nothing else was printed."""
    if not stated:
        raise DraftscopeError(
            f"{material.name} holds no line 'draft acceptance rate = ...': import the log of "
            "llama.cpp's server as it printed it."
        )
    told = [int(one.value) for one in stated]
    return Imported(
        run="",
        program="llama.cpp",
        form="its drafters' statistics since it began",
        drafted=sum(told[2::4]),
        accepted=sum(told[3::4]),
        stated=stated,
        notes=(_UNTOLD,),
    )


def _statistics(text: str) -> tuple[Stated, ...]:
    """Return the last line of each drafter, in llama.cpp's own words."""
    last = {match[1]: match for match in _STATISTICS.finditer(text)}
    return tuple(
        Stated(
            name=f"{name}: {words}",
            value=float(whole({words: int(match[place])}, words) or 0),
            meaning="counted by llama.cpp since it began",
        )
        for name, match in last.items()
        for place, words in enumerate(_WORDS, start=2)
    )
