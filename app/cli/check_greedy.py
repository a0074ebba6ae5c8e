"""`draftscope check greedy`: greedy text against the plain target's, a line a run."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import msgspec

from app.cli.pair import load_pair, typed
from app.cli.progress import ProgressLine
from engine.check.greedy import LAWS, PROMPTS, check_greedy

if TYPE_CHECKING:
    import argparse

    from engine.check.greedy import Cell, Report


def check(options: argparse.Namespace) -> int:
    """Run the matrix; return 0, or 1 if there was a fault."""
    prompts = [typed(prompt) for prompt in options.prompt or PROMPTS]
    line = ProgressLine(sys.stderr)
    session, drafters = load_pair(options, line)

    def print_cell(cell: Cell) -> None:
        line.close()
        print(cell_line(cell))
        sys.stdout.flush()

    try:
        report = check_greedy(
            session,
            drafters,
            drafted=options.k,
            prompts=prompts,
            laws=LAWS,
            max_new_tokens=options.max_new_tokens,
            on_cell=None if options.json else print_cell,
            on_progress=line,
        )
    finally:
        line.close()
    print(msgspec.json.encode(report).decode() if options.json else summary(report))
    return 1 if report.faults else 0


def cell_line(cell: Cell) -> str:
    """Write one run: what its text is, and where it differs both logits and the rounding."""
    accepted = f"{cell.accepted} accepted in {cell.rounds} rounds"
    begin = f"{cell.drafter:20} k {cell.k:<3} {cell.law:10}"
    found = cell.first_difference
    if found is None:
        return f"{begin} identical  {accepted:28} {cell.prompt[:40]!r}"
    line = f"{begin} {found.kind:10} {accepted:28} {cell.prompt[:40]!r}\n"
    if found.speculative_logit is None or found.plain_logit is None or cell.rounding is None:
        ended = "speculative" if found.speculative_id is None else "plain"
        return f"{line}    at token {found.position}: the {ended} text had ended"
    return (
        f"{line}    at token {found.position}: {found.speculative_id} with the logit "
        f"{found.speculative_logit:.7g}, plain {found.plain_id} with {found.plain_logit:.7g}; "
        f"passes round {cell.rounding:.1g} apart"
    )


def summary(report: Report) -> str:
    """Write what the matrix came to."""
    return (
        f"{report.target}, {report.plan} plan: {report.identical} of {len(report.cells)} texts "
        f"identical to the plain target's, {report.ties} ties, {report.faults} faults"
    )
