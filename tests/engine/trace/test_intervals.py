from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.trace import intervals
from engine.trace.intervals import Quantiles, RunningMean, student_t

if TYPE_CHECKING:
    from collections.abc import Iterable

SAMPLES = st.lists(st.integers(0, 10**12), min_size=1, max_size=200)


def test_student_t_is_scipys() -> None:
    from scipy import stats

    for freedom in (*range(1, 200), 1_000, 100_000):
        assert student_t(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=1e-6)


@given(st.lists(st.integers(10**9, 10**9 + 1000), min_size=2, max_size=60))
def test_the_interval_is_scipys_also_where_the_spread_is_tiny(samples: list[int]) -> None:
    from scipy import stats

    mean = RunningMean()
    for sample in samples:
        mean.add(sample)
    half = stats.t.ppf(0.975, len(samples) - 1) * stats.sem(samples)
    assert mean.half_width() == pytest.approx(half, rel=1e-5, abs=1e-6)


def test_one_sample_has_no_interval() -> None:
    mean = RunningMean()
    mean.add(5)
    assert mean.half_width() is None


@given(SAMPLES, st.sampled_from([0.0, 0.5, 0.95, 0.99, 1.0]))
def test_quantiles_are_numpys(samples: list[int], fraction: float) -> None:
    import numpy

    quantiles = Quantiles()
    for i, sample in enumerate(samples):
        quantiles.add(sample)
        if i % 7 == 0:
            quantiles.at(0.5)  # asked in between: sorted in parts
    assert quantiles.at(fraction) == pytest.approx(numpy.quantile(samples, fraction))
    assert len(quantiles) == len(samples)
    assert Quantiles().at(fraction) is None


def test_asking_after_each_sample_does_not_sort_all_again(monkeypatch: pytest.MonkeyPatch) -> None:
    sorts: list[int] = []

    def counted(values: Iterable[int]) -> list[int]:
        result = sorted(values)
        sorts.append(len(result))
        return result

    quantiles = Quantiles()
    for sample in range(5_000):
        quantiles.add(sample * 7919 % 5_000)
    monkeypatch.setattr(intervals, "sorted", counted, raising=False)
    quantiles.at(0.5)
    for sample in range(500):
        quantiles.add(sample)
        quantiles.at(0.5)
    assert sorts == [5_000]
