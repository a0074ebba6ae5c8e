"""Figures of benchmarks in words, with their units. Knows no benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.benchmarks.figures import Ratio, Spread

_TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
_SIZES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "bytes"))


def duration(nanoseconds: float) -> str:
    """Write a time with three digits: "18.3 ms"."""
    return _scaled(nanoseconds, _TIMES)


def size(count: float) -> str:
    """Write a number of bytes with three digits: "540 MB"."""
    return _scaled(count, _SIZES)


def spread_words(spread: Spread) -> str:
    """Write a median with the middle half of its samples: "18.3 ms (18.1 ms to 19 ms)"."""
    low, high = duration(spread.low_quartile_ns), duration(spread.high_quartile_ns)
    return f"{duration(spread.median_ns)} ({low} to {high})"


def ratio_words(ratio: Ratio) -> str:
    """Write a ratio with its interval: "1.12 (1.10 to 1.15)"."""
    return f"{ratio.value:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"


def share(part: float) -> str:
    """Write a share of one: "4.2 %"."""
    return f"{100 * part:.1f} %"


def table(rows: Sequence[Sequence[str]]) -> str:
    """Align columns; the first row is the head, the first column stands left, the others right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _scaled(value: float, units: Sequence[tuple[float, str]]) -> str:
    for factor, unit in units:
        if abs(value) >= 0.9995 * factor:
            return f"{_three(value / factor)} {unit}"
    return f"{_three(value)} {units[-1][1]}"


def _three(value: float) -> str:
    """Write three digits, and all of a larger number."""
    return f"{value:.0f}" if abs(value) >= 99.95 else f"{value:.3g}"
