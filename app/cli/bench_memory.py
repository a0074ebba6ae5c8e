"""The report of `draftscope bench memory` in a table. Measures nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.benchmarks.words import size, table

if TYPE_CHECKING:
    from engine.benchmarks.memory import Memory, PlanMemory


def text(report: Memory) -> str:
    """Write a column a plan, and what the ratios divide by."""
    columns = [_LABELS, *(_column(one) for one in report.plans)]
    lines = [table(list(zip(*columns, strict=True)))]
    lines += [f"{one.plan}: {_on_gpu(one)}" for one in report.plans if _on_gpu(one)]
    if report.left_out:
        lines += ["", "Not measured here:", *report.left_out]
    lines += [
        "",
        "In main memory, in a process of its own, without what interpreter, torch and engine took "
        "before.",
        f"ratio: the higher peak over weights and cache as counted; {report.target_ratio:g} is to "
        "be reached.",
    ]
    return "\n".join(lines)


_LABELS = (
    *("plan", "weights, counted", "cache of the context, counted", "after loading"),
    *("peak while loading", "of it mapped files", "  when", "over weights"),
    *("store of the cache", "peak while decoding", "after the text", "ratio"),
    "(before: interpreter, torch, engine)",
)


def _column(one: PlanMemory) -> tuple[str, ...]:
    return (
        one.plan,
        size(one.weight_bytes),
        f"{size(one.cache_bytes)} for {one.stages.context} tokens",
        size(one.loaded_bytes),
        size(one.loading_peak_bytes),
        size(one.mapped_bytes),
        one.peak_at,
        f"{one.loading_ratio:.2f}",
        size(one.store_bytes),
        size(one.decoding_peak_bytes),
        size(one.decoded_bytes),
        f"{one.ratio:.2f}",
        size(one.base_bytes),
    )


def _on_gpu(one: PlanMemory) -> str:
    stages = one.stages
    if stages.device_peak_bytes is None or stages.device_loaded_bytes is None:
        return ""
    return (
        f"on the GPU {size(stages.device_loaded_bytes)} after loading, "
        f"{size(stages.device_peak_bytes)} at most while loading, "
        f"{size(stages.device_decoding_peak_bytes or 0)} at most while decoding"
    )
