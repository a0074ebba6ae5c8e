"""The report of `draftscope bench peers` as tables, and what must be said of texts that differ.

Measures nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.benchmarks.words import ratio_words, table

if TYPE_CHECKING:
    from engine.benchmarks.peers_report import LlamaRow, Report, Row
    from engine.benchmarks.peers_texts import Difference

_HEAD = (
    *("drafter", "prompts", "k", "tokens/s", "peer", "speed-up (95 %)", "whole call (95 %)"),
    *("from rounds", "tokens/pass", "peer", "identical"),
)
_LLAMA_HEAD = (
    *("llama.cpp", "tokens/s", "peer", "speed-up (95 %)", "whole call (95 %)", "identical"),
)


def text(report: Report) -> str:
    """Write the tables, then the first difference of each pair of texts that differ."""
    parts = [
        f"against transformers {report.transformers}, tokens per second of each",
        table([_HEAD, *map(_cells, report.rows)]),
    ]
    said = [_said(row, one) for row in report.rows for one in row.differences]
    if said:
        parts.append("\n".join(["texts that differ:", *said]))
    if report.llama is not None:
        parts.append(f"against llama.cpp {report.llama}, another precision; plain rounds")
        parts.append(table([_LLAMA_HEAD, *map(_llama_cells, report.llama_rows)]))
    return "\n\n".join(parts)


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.drafter,
        row.prompts,
        str(row.k),
        f"{row.ours.tokens_per_second:.1f}",
        f"{row.theirs.tokens_per_second:.1f}",
        ratio_words(row.speedup),
        ratio_words(row.call_speedup),
        f"{row.round_tokens_per_second:.1f}",
        f"{row.ours.tokens_per_pass:.2f}",
        f"{row.theirs.tokens_per_pass:.2f}",
        f"{row.identical}/{row.texts}",
    )


def _llama_cells(row: LlamaRow) -> tuple[str, ...]:
    return (
        row.prompts,
        f"{row.ours.tokens_per_second:.1f}",
        f"{row.theirs.tokens_per_second:.1f}",
        ratio_words(row.speedup),
        ratio_words(row.call_speedup),
        f"{row.identical}/{row.texts}",
    )


def _said(row: Row, one: Difference) -> str:
    where = f"{row.drafter}, {row.prompts} prompt {one.prompt + 1}, new token {one.position + 1}"
    if one.our_margin is None or one.their_margin is None or one.rounding is None:
        ended = "ours" if one.our_id is None else "theirs"
        return f"  {one.kind}: {where}: {ended} had ended"
    return (
        f"  {one.kind}: {where}: {one.our_id} by {one.our_margin:.2g} in ours, {one.their_id} by "
        f"{one.their_margin:.2g} in theirs; passes of several widths round {one.rounding:.2g} apart"
    )
