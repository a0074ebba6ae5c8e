"""Uniforms are a function of (seed, position, purpose), and uniform."""

from __future__ import annotations

import numpy as np
from scipy import stats

from engine.uniforms import Purpose, uniform


def test_the_same_triple_gives_the_same_number_whatever_ran_before() -> None:
    first = uniform(2**32 + 5, 17, Purpose.TEST)
    for position in range(100):
        uniform(3, position, Purpose.DRAFT)
    assert uniform(2**32 + 5, 17, Purpose.TEST) == first


def test_seed_position_and_purpose_all_matter() -> None:
    numbers = {
        uniform(seed, position, purpose)
        for seed in (0, 1, -1, 2**70)
        for position in (0, 1, 10)
        for purpose in Purpose
    }
    assert len(numbers) == 4 * 3 * len(Purpose)


def test_numbers_are_uniform_on_the_unit_interval() -> None:
    numbers = np.array([uniform(5, i, Purpose.TEST) for i in range(20_000)])
    assert numbers.min() >= 0.0
    assert numbers.max() < 1.0
    assert stats.kstest(numbers, "uniform").pvalue > 1e-3


def test_purposes_at_one_position_are_independent() -> None:
    tests = np.array([uniform(5, i, Purpose.TEST) for i in range(5_000)])
    draws = np.array([uniform(5, i, Purpose.DRAFT) for i in range(5_000)])
    assert abs(stats.pearsonr(tests, draws).statistic) < 0.06
