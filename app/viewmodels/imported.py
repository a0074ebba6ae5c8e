"""A run that another program made, in words and readings: what it told, and what it did not.

Knows the figures that follow from imported counts. What was not told is a dash with the reason, and
no figure stands under another one's name. Knows no program's file and no Qt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.viewmodels.definitions import (
    ACCEPTANCE,
    EXPECTED,
    LATENCY,
    PLAIN,
    PREDICTED,
    SPEEDUP,
    TOKENS_PER_PASS,
    YIELD,
    C,
)
from app.viewmodels.readings import DASH, How, Reading, count, milliseconds, number, percent, plural

if TYPE_CHECKING:
    from engine.trace.events import RunStarted
    from engine.trace.figures import ImportedFigures
    from engine.trace.imported import Imported, Stated

_MOST_STATED = 4  # of the program's own figures in a notice
LONGEST_TEXT = 100_000  # characters of an imported text that the window shows
_PER_DRAFT = (
    "1 + accepted / rounds with a draft: each of them emits its accepted tokens and one more. "
    "Rounds without a draft are not in it, and tokens that a stop cut off are."
)
_RATE = "Tokens per second of the decoding"
_WORDS = {
    "rounds": "rounds",
    "drafts": "with a draft",
    "drafted": "drafted",
    "tested": "tested",
    "accepted": "accepted",
    "rejected": "rejected",
    "discarded": "discarded",
    "emitted": "emitted",
}


def whose_words(imported: Imported | None) -> str:
    """Say whose counts a run's figures come from; "" for our own."""
    if imported is None:
        return ""
    return f"Imported from {imported.program} ({imported.form}): counts, without tokens and laws."


def imported_notice(imported: Imported | None) -> str:
    """Say whose counts a run's figures come from, and what to know of them; "" for our own."""
    if imported is None:
        return ""
    stated = ", ".join(_stated_words(one) for one in imported.stated[:_MOST_STATED])
    says = (f"{imported.program} says: {stated}.",) if stated else ()
    return " ".join((whose_words(imported), *imported.notes, *says))


def _stated_words(one: Stated) -> str:
    """Write a figure of the program's own, in its words."""
    value = (
        f"{one.value:,.0f}" if one.value == int(one.value) and not one.unit else number(one.value)
    )
    unit = f" {one.unit}" if one.unit else ""
    meaning = f" ({one.meaning})" if one.meaning else ""
    return f"{one.name} {value}{unit}{meaning}"


def no_tokens_words(imported: Imported) -> str:
    """Say why there are no tokens to show."""
    return f"Imported from {imported.program}: it tells counts, not tokens and their verdicts."


def shown_text(imported: Imported | None) -> str:
    """Return the text that the program gave, as far as a panel shows it."""
    text = "" if imported is None else imported.text
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + "…"


def counts_words(imported: Imported) -> str:
    """Write the counts that were told, in a row."""
    told = [
        f"{word} {count(value)}"
        for name, word in _WORDS.items()
        if (value := getattr(imported, name)) is not None
    ]
    return ", ".join(told) if told else "no counts"


def missing_words(imported: Imported) -> str:
    """Write what was not told, in a row."""
    return f"not told: {', '.join(imported.missing)}" if imported.missing else "nothing is missing"


def models_told(started: RunStarted, imported: Imported) -> str:
    """Return the models that were told, in words."""
    target = "" if "target" in imported.missing else started.target.name
    told = "drafter" not in imported.missing and started.drafter is not None
    drafter = started.drafter.name if told and started.drafter is not None else ""
    if target and drafter:
        return f"{target} with {drafter}"
    return target or (f"drafter {drafter}" if drafter else "models not recorded")


def settings_told(started: RunStarted, imported: Imported) -> str:
    """Return the settings that were told, in words."""
    told = []
    if "k" not in imported.missing:
        told.append(f"k {started.settings.k}")
    if "temperature" not in imported.missing:
        told.append(f"temperature {started.settings.temperature:g}")
    return ", ".join(told) or "settings not recorded"


def acceptance_readings(told: ImportedFigures | None) -> tuple[Reading, ...]:
    """Return the acceptance panel's figures; none for a run of our own."""
    if told is None:
        return ()
    tested = f"not told by {told.program}: which tokens were tested"
    drafted = f"not told by {told.program}: the drafted tokens"
    return (
        _share(
            "acceptance", told.acceptance, told.accepted, told.tested, "tested", tested, ACCEPTANCE
        ),
        _share(
            "draft yield", told.draft_yield, told.accepted, told.drafted, "drafted", drafted, YIELD
        ),
        tokens_per_pass(told),
        _dash("expected", "needs the acceptance and every round's draft", EXPECTED),
    )


def telling_readings(told: ImportedFigures) -> tuple[Reading, ...]:
    """Return the readings that tell such a run: no program tells a speed-up or a plain rate."""
    acceptance, draft_yield, passes, _ = acceptance_readings(told)
    return acceptance, draft_yield, passes, rate_reading(told)


def tokens_per_pass(told: ImportedFigures) -> Reading:
    """Return tokens per pass, or per pass with a draft where no more is known."""
    name = "tokens per pass"
    if told.tokens_per_pass is not None and told.emitted is not None and told.rounds is not None:
        of = f"{count(told.emitted)}/{count(told.rounds)} passes"
        return _reading(name, number(told.tokens_per_pass), "", of, TOKENS_PER_PASS)
    if told.tokens_per_draft is not None and told.accepted is not None and told.drafts is not None:
        of = f"1 + {count(told.accepted)}/{count(told.drafts)} passes with a draft"
        return _reading(name, number(told.tokens_per_draft), "", of, _PER_DRAFT)
    return _dash(name, f"not told by {told.program}: the passes", TOKENS_PER_PASS)


def rate_readings(told: ImportedFigures | None) -> tuple[Reading, ...]:
    """Return the throughput panel's figures; none for a run of our own."""
    if told is None:
        return ()
    no_plain = f"not told by {told.program}: a plain rate"
    return (
        _dash("speed-up", no_plain, SPEEDUP),
        rate_reading(told),
        _dash("plain target", no_plain, PLAIN),
    )


def rate_reading(told: ImportedFigures) -> Reading:
    """Return the rate, as stated or as it follows from tokens and time."""
    rate, name = told.tokens_per_second, "this run"
    if rate is None:
        reason = f"not told by {told.program}: tokens and their decoding time"
        return _dash(name, reason, f"{_RATE}.")
    if told.stated_rate:
        return _reading(name, number(rate), "tok/s", f"as {told.program} states it", f"{_RATE}.")
    assert told.emitted is not None  # the rate follows from both
    assert told.decode_ns is not None
    of = f"{plural(told.emitted, 'token')} / {number(told.decode_ns / 1e9)} s of decoding"
    return _reading(name, number(rate), "tok/s", of, f"{_RATE}: emitted tokens / decoding time.")


def small_readings(told: ImportedFigures | None) -> tuple[Reading, ...]:
    """Return the small figures of the throughput panel; none for a run of our own.

    No program tells what they divide; what times it does tell are `times_words`.
    """
    if told is None:
        return ()
    reason = f"not told by {told.program}"
    return (
        _dash("time between tokens p50/p95/p99", reason, LATENCY),
        _dash("c", reason, C),
        _dash("speed-up", reason, PREDICTED),
    )


def times_words(told: ImportedFigures) -> str:
    """Write the times that the program told, in a sentence; "" where it told none."""
    times = (
        ("a token", None if told.ms_per_token is None else told.ms_per_token * 1e6),
        ("of prefill", told.prefill_ns),
        ("to the first token", told.first_token_ns),
    )
    known = [f"{milliseconds(ns)} ms {what}" for what, ns in times if ns is not None]
    return f"{', '.join(known)}, as {told.program} measured." if known else ""


def _share(
    name: str,
    value: float | None,
    over: int | None,
    under: int | None,
    of: str,
    reason: str,
    definition: str,
) -> Reading:
    if value is None or over is None or under is None:
        return _dash(name, "nothing drafted" if under == 0 else reason, definition)
    return _reading(name, percent(value), "%", f"{count(over)}/{count(under)} {of}", definition)


def _reading(name: str, text: str, unit: str, detail: str, definition: str) -> Reading:
    return Reading(name, text, unit, How.IMPORTED, detail, definition)


def _dash(name: str, reason: str, definition: str) -> Reading:
    return Reading(name, DASH, "", How.IMPORTED, reason, definition)
