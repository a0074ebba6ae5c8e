"""The report of `draftscope bench gui` for people. Measures nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.benchmarks.words import share, size, table

if TYPE_CHECKING:
    from app.benchmarks.gui import Gui, OpenReport, StreamReport


def text(report: Gui) -> str:
    """Write what streamed and what was opened."""
    parts = [_stream(report.stream)]
    if report.opening is not None:
        parts.append(_opening(report.opening))
    return "\n\n".join(parts)


def _stream(one: StreamReport) -> str:
    rows = [("paints", "per second")]
    rows += [(name, f"{rate:.1f}") for name, rate in one.paints_per_second.items()]
    shown = "all" if one.shown_rounds == one.rounds else f"{one.shown_rounds:,}"
    return "\n".join(
        [
            f"{one.tokens_per_second:,.0f} tokens per second for {one.seconds:.1f} s; {shown} of "
            f"{one.rounds:,} rounds on show in the end",
            _gaps(one.longest_gap_ms, one.p99_gap_ms),
            f"the window's thread: {share(one.cpu_share)} of a core",
            f"with nothing streaming: longest gap {one.idle_longest_gap_ms:.1f} ms, "
            f"{share(one.idle_cpu_share)} of a core",
            table(rows),
        ]
    )


def _opening(one: OpenReport) -> str:
    return "\n".join(
        [
            f"a trace of {one.rounds:,} rounds ({size(one.file_bytes)}): first picture after "
            f"{one.first_picture_s:.2f} s, all of it after {one.whole_s:.1f} s",
            _gaps(one.longest_gap_ms, one.p99_gap_ms),
        ]
    )


def _gaps(longest_ms: float, p99_ms: float) -> str:
    return (
        f"gaps between two turns of the window's thread: longest {longest_ms:.1f} ms, "
        f"99 % under {p99_ms:.1f} ms"
    )
