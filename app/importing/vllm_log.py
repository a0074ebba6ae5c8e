"""vLLM's log lines "SpecDecoding metrics: ...", each of an interval of the log.

As `SpecDecodingLogging.log` prints them (vllm-project/vllm, vllm/v1/spec_decode/metrics.py): mean
acceptance length to 2 digits, accepted and drafted tokens, rates by position to 3 digits. The
number of drafts is not printed. It is taken only where exactly one whole number fits all that is
printed. Knows the lines; what follows from counts is `counting`'s.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from app.importing.counting import of_one_length
from app.importing.found import Found
from app.importing.reading import MOST_STEPS, added, whole
from engine.errors import DraftscopeError
from engine.trace.imported import Imported, ImportedStep, Stated

if TYPE_CHECKING:
    from app.importing.reading import Material

MARK = "SpecDecoding metrics:"
_COUNT = {"accepted": r"\bAccepted: (\d{1,18}) tokens", "drafted": r"\bDrafted: (\d{1,18}) tokens"}
_MEAN = re.compile(r"Mean acceptance length: (\d{1,6}\.\d\d)\b")
_RATES = re.compile(r"Per-position acceptance rate: (\d\.\d{3}(?:, \d\.\d{3}){0,255})")
_HALF_MEAN, _HALF_RATE = 0.005, 0.0005  # what rounding can have moved
_SLACK = 1e-9
_MOST_TRIED = 1_000  # whole numbers of drafts that a line leaves open
_INTERVALS = (
    "A log line is of an interval of wall time and of all requests in it: it tells no time of "
    "decoding."
)
_ROUNDED = (
    "vLLM's log prints rounded shares and not the number of drafts; it is taken where only one "
    "whole number fits."
)


class Line(NamedTuple):
    """What one line tells."""

    accepted: int
    drafted: int
    drafts: int | None  # where only one number fits
    by_position: tuple[int, ...] | None
    mean: float | None


def read_log(material: Material) -> Found:
    """Return the run that the lines tell of, added up.

    Raises
    ------
    DraftscopeError
        If a line is not as vLLM prints it.
    """
    lines = [
        parse_line(text, f"{material.name}, line {number}")
        for number, text in enumerate(material.text.splitlines(), start=1)
        if MARK in text
    ]
    if not lines or len(lines) > MOST_STEPS:
        raise DraftscopeError(
            f"{material.name} has {len(lines):,} lines of statistics: from 1 to {MOST_STEPS:,} can "
            "be imported."
        )
    drafts = added(line.drafts for line in lines)
    drafted = sum(line.drafted for line in lines)
    by_position = _summed(lines)
    imported = Imported(
        run="",
        program="vLLM",
        form=f"{len(lines):,} log line{'s' * (len(lines) != 1)} (SpecDecoding metrics)",
        drafts=drafts,
        drafted=drafted,
        accepted=sum(line.accepted for line in lines),
        accepted_by_position=by_position,
        steps=tuple(
            ImportedStep(drafted=line.drafted, accepted=line.accepted, drafts=line.drafts)
            for line in lines
        ),
        stated=_stated(lines),
        notes=(_INTERVALS, _ROUNDED),
    )
    follows = {} if drafts is None else of_one_length(drafts, drafted, by_position)
    return Found(imported=msgspec.structs.replace(imported, **follows), k=len(by_position) or None)


def parse_line(text: str, where: str) -> Line:
    """Return what a line tells.

    Raises
    ------
    DraftscopeError
        If it lacks a count, or more was accepted than drafted.
    """
    told: dict[str, int] = {}
    for name, pattern in _COUNT.items():
        match = re.search(pattern, text)
        if match is None:
            raise DraftscopeError(
                f"{where}: no '{name.capitalize()}: N tokens' behind '{MARK}': import the log as "
                "vLLM 0.9 or newer prints it."
            )
        told[name] = whole({name: int(match[1])}, name) or 0
    accepted, drafted = told["accepted"], told["drafted"]
    if accepted > drafted:
        raise DraftscopeError(
            f"{where}: {accepted:,} accepted of {drafted:,} drafted tokens: import the log as vLLM "
            "printed it."
        )
    mean = float(match[1]) if (match := _MEAN.search(text)) else None
    rates = (
        tuple(float(one) for one in match[1].split(", ")) if (match := _RATES.search(text)) else ()
    )
    drafts = _drafts(accepted, drafted, mean, rates)
    by_position = None if drafts is None else _kept(drafts, accepted, rates)
    return Line(accepted, drafted, drafts, by_position, mean)


def _drafts(
    accepted: int, drafted: int, mean: float | None, rates: tuple[float, ...]
) -> int | None:
    """Return the one number of drafts that fits what is printed; None where several do."""
    if mean is None or not rates or not accepted:
        return None
    # mean = 1 + accepted / drafts, rounded; no draft has more tokens than there are positions.
    half = _HALF_MEAN + _SLACK
    low = max(math.ceil(accepted / (mean - 1 + half)), math.ceil(drafted / len(rates)), 1)
    high = math.floor(accepted / (mean - 1 - half)) if mean - 1 > half else low + _MOST_TRIED
    high = min(high, drafted)
    if high - low >= _MOST_TRIED:
        return None
    fitting = [n for n in range(low, high + 1) if _kept(n, accepted, rates) is not None]
    return fitting[0] if len(fitting) == 1 else None


def _kept(drafts: int, accepted: int, rates: tuple[float, ...]) -> tuple[int, ...] | None:
    """Return how many were accepted by position, if whole numbers fit the rates and their sum."""
    kept = tuple(round(rate * drafts) for rate in rates)
    near = all(
        abs(count / drafts - rate) <= _HALF_RATE + _SLACK
        for count, rate in zip(kept, rates, strict=True)
    )
    only = 2 * _HALF_RATE * drafts < 1  # else several whole numbers fit one rate
    return kept if near and only and sum(kept) == accepted else None


def _summed(lines: list[Line]) -> tuple[int, ...]:
    found = [line.by_position for line in lines]
    known = [one for one in found if one is not None]
    if len(known) != len(found) or len({len(one) for one in known}) != 1:
        return ()
    return tuple(map(sum, zip(*known, strict=True)))


def _stated(lines: list[Line]) -> tuple[Stated, ...]:
    if len(lines) != 1 or lines[0].mean is None:
        return ()
    meaning = "1 + accepted / drafts, as the log rounds it"
    return (Stated(name="mean acceptance length", value=lines[0].mean, meaning=meaning),)
