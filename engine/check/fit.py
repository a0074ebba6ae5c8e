"""Does what was drawn follow a law? Chi-square over cells, and shares against a probability.

Knows counts and probabilities; no model, no rule and no uniform.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec
from scipy import stats

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LEAST_EXPECTED = 5.0  # draws in a cell, below which the chi-square law does not hold: pooled
LEVEL = 1e-3  # probability that a whole report of lawful draws names any as unlawful
_EVEN = 5  # degrees of freedom from which draws can be too even to be random


class Fit(msgspec.Struct, frozen=True, kw_only=True):
    """Pearson's chi-square of counts against a law."""

    draws: int
    cells: int  # after pooling
    pooled: int  # ids whose expected count was below `LEAST_EXPECTED`, in one cell together
    impossible: int  # draws of ids that have no mass in the law
    statistic: float
    freedom: int  # degrees of freedom
    p_value: float  # probability of so large a statistic; 0 with an impossible draw
    p_even: float  # probability of so small a one; 1 where that cannot be told

    def follows(self, level: float) -> bool:
        """Return whether both tails are likelier than `level`."""
        return self.p_value >= level and self.p_even >= level


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """How many of some independent trials came out, against a probability; binomial test."""

    trials: int
    happened: int
    measured: float
    expected: float
    p_value: float  # two-sided

    def follows(self, level: float) -> bool:
        """Return whether the deviation is likelier than `level`."""
        return self.p_value >= level


def chi_square(counts: Mapping[int, int], law: Sequence[float]) -> Fit:
    """Compare counts of ids with a law over all ids.

    Parameters
    ----------
    counts
        Draws of each id; ids that were not drawn may be missing.
    law
        [V], not negative; divided by its sum.
    """
    draws, total = sum(counts.values()), math.fsum(law)
    impossible = sum(count for token, count in counts.items() if not law[token] > 0.0)
    cells: list[tuple[float, int]] = []
    small = [0.0, 0]
    pooled = 0
    for token, mass in enumerate(law):
        expected = draws * mass / total
        if expected >= LEAST_EXPECTED:
            cells.append((expected, counts.get(token, 0)))
        elif mass > 0.0:
            small[0] += expected
            small[1] += counts.get(token, 0)
            pooled += 1
    cells = _with_pool(cells, small[0], int(small[1]))
    statistic = math.fsum((count - expected) ** 2 / expected for expected, count in cells)
    freedom = max(0, len(cells) - 1)
    p_value = float(stats.chi2.sf(statistic, freedom)) if freedom else 1.0
    p_even = float(stats.chi2.cdf(statistic, freedom)) if freedom >= _EVEN else 1.0
    return Fit(
        draws=draws,
        cells=len(cells),
        pooled=pooled,
        impossible=impossible,
        statistic=statistic,
        freedom=freedom,
        p_value=0.0 if impossible else p_value,
        p_even=p_even,
    )


def _with_pool(
    cells: list[tuple[float, int]], expected: float, count: int
) -> list[tuple[float, int]]:
    """Add the pooled cell; where even that is too small, put it into the smallest other one."""
    if expected >= LEAST_EXPECTED or not cells:
        return [*cells, (expected, count)] if expected > 0.0 else cells
    smallest = min(range(len(cells)), key=lambda at: cells[at][0])
    cells[smallest] = (cells[smallest][0] + expected, cells[smallest][1] + count)
    return cells


def share(happened: int, trials: int, expected: float) -> Share:
    """Compare how often something happened with its probability; `trials` is at least 1."""
    probability = min(1.0, max(0.0, expected))
    if 1.0 - probability < 1e-6:  # a sum of float32 numbers: "always" is never quite 1
        probability = 1.0 if happened == trials else probability
    p_value = float(stats.binomtest(happened, trials, probability).pvalue)
    return Share(
        trials=trials,
        happened=happened,
        measured=happened / trials,
        expected=expected,
        p_value=p_value,
    )
