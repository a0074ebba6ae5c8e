"""The report of `draftscope bench pass-cost` in tables. Measures nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.benchmarks.words import ratio_words, share, size, spread_words, table

if TYPE_CHECKING:
    from engine.benchmarks.limits import Limits
    from engine.benchmarks.pass_cost import Pass, PassCost, PlanCost

_HEAD = (
    *("context", "tokens", "rows", "time (middle half)", "cost over one token (95 %)"),
    *("of read limit", "of the limit"),
)


def text(report: PassCost) -> str:
    """Write the limits and one table a plan."""
    parts = [limits_words(report.limits), *map(_plan, report.plans)]
    if report.left_out:
        parts.append("\n".join(["Not measured here:", *report.left_out]))
    parts.append(
        "of read limit: the time that reading the weights once takes at the best rate, over the "
        "time measured.\nof the limit: the same for weights and cache, or for operations, "
        "whichever takes longer."
    )
    return "\n\n".join(parts)


def limits_words(limits: Limits) -> str:
    """Write what the machine can do at best."""
    lines = [
        f"reading {size(limits.read.amount)} ({limits.read.what}): {size(limits.read.best)}/s at "
        f"best, {size(limits.read.median)}/s median"
    ]
    lines += [
        f"products ({one.what}): {one.best / 1e9:.4g} GFLOP/s at best, {one.median / 1e9:.4g} "
        "GFLOP/s median"
        for one in limits.products
    ]
    return "\n".join(lines)


def _plan(found: PlanCost) -> str:
    one = found.passes[0].work
    head = f"{found.plan} plan ({found.dtype}): {size(one.weight_bytes)} of weights a pass"
    return f"{head}\n{table([_HEAD, *map(_cells, found.passes)])}"


def _cells(one: Pass) -> tuple[str, ...]:
    return (
        str(one.context),
        str(one.tokens),
        str(one.width),
        spread_words(one.time),
        ratio_words(one.cost),
        share(one.read_share),
        share(one.share),
    )
