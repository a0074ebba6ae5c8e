"""The report of `draftscope bench round-anatomy` in tables. Measures nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.cli.bench_pass_cost import limits_words
from engine.benchmarks.words import duration, share, spread_words, table

if TYPE_CHECKING:
    from engine.benchmarks.pass_parts import PassParts
    from engine.benchmarks.round_anatomy import DrafterAnatomy, RoundAnatomy


def text(report: RoundAnatomy) -> str:
    """Write a table a drafter, and one of passes."""
    head = ("a pass on", "whole", "linear layers", "fixed", "the rest", "weights read once")
    passes = [head, *map(_pass, report.passes)]
    parts = [limits_words(report.limits), *map(_drafter, report.drafters), table(passes)]
    parts.append(
        "python: between the phases. transfer: reading numbers of the device, a part of the "
        "phases, in a run of its own.\nfixed: the pass of a model as deep and 64 wide, which is "
        "Python and calls. weights read once: at the best read rate."
    )
    return "\n\n".join(parts)


def _drafter(one: DrafterAnatomy) -> str:
    head = (
        f"{one.drafter}, k {one.k}: {one.rounds} rounds, {one.drafted:.2f} drafted and "
        f"{one.emitted:.2f} emitted a round"
    )
    rows = [("", "time (middle half)", "share")]
    rows += [(part.name, spread_words(part.time), share(part.share)) for part in one.parts]
    rows.append(("a round", spread_words(one.wall), ""))
    return (
        f"{head}\n{table(rows)}\n"
        f"transfer to the host: {one.reads:.1f} reads, {duration(one.transfer_ns)} a round\n"
        f"if only weights were read: {duration(one.weights_ns)}; a round takes "
        f"{one.over_weights:.2f} times that"
    )


def _pass(one: PassParts) -> tuple[str, ...]:
    return (
        f"{one.tokens} token{'' if one.tokens == 1 else 's'} after {one.context}",
        spread_words(one.whole),
        duration(one.linear.median_ns),
        duration(one.fixed.median_ns),
        duration(one.rest_ns),
        duration(one.weights_ns),
    )
