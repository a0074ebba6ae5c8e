"""`draftscope check`: losslessness on the user's own pair of models, a line a run."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import msgspec

from engine.check.greedy import PROMPTS, check_greedy
from engine.loading import load_model
from engine.session import Session

if TYPE_CHECKING:
    import argparse

    from engine.check.greedy import Cell, Report


def check(options: argparse.Namespace) -> int:
    """Run the matrix; return 0, or 1 if there was a fault."""
    target = load_model(options.target, device=options.device, plan=options.plan)
    report = check_greedy(
        Session(target),
        options.drafter,
        drafted=options.k,
        prompts=options.prompt or PROMPTS,
        max_new_tokens=options.max_new_tokens,
        on_cell=None if options.json else _print_cell,
    )
    if options.json:
        print(msgspec.json.encode(report).decode())
    else:
        print(_summary(report))
    return 1 if report.faults else 0


def _print_cell(cell: Cell) -> None:
    difference = cell.first_difference
    verdict = "identical"
    if difference is not None:
        verdict = f"{difference.kind} at {difference.position}"
    accepted = f"{cell.accepted} accepted in {cell.rounds} rounds"
    print(f"{cell.drafter:20} k {cell.k:<3} {verdict:16} {accepted:28} {cell.prompt[:40]!r}")
    sys.stdout.flush()


def _summary(report: Report) -> str:
    return (
        f"{report.target}, {report.plan} plan: {report.identical} of {len(report.cells)} texts "
        f"identical to the plain target's, {report.ties} ties, {report.faults} faults"
    )
