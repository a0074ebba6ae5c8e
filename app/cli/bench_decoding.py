"""The report of `draftscope bench decoding` as a table. Measures nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.benchmarks.words import share, table

if TYPE_CHECKING:
    from engine.benchmarks.decoding import Report, Row

_HEAD = (
    *("drafter", "k", "acceptance", "tokens/pass", "tokens/s", "plain", "speed-up (95 %)"),
    *("slowest", "fastest", "observation", "identical"),
)


def text(report: Report) -> str:
    """Write both tables."""
    lines = table([_HEAD, *map(_cells, report.rows)]).splitlines()
    flagged = [lines[0]]
    flagged += [line + flags(row) for line, row in zip(lines[1:], report.rows, strict=True)]
    passes = [("tokens", "a pass, ms", "cost over one token")]
    passes += [
        (str(one.tokens), f"{one.milliseconds:.1f}", f"{one.cost:.2f}") for one in report.passes
    ]
    return "\n".join([*flagged, "", table(passes)])


def flags(row: Row) -> str:
    """Say what a reader of the numbers must know."""
    found = ["slower than plain"] if round(row.speedup, 2) < 1 else []
    if row.repetitive:
        found.append(f"repetition in {row.repetitive}/{row.runs}: acceptance not meaningful")
    return "  " + "; ".join(found) if found else ""


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.drafter,
        str(row.k),
        "-" if row.acceptance is None else f"{row.acceptance:.2f}",
        f"{row.tokens_per_pass:.2f}",
        f"{row.tokens_per_second:.1f}",
        f"{row.plain_tokens_per_second:.1f}",
        f"{row.speedup:.2f} ({row.low:.2f} to {row.high:.2f})",
        f"{row.slowest:.2f}",
        f"{row.fastest:.2f}",
        share(row.observation),
        "-" if row.identical is None else f"{row.identical}/{row.runs}",
    )
