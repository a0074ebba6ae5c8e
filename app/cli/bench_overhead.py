"""`draftscope bench overhead`: what being watched costs, in the engine and by the window.

Brings both halves together; measures nothing itself. The window's half needs Qt and is imported
only when it is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from app.cli.bench import settings_words
from engine.benchmarks import overhead as engine_half
from engine.benchmarks.measuring import Progress, silent
from engine.benchmarks.rounds import PROMPT
from engine.benchmarks.words import ratio_words, share, spread_words, table
from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from collections.abc import Callable
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
    """Measure runs with observation and without, then runs with the window and without.

    The window's half takes the same options, and the last drafter that there is.
    """
    measure_window = _window_half() if window else None  # if it cannot be had, say so now
    half = engine_half.measure(target=target, repeats=repeats, progress=progress, **options)
    found = None
    if measure_window is not None:
        options["prompt"] = options.get("prompt") or PROMPT
        options["drafter"] = last_drafter([one.drafter for one in half.drafters])
        found = measure_window(target, repeats=repeats, progress=progress, **options)
    return Report(header=half.header, drafters=half.drafters, window=found)


def last_drafter(names: list[str]) -> str:
    """Return the last that drafts; "none" if none does."""
    return ([name for name in names if name != "none"] or ["none"])[-1]


def _window_half() -> Callable[..., WindowReport]:
    """Start Qt, and return what measures with it."""
    try:
        from app.benchmarks.stage import application
        from app.benchmarks.window import measure as measure_window
    except ImportError as fault:
        raise DraftscopeError(
            f"The window's half needs PySide6, which cannot be loaded here ({fault}): install what "
            "is missing, or leave the half out with --no-window."
        ) from fault
    application()
    return measure_window


def text(report: Report) -> str:
    """Write both halves."""
    rows = [_HEAD, *map(_drafter, report.drafters)]
    parts = [f"{table(rows)}\nshare: observation over rounds, both summed."]
    if not all(one.identical for one in report.drafters):
        parts.append("Runs emitted different tokens: their times cannot be compared.")
    if report.window is None:
        parts.append("The window was not measured.")
    else:
        notes = [one for one in report.window.header.notes if one not in report.header.notes]
        parts.append("\n".join([*_window(report.window), *notes]))
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


def _window(report: WindowReport) -> list[str]:
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
    same = (
        "All runs emitted the same tokens."
        if report.identical
        else "Runs emitted different tokens: their times are of different work and cannot be "
        "compared."
    )
    return [
        f"the window's half: {settings_words(report.header)}",
        f"{report.tokens} tokens a run",
        table(rows),
        *lost,
        f"watched over command line (95 %), wall: {ratio_words(report.watched_over_command_line)}",
        same,
    ]
