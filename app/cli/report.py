"""What a run came to: a few lines for people, one JSON object for programs. Knows no engine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from app.viewmodels.draft_ends import ShortDraftCount, ShortDrafts
from engine.trace.events import (
    Baseline,
    Comparison,
    Difference,
    DraftEnd,
    Event,
    FinishReason,
    Round,
    RunFinished,
)
from engine.trace.figures import Figures, Percentiles, PlainMeasure
from engine.trace.statistics import Statistics

_ENDS = {
    FinishReason.END_TOKEN: "the target ended the text",
    FinishReason.STOP_STRING: "a stop string was reached",
    FinishReason.LIMIT: "the limit was reached",
    FinishReason.CONTEXT: "the target's context is full",
    FinishReason.CANCELLED: "stopped",
    FinishReason.ERROR: "ended by a fault",
}


@dataclass
class Outcome:
    """What is kept of a run while its events pass by."""

    statistics: Statistics = field(default_factory=Statistics)
    short_drafts: ShortDraftCount = field(default_factory=ShortDraftCount)
    parts: list[str] = field(default_factory=list)
    token_ids: list[int] = field(default_factory=list)
    finished: RunFinished | None = None
    baseline: Baseline | None = None
    comparison: Comparison | None = None

    def add(self, event: Event) -> None:
        """Take in one event."""
        self.statistics.add(event)
        self.short_drafts.add(event)
        match event:
            case Round():
                self.parts.extend(event.texts)
                self.token_ids.extend(event.emitted_ids)
            case RunFinished():
                self.finished = event
                self.parts.append(event.tail)
            case Baseline():
                self.baseline = event
            case Comparison():
                self.comparison = event

    @property
    def text(self) -> str:
        """The emitted text."""
        return "".join(self.parts)


def as_object(outcome: Outcome) -> dict[str, Any]:  # JSON: the values differ in type
    """Return the run as plain JSON values; what is undefined or was not asked for is None."""
    figures = outcome.statistics.figures()
    baseline, comparison = outcome.baseline, outcome.comparison
    plain = None
    if baseline is not None:
        rate = figures.baseline.tokens_per_second if figures.baseline else None
        plain = {"token_ids": list(baseline.token_ids), "tokens_per_second": rate}
    names = (
        *("rounds", "drafted", "tested", "accepted", "rejected", "discarded", "emitted"),
        *("acceptance", "draft_yield", "tokens_per_pass", "tokens_per_second"),
    )
    return {
        "text": outcome.text,
        "token_ids": outcome.token_ids,
        **{name: getattr(figures, name) for name in names},
        "baseline": plain,
        "identical": None if comparison is None else comparison.identical,
        "first_difference": _difference(comparison.first_difference if comparison else None),
        "speedup": figures.speedup,
        "latency_ms": _latency(figures.latency_ms),
        "plain": _plain(figures),
        "reason": outcome.finished.reason.value if outcome.finished else None,
        **_short_drafts(outcome.short_drafts.so_far),
    }


def _short_drafts(found: ShortDrafts) -> dict[str, Any]:  # JSON: the values differ in type
    """Say why drafts were shorter than k, and whether the drafter's context was exhausted."""
    exhausted = None
    if found.first_exhausted is not None:
        exhausted = {
            "from_round": found.first_exhausted + 1,
            "rounds": found.exhausted,
            "context_length": found.context_length or None,
            "message": found.warning(),
        }
    return {
        "short_drafts": {end.value: rounds for end, rounds in found.ends.items()},
        "drafter_context_exhausted": exhausted,
    }


def _difference(found: Difference | None) -> dict[str, int | float | str | None] | None:
    if found is None:
        return None
    return {name: getattr(found, name) for name in Difference.__struct_fields__}


def _latency(found: Percentiles | None) -> dict[str, float | None]:
    return {name: getattr(found, name, None) for name in Percentiles.__struct_fields__}


def _plain(figures: Figures) -> dict[str, int | float | str | None] | None:
    """Say what `speedup` divides by."""
    plain = figures.plain
    if plain is None:
        return None
    return {
        "source": figures.plain_source,
        "rounds": plain.samples,
        "tokens_per_second": plain.tokens_per_second,
        "low": plain.low_tokens_per_second,
        "high": plain.high_tokens_per_second,
    }


def as_lines(outcome: Outcome) -> list[str]:
    """Return the figures in words, each with what it divides by."""
    figures = outcome.statistics.figures()
    reason = outcome.finished.reason if outcome.finished else FinishReason.CANCELLED
    lines = [
        f"{figures.emitted} tokens in {_count(figures.rounds, 'pass', 'passes')}"
        f" ({_number(figures.tokens_per_pass)} tokens per pass); {_ENDS[reason]}"
    ]
    lines += _acceptance_lines(figures)
    lines += _draft_lines(outcome.short_drafts.so_far)
    lines += _rate_lines(figures)
    lines += _comparison_lines(outcome)
    return lines


def _acceptance_lines(figures: Figures) -> list[str]:
    if figures.acceptance is None:
        return ["acceptance   nothing was drafted"]
    cut = f", {figures.cut} cut" if figures.cut else ""
    lines = [
        f"acceptance   {figures.acceptance:.1%}: {figures.accepted} accepted of {figures.tested}"
        f" tested; {figures.discarded} discarded{cut}",
    ]
    if figures.draft_yield is not None:
        lines.append(f"draft yield  {figures.draft_yield:.1%} of {figures.drafted} drafted")
    if figures.repetitive and figures.repeated_share is not None:
        lines.append(
            f"repetition   {figures.repeated_share:.0%} of the 3-grams repeat: "
            "the acceptance says little about other text"
        )
    return lines


def _draft_lines(found: ShortDrafts) -> list[str]:
    """Say why drafts were short, where the limit was not the only reason."""
    lines = []
    if sum(found.ends.values()) > found.ends.get(DraftEnd.LIMIT, 0):
        lines.append(f"short drafts {found.words()}")
    if found.warning():
        lines.append(found.warning())
    return lines


def _rate_lines(figures: Figures) -> list[str]:
    lines = []
    if figures.tokens_per_second is not None:
        lines.append(
            f"speed        {figures.tokens_per_second:.1f} tokens/s"
            " (emitted over summed round times)"
        )
    if figures.plain is not None:
        lines.append(f"plain        {_measure(figures.plain, figures.plain_source)}")
    if figures.speedup is not None:
        predicted = ""
        if figures.predicted_speedup is not None:
            predicted = f"; predicted {_gain(figures.predicted_speedup)}"
        lines.append(f"speed-up     measured {_measured_gain(figures)}{predicted}")
    if figures.latency_ms is not None:
        found = figures.latency_ms
        lines.append(
            f"latency      {found.p50:.1f} / {found.p95:.1f} / {found.p99:.1f} ms between bursts"
            " (p50 / p95 / p99)"
        )
    return lines


def _measured_gain(figures: Figures) -> str:
    """Say whether the drafter pays, as the window does: only where the interval is clear."""
    assert figures.speedup is not None
    low, high = figures.speedup_low, figures.speedup_high
    if low is None or high is None:
        return _gain(figures.speedup)
    said = f"{_number(figures.speedup)} ({_number(low)} to {_number(high)})"
    if high < 1:
        return f"{said}, slower than plain"
    return said if low > 1 else f"{said}, no clear difference from plain"


def _gain(speedup: float) -> str:
    shown = _number(speedup)
    return f"{shown}, slower than plain" if float(shown) < 1 else shown


def _measure(plain: PlainMeasure, source: str | None) -> str:
    rounds = _count(plain.samples, "plain round", "plain rounds")
    where = "measured during the run" if source == "probes" else "of a plain run"
    interval = ""
    if plain.low_tokens_per_second is not None and plain.high_tokens_per_second is not None:
        low, high = plain.low_tokens_per_second, plain.high_tokens_per_second
        interval = f", 95 % interval {low:.1f} to {high:.1f}"
    return f"{plain.tokens_per_second:.1f} tokens/s ({rounds} {where}{interval})"


def _comparison_lines(outcome: Outcome) -> list[str]:
    comparison = outcome.comparison
    if comparison is None:
        return []
    found = comparison.first_difference
    if found is None:
        return ["text         identical to the plain target's, token for token"]
    words = {
        "tie": "a tie within the kernels' rounding",
        "fault": "more than the kernels' rounding explains",
    }
    return [
        f"text         differs from the plain target's at token {found.position}: "
        f"{found.speculative_id} instead of {found.plain_id}, {words[found.kind]}"
    ]


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _number(value: float | None) -> str:
    return "no" if value is None else f"{value:.2f}"
