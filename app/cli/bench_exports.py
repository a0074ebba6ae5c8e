"""The report of `draftscope bench exports` as tables, and as a page. Measures nothing."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from app.benchmarks.exports import measure as measure_exports
from app.cli.bench import heading
from engine.benchmarks.words import size, table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from app.benchmarks.exports import Exported, Exports

RESULTS = "results.md"


def measure(*, out: Path | None = None, keep: Path | None = None, **options: Any) -> Exports:
    """Measure, and with a folder write a page of results into it."""
    for folder in (out, keep):
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
    report = measure_exports(out=keep, **options)
    if out is not None:
        (out / RESULTS).write_text(markdown(report), encoding="utf-8")
        print(f"{out / RESULTS} is ready.", file=sys.stderr)
    return report


def text(report: Exports) -> str:
    """Write times, sizes and memory, a row a format."""
    parts = [f"a process that only starts: {report.start_s:.2f} s, part of every time below"]
    for title, rows in _tables(report):
        parts.append(f"{title}\n{table(rows)}")
    parts += [f"{one.trace} as {one.format}: {one.said}" for one in _without(report)]
    return "\n\n".join(parts)


def markdown(report: Exports) -> str:
    """Write the same as a page."""
    quoted = "\n".join(f"> {line}  " for line in heading(report.header).splitlines())
    parts = [
        "# Exports: times, sizes and memory",
        "Made by `draftscope bench exports --rounds 100000 --out assets/results/exports`: each "
        "export is a process of its own, its start "
        f"({report.start_s:.2f} s) included.",
        quoted,
    ]
    for title, rows in _tables(report):
        head, *body = rows
        lines = [
            f"| {' | '.join(head)} |",
            f"|{'---|' * len(head)}",
            *(f"| {' | '.join(row)} |" for row in body),
        ]
        parts.append("\n".join([f"## {title[0].upper()}{title[1:]}", "", *lines]))
    parts += [f"- {one.trace} as {one.format}: {one.said}" for one in _without(report)]
    return "\n\n".join(parts) + "\n"


def _tables(report: Exports) -> list[tuple[str, list[tuple[str, ...]]]]:
    made = []
    traces = list(dict.fromkeys(one.trace for one in report.files))
    formats = list(dict.fromkeys(one.format for one in report.files))
    for title, cell in (("seconds", _seconds), ("size", _size)):
        head = ("format", *(trace.partition(".")[0] for trace in traces))
        rows = [head]
        for name in formats:
            found = {one.trace: one for one in report.files if one.format == name}
            rows.append((name, *(cell(found[trace]) for trace in traces)))
        made.append((f"{title}, by session", rows))
    if report.long_files:
        rows = [("format", "seconds", "size", "memory, at most")]
        rows += [(one.format, _seconds(one), _size(one), _peak(one)) for one in report.long_files]
        title = f"a trace of {report.long_rounds:,} rounds ({size(report.long_size)})"
        made.append((title, rows))
    return made


def _without(report: Exports) -> Sequence[Exported]:
    return [one for one in (*report.files, *report.long_files) if one.said]


def _seconds(one: Exported) -> str:
    return "–" if one.said else f"{one.seconds:.1f}"


def _size(one: Exported) -> str:
    return "–" if one.said else size(one.size)


def _peak(one: Exported) -> str:
    return "not known" if one.peak is None else size(one.peak)
