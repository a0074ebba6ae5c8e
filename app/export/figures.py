"""The figures that a page shows beside its rounds, as they stood after each of them.

Knows what each figure divides by and how it was obtained, in words; what each is, the window says.
Computes none: they are `engine.trace.statistics`' own, so a page and the window cannot disagree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.viewmodels import definitions
from app.viewmodels.imported import telling_readings
from app.viewmodels.readings import (
    DASH,
    How,
    Reading,
    count,
    kind_of_rounds,
    number,
    percent,
    plural,
)

if TYPE_CHECKING:
    from engine.trace.figures import Figures


def readings(figures: Figures) -> tuple[Reading, ...]:
    """Return the five figures of the page, ready to be shown; four of an imported run."""
    if figures.imported is not None:
        return telling_readings(figures.imported)
    return (
        _acceptance(figures),
        _tokens_per_pass(figures),
        _rate(figures),
        _plain(figures),
        _speedup(figures),
    )


def _acceptance(figures: Figures) -> Reading:
    known = figures.acceptance is not None
    return Reading(
        name="acceptance",
        text=percent(figures.acceptance) if figures.acceptance is not None else DASH,
        unit="%",
        how=How.MEASURED,
        detail=f"{count(figures.accepted)} accepted / {count(figures.tested)} tested"
        if known
        else "nothing tested yet",
        definition=definitions.ACCEPTANCE,
    )


def _tokens_per_pass(figures: Figures) -> Reading:
    value = figures.tokens_per_pass
    return Reading(
        name="tokens per pass",
        text=number(value) if value is not None else DASH,
        unit="",
        how=How.MEASURED,
        detail=f"{count(figures.emitted)} emitted / {plural(figures.rounds, 'round')}"
        if value is not None
        else "no round yet",
        definition=definitions.TOKENS_PER_PASS,
    )


def _rate(figures: Figures) -> Reading:
    value = figures.tokens_per_second
    rounds = kind_of_rounds(figures.paced, figures.disturbed)
    return Reading(
        name="this run",
        text=number(value) if value is not None else DASH,
        unit="tokens/s",
        how=How.MEASURED,
        detail=f"{count(figures.emitted)} emitted / {figures.round_ns / 1e9:.2f} s of {rounds}"
        if value is not None
        else "no round yet",
        definition=definitions.RUN,
    )


def _plain(figures: Figures) -> Reading:
    plain = figures.plain
    definition = definitions.PLAIN
    if plain is None:
        return Reading("plain target", DASH, "tokens/s", How.MEASURED, "not measured", definition)
    what = "probe" if figures.plain_source == "probes" else "round"
    seconds = plain.samples * plain.mean_ns / 1e9
    low, high = plain.low_tokens_per_second, plain.high_tokens_per_second
    spread = f", 95 %: {number(low)}–{number(high)}" if low and high else ""
    return Reading(
        name="plain target",
        text=number(plain.tokens_per_second),
        unit="tokens/s",
        how=How.MEASURED,
        detail=f"{plural(plain.samples, what)} / {seconds:.2f} s{spread}",
        definition=definition,
    )


def _speedup(figures: Figures) -> Reading:
    value = figures.speedup
    low, high = figures.speedup_low, figures.speedup_high
    detail = "this run / plain target"
    if value is None:
        detail = "no plain rate yet" if figures.rounds else "no round yet"
    elif low is not None and high is not None:
        detail += f", {number(low)}–{number(high)}"
    if high is not None and high < 1:
        detail += "; slower than plain"
    return Reading(
        name="speed-up",
        text=number(value) if value is not None else DASH,
        unit="×",
        how=How.MEASURED,
        detail=detail,
        definition=definitions.SPEEDUP,
    )
