"""`draftscope bench articles`: measured by the engine, told here, and with `--out` written down.

Knows the report and where it goes; measures nothing itself. Figures need Qt, which is imported only
when files are asked for.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from app.cli.bench import heading
from app.cli.bench_articles_tables import sections
from engine.benchmarks.articles import Report
from engine.benchmarks.articles import measure as measure_articles
from engine.benchmarks.measuring import Progress, silent
from engine.benchmarks.words import table
from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

    from app.cli.bench_articles_tables import Section

RESULTS = "results.md"


def measure(*, out: Path | None = None, progress: Progress = silent, **options: Any) -> Report:
    """Measure, and with a folder write a table and figures into it."""
    write_figures = None if out is None else _figures(out)  # if it cannot be, say so now
    report = measure_articles(progress=_told(progress), **options)
    if out is not None and write_figures is not None:
        (out / RESULTS).write_text(markdown(report, write_figures(report, out)), encoding="utf-8")
        print(f"{out / RESULTS} and its figures are ready.", file=sys.stderr)
    return report


def text(report: Report) -> str:
    """Write the tables for a terminal."""
    parts = [
        "\n".join([one.title, table(one.rows), *([one.note] if one.note else [])])
        for one in sections(report)
    ]
    if report.left_out:
        parts.append("\n".join(["Not measured here:", *report.left_out]))
    return "\n\n".join(parts)


def markdown(report: Report, figures: dict[str, Path]) -> str:
    """Write the tables and the figures, by their captions, as a page."""
    parts = ["# The articles' experiment on our own models", _quoted(heading(report.header))]
    parts += [f"## {caption}\n\n![{caption}]({path.name})" for caption, path in figures.items()]
    parts += [_marked(one) for one in sections(report)]
    if report.left_out:
        parts.append("\n".join(["## Not measured here", "", *(f"- {r}" for r in report.left_out)]))
    return "\n\n".join(parts) + "\n"


def _marked(one: Section) -> str:
    head, *rows = [[cell.replace("|", "\\|") for cell in row] for row in one.rows]
    lines = [head, ["---"] * len(head), *rows]
    drawn = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    return "\n\n".join([f"## {one.title}", drawn, *([one.note] if one.note else [])])


def _quoted(words: str) -> str:
    return "\n".join(f"    {line}" for line in words.splitlines())


def _figures(out: Path) -> Callable[[Report, Path], dict[str, Path]]:
    """Make the folder and return what writes figures into it."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DraftscopeError(
            f"The folder {out} cannot be made ({error.strerror}): choose another with --out."
        ) from error
    try:
        from app.benchmarks.articles_figures import write_figures
    except ImportError as fault:
        raise DraftscopeError(
            f"PySide6's part for pictures cannot be loaded here ({fault}): leave out --out."
        ) from fault
    return write_figures


def _told(progress: Progress) -> Progress:
    """Add a line on standard error for each part, where no bar is shown: an hour needs a word."""
    if sys.stderr.isatty():
        return progress
    said: set[str] = set()

    def told(done: int, total: int, what: str) -> None:
        if what not in said:
            said.add(what)
            print(what, file=sys.stderr, flush=True)
        progress(done, total, what)

    return told
