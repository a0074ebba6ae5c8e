"""`draftscope bench`: the benchmark's figures as a table or as JSON."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import msgspec

from engine.benchmarks.decoding import PROMPTS, Report, Row
from engine.benchmarks.decoding import bench as measure
from engine.loading import load_model
from engine.session import Session

if TYPE_CHECKING:
    import argparse

_HEAD = (
    "drafter               k   acceptance  tokens/pass  tokens/s  plain  speed-up (range)"
    "     observation  identical"
)


def bench(options: argparse.Namespace) -> int:
    """Measure and print; return 0."""
    target = load_model(options.target, device=options.device, plan=options.plan)
    if not options.json:
        print(_HEAD)
    report = measure(
        Session(target),
        options.drafter,
        drafted=options.k,
        prompts=options.prompt or PROMPTS,
        temperature=options.temperature,
        max_new_tokens=options.max_new_tokens,
        on_row=None if options.json else _print_row,
    )
    if options.json:
        print(msgspec.json.encode(report).decode())
    else:
        print(_passes(report))
    return 0


def _print_row(row: Row) -> None:
    acceptance = "-" if row.acceptance is None else f"{row.acceptance:.2f}"
    identical = "-" if row.identical is None else f"{row.identical}/{row.prompts}"
    span = f"{row.speedup:.2f} ({row.slowest:.2f}-{row.fastest:.2f})"
    print(
        f"{row.drafter:20} {row.k:>3} {acceptance:>10} {row.tokens_per_pass:>13.2f}"
        f" {row.tokens_per_second:>9.1f} {row.plain_tokens_per_second:>6.1f}  {span:20}"
        f" {row.observation:>9.1%} {identical:>11}{_flags(row)}"
    )
    sys.stdout.flush()


def _flags(row: Row) -> str:
    """Say what a reader of the numbers must know."""
    flags = ["slower than plain"] if round(row.speedup, 2) < 1 else []
    if row.repetitive:
        flags.append(f"repetition in {row.repetitive}/{row.prompts}: acceptance not meaningful")
    return "  " + "; ".join(flags) if flags else ""


def _passes(report: Report) -> str:
    lines = ["", "a pass on n tokens, milliseconds and cost over one token:"]
    lines += [f"{one.tokens:>4} {one.milliseconds:>8.1f} {one.cost:>6.2f}" for one in report.passes]
    lines.append(f"{report.target}, {report.plan} plan ({report.dtype}), {report.machine}")
    return "\n".join(lines)
