"""Samples to figures: medians, spreads, and ratios with an interval.

Pure: nanoseconds (or any other positive numbers) in, frozen figures out. Knows no clock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

CONFIDENCE = 0.95
_RESAMPLES = 2_000
_SEED = 20


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """Samples of one thing, in nanoseconds."""

    median_ns: float
    low_quartile_ns: float  # a quarter of the samples are below
    high_quartile_ns: float  # a quarter of the samples are above
    fastest_ns: float
    samples: int


class Ratio(msgspec.Struct, frozen=True, kw_only=True):
    """The ratio of two medians and its 95 % interval, from the bootstrap over repeats."""

    value: float
    low: float
    high: float


def spread(samples: Sequence[float]) -> Spread:
    """Return median, quartiles (linear between the two nearest samples) and the fastest."""
    low, median, high = np.quantile(np.asarray(samples, dtype=np.float64), (0.25, 0.5, 0.75))
    return Spread(
        median_ns=float(median),
        low_quartile_ns=float(low),
        high_quartile_ns=float(high),
        fastest_ns=float(min(samples)),
        samples=len(samples),
    )


def ratio(over: Sequence[float], under: Sequence[float]) -> Ratio:
    """Return median(over) / median(under) and what chance alone would make of it.

    Parameters
    ----------
    over, under
        Samples of two things measured in turn; those with one index belong to one repeat.

    Notes
    -----
    Efron 1979: whole repeats are drawn with replacement, both samples of a repeat together, so that
    a slow moment of the machine, which hits both, does not widen the interval. The draws have a
    fixed seed: the same samples give the same interval.
    """
    if len(over) != len(under):
        raise ValueError(f"{len(over)} and {len(under)} samples cannot be paired by repeat")
    top, bottom = np.asarray(over, dtype=np.float64), np.asarray(under, dtype=np.float64)
    drawn = _drawn(len(top))
    ratios = np.median(top[drawn], axis=1) / np.median(bottom[drawn], axis=1)
    return _with_interval(float(np.median(top) / np.median(bottom)), ratios)


def rate_ratio(over: Sequence[tuple[int, int]], under: Sequence[tuple[int, int]]) -> Ratio | None:
    """Return the ratio of two rates, each of all repeats together, with its interval.

    Parameters
    ----------
    over, under
        (how many, nanoseconds) of each repeat; those with one index belong to one repeat.

    Returns
    -------
    Ratio | None
        Bootstrapped as in `ratio`. None where nothing was counted in one of them.
    """
    if len(over) != len(under):
        raise ValueError(f"{len(over)} and {len(under)} samples cannot be paired by repeat")
    pairs = [pair for pair in zip(over, under, strict=True) if min(*pair[0], *pair[1]) > 0]
    if not pairs:
        return None
    both = np.asarray(pairs, dtype=np.float64)  # [repeats, 2, 2]: of each side how many, and ns
    sums = both[_drawn(len(pairs))].sum(axis=1)
    ratios = sums[:, 0, 0] / sums[:, 0, 1] / (sums[:, 1, 0] / sums[:, 1, 1])
    whole = both.sum(axis=0)
    return _with_interval(float(whole[0, 0] / whole[0, 1] / (whole[1, 0] / whole[1, 1])), ratios)


def _drawn(repeats: int) -> npt.NDArray[np.int64]:
    """Draw whole repeats with replacement; [resamples, repeats]."""
    return np.random.default_rng(_SEED).integers(repeats, size=(_RESAMPLES, repeats))


def _with_interval(value: float, ratios: npt.NDArray[np.float64]) -> Ratio:
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(ratios, (tail, 1 - tail))
    return Ratio(value=value, low=float(low), high=float(high))
