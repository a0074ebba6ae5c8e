"""Which way of drafting was the quickest. Pure: rows in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from engine.benchmarks.articles_rows import Cell

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine.benchmarks.articles_rows import Row


class Best(msgspec.Struct, frozen=True, kw_only=True):
    """The quickest way of a drafter at a temperature, on the beginnings."""

    drafter: str
    temperature: float
    k: int
    confidence: float  # 0: the quickest fixed k; above: the quickest stop
    speedup: float
    tokens_per_pass: float

    @property
    def cell(self) -> Cell:
        """Return what was measured."""
        return Cell(self.drafter, self.k, self.temperature, self.confidence)


def best_of(rows: Iterable[Row]) -> tuple[Best, ...]:
    """Return the quickest fixed k, and the quickest stop, of each drafter and temperature."""
    found: dict[tuple[str, float, bool], Best] = {}
    for row in rows:
        if row.speedup is None:
            continue
        key = (row.drafter, row.temperature, row.confidence > 0.0)
        if key not in found or row.speedup.value > found[key].speedup:
            found[key] = Best(
                drafter=row.drafter,
                temperature=row.temperature,
                k=row.k,
                confidence=row.confidence,
                speedup=row.speedup.value,
                tokens_per_pass=row.tokens_per_pass,
            )
    return tuple(found.values())
