"""`draftscope bench`: one benchmark of the table, with its bar, as text or as JSON.

Knows the table and what every report shares; nothing of any one benchmark.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import msgspec

from app.cli.bench_table import BENCHMARKS
from app.cli.progress import ProgressLine
from engine.errors import DraftscopeError

if TYPE_CHECKING:
    import argparse

    from engine.benchmarks.header import Header


def bench(options: argparse.Namespace) -> int:
    """Measure and print, or list what can be measured; return 0."""
    if options.name is None:
        print(listing())
        return 0
    row = next(one for one in BENCHMARKS if one.name == options.name)
    asked = {
        key: value for key, value in vars(options).items() if key not in ("command", "name", "json")
    }
    line = ProgressLine(sys.stderr)
    try:
        report = _named(row.measure)(**asked, progress=line)
    finally:
        line.close()
    if options.json:
        print(msgspec.json.encode(report).decode())
    else:
        print(heading(report.header), _named(row.text)(report), sep="\n\n")
    return 0


def listing() -> str:
    """Write the names, each with what it tells."""
    width = max(len(one.name) for one in BENCHMARKS)
    lines = [f"  {one.name:{width}}  {one.says}" for one in BENCHMARKS]
    return "\n".join(
        ["draftscope bench NAME, where NAME is one of", *lines, "Each has its own --help."]
    )


def heading(header: Header) -> str:
    """Write on what, with what and how it was measured."""
    model = ", ".join(part for part in (header.target, header.device) if part)
    plan = f"; {header.plan} plan ({header.dtype})" if header.plan else ""
    settings = settings_words(header)
    busy = "" if header.load is None else f"; load {header.load:g} before the start"
    lines = [
        f"{header.benchmark}: {model}{plan}" if model else header.benchmark,
        f"{header.processor}; {header.processors} processors{busy}; {header.system}",
        header.machine,
        f"draftscope {header.draftscope}, Python {header.python}, torch {header.torch}, "
        f"{header.threads} thread{'' if header.threads == 1 else 's'}",
    ]
    return "\n".join([*lines, *([settings] if settings else []), *header.notes])


def settings_words(header: Header) -> str:
    """Write what was asked for in one line."""
    return "; ".join(f"{name.replace('_', ' ')} {value}" for name, value in header.settings.items())


def _named(place: str) -> Any:  # each benchmark has a report and options of its own
    module, _, name = place.partition(":")
    try:
        return getattr(import_module(module), name)
    except ImportError as fault:
        if not module.startswith("app.benchmarks."):
            raise
        raise DraftscopeError(
            f"PySide6's part for windows cannot be loaded here ({fault}): install what is missing."
        ) from fault
