"""`draftscope bench overhead`: what being watched costs, in the engine and by the window.

Brings both halves together; measures nothing itself. The window's half needs Qt and is imported
only when it is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from engine.benchmarks import overhead as engine_half
from engine.benchmarks.measuring import Progress, silent
from engine.benchmarks.words import ratio_words, share, spread_words, table

if TYPE_CHECKING:
    from typing import Any

    from app.benchmarks.window import WindowReport
    from engine.benchmarks.header import Header
    from engine.benchmarks.overhead import DrafterOverhead


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Both halves."""

    header: Header  # of the engine's half
    drafters: tuple[DrafterOverhead, ...]
    window: WindowReport | None  # None: not asked for


def measure(
    *,
    target: str,
    repeats: int,
    window: bool = True,
    progress: Progress = silent,
    **options: Any,  # the engine's half's own
) -> Report:
    """Measure runs with observation and without, then runs with the window and without."""
    half = engine_half.measure(target=target, repeats=repeats, progress=progress, **options)
    found = None
    if window:
        from app.benchmarks.window import measure as measure_window

        found = measure_window(target, repeats=repeats, progress=progress)
    return Report(header=half.header, drafters=half.drafters, window=found)


def text(report: Report) -> str:
    """Write both halves."""
    rows = [_HEAD, *map(_drafter, report.drafters)]
    parts = [f"{table(rows)}\nshare: observation over rounds, both summed."]
    if not all(one.identical for one in report.drafters):
        parts.append("Runs emitted different tokens: their times cannot be compared.")
    parts.append(
        "The window was not measured." if report.window is None else _window(report.window)
    )
    return "\n\n".join(parts)


_HEAD = (
    *("drafter", "k", "rounds", "a run, observed", "a run, unobserved"),
    *("observed over unobserved (95 %)", "observation, a round", "share"),
)


def _drafter(one: DrafterOverhead) -> tuple[str, ...]:
    return (
        one.drafter,
        str(one.k),
        str(one.rounds),
        spread_words(one.observed),
        spread_words(one.unobserved),
        ratio_words(one.ratio),
        spread_words(one.observe),
        share(one.share),
    )


def _window(report: WindowReport) -> str:
    rows = [("a run", "rounds, summed", "wall", "tokens/s of the rounds")]
    rows += [
        (one.name, spread_words(one.round), spread_words(one.wall), f"{one.tokens_per_second:.1f}")
        for one in report.ways
    ]
    lost = [
        f"{name}: {share(one.value)} ({share(one.low)} to {share(one.high)})"
        for name, one in (
            ("engine speed lost to the window, by summed round times", report.lost),
            ("by wall time", report.lost_wall),
        )
    ]
    return "\n".join([f"{report.tokens} tokens a run", table(rows), *lost])
