"""Means with a confidence interval and percentiles, one sample at a time. Knows no events."""

from __future__ import annotations

import math
from array import array
from bisect import insort

# Student's t at 97.5 %, by degrees of freedom from 1: a two-sided 95 % interval.
_T_975 = (
    *(12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004),
    *(2.262157, 2.228139, 2.200985, 2.178813, 2.160369, 2.144787, 2.131450, 2.119905),
    *(2.109816, 2.100922, 2.093024, 2.085963, 2.079614, 2.073873, 2.068658, 2.063899),
    *(2.059539, 2.055529, 2.051831, 2.048407, 2.045230, 2.042272),
)
_Z_975 = 1.959963984540054
_FEW = 48  # samples that are cheaper inserted than sorted in


def student_t(freedom: int) -> float:
    """Return the 97.5 % point of Student's t with `freedom` >= 1 degrees of freedom."""
    if freedom <= len(_T_975):
        return _T_975[freedom - 1]
    # Abramowitz and Stegun 26.7.5, to the third order: off by less than 1e-6 from 31 on.
    z, n = _Z_975, float(freedom)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / n + second / n**2 + third / n**3


class RunningMean:
    """The mean of the samples so far and its 95 % interval, without keeping them."""

    __slots__ = ("_squares", "count", "mean", "total")

    def __init__(self) -> None:
        self.count = 0
        self.total = 0
        self.mean = 0.0
        self._squares = 0.0

    def add(self, sample: int) -> None:
        """Take in one sample."""
        # Welford 1962: stable where the mean is large beside the spread.
        self.count += 1
        self.total += sample
        delta = sample - self.mean
        self.mean += delta / self.count
        self._squares += delta * (sample - self.mean)

    def half_width(self) -> float | None:
        """Return half the width of the 95 % interval of the mean; None below two samples."""
        if self.count < 2:
            return None
        variance = self._squares / (self.count - 1)
        return student_t(self.count - 1) * math.sqrt(variance / self.count)


class Quantiles:
    """Exact quantiles of whole numbers, eight bytes a sample; sorted only when asked."""

    __slots__ = ("_fresh", "_sorted")

    def __init__(self) -> None:
        self._sorted = array("q")
        self._fresh = array("q")

    def __len__(self) -> int:
        return len(self._sorted) + len(self._fresh)

    def add(self, sample: int) -> None:
        """Take in one sample."""
        self._fresh.append(sample)

    def at(self, fraction: float) -> float | None:
        """Return the quantile, linear between the two nearest samples; None without samples."""
        self._settle()
        values = self._sorted
        if not values:
            return None
        place = fraction * (len(values) - 1)
        low = math.floor(place)
        high = min(low + 1, len(values) - 1)
        return values[low] + (values[high] - values[low]) * (place - low)

    def _settle(self) -> None:
        if len(self._fresh) <= _FEW:
            for sample in self._fresh:
                insort(self._sorted, sample)
        else:
            self._sorted.extend(self._fresh)
            self._sorted = array("q", sorted(self._sorted))
        del self._fresh[:]
