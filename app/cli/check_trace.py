"""`draftscope check trace`: a saved session derived again from its own numbers. Loads no model."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import msgspec

from app.cli.progress import ProgressLine
from app.viewmodels.terminal_marks import harmless
from engine.check.trace import RunsChecker
from engine.file_names import name_in_words
from engine.trace.reader import TraceReader

if TYPE_CHECKING:
    import argparse

    from engine.check.findings import Finding
    from engine.check.trace import Report

_MOST_LINES = 50  # findings written out; --json has them all


def check(options: argparse.Namespace) -> int:
    """Read a trace and derive it again; return 0, or 1 if something does not follow."""
    reader = TraceReader(options.trace)
    line, checker = ProgressLine(sys.stderr), RunsChecker()
    try:
        for done, event in enumerate(reader, start=1):
            checker.add(event)
            line(done, len(reader), f"Checking {reader.path.name}")
    finally:
        line.close()
    if reader.notice is not None:  # known only now: it counts the lines that were passed over
        print(harmless(reader.notice), file=sys.stderr)
    reports = checker.reports()
    follows = not any(report.findings for report in reports)
    if options.json:
        told = {"file": name_in_words(reader.path.name), "torn": reader.torn, "follows": follows}
        told |= msgspec.to_builtins(reports[0])
        if len(reports) > 1:
            told["runs"] = msgspec.to_builtins(reports)
        print(msgspec.json.encode(told).decode())
    for number, report in enumerate(reports, start=1):
        name = reader.path.name if len(reports) == 1 else f"{reader.path.name}, run {number}"
        if not options.json:
            print("\n".join(as_lines(report, name)))
    return 0 if follows else 1


def as_lines(report: Report, name: str) -> list[str]:
    """Write what was derived again, then what does not follow."""
    end = "" if report.finished else "; it breaks off before the end of the run"
    looked_at = [f"{count} {kind}" for kind, count in report.looked_at.items() if count]
    held = f"{report.rounds} rounds, {report.emitted} tokens{end}"
    if report.imported:
        held = f"counts imported from {report.imported}, no rounds"
    lines = [
        f"{name}: {held}",
        f"checked, by kind: {', '.join(looked_at)}",
    ]
    if report.findings:
        lines.append(
            "what does not follow; rounds and drafted tokens count from 0, as in the file:"
        )
    lines += [finding_line(finding) for finding in report.findings[:_MOST_LINES]]
    more = len(report.findings) - _MOST_LINES
    if more > 0:
        lines.append(f"... and {more} more; --json has them all")
    if report.findings:
        return [*lines, f"{len(report.findings)} of these do not follow from the rest of it"]
    return [*lines, "all of it follows from its own numbers"]


def finding_line(finding: Finding) -> str:
    """Write one finding: where, what, what is recorded, and what follows instead."""
    return (
        f"{finding.place}: {finding.what} ({finding.kind}) is {finding.recorded}; "
        f"what follows is {finding.follows}"
    )
