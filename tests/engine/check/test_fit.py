"""Counts against a law, and shares against a probability, worked out by hand and by scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from engine.check.fit import Fit, chi_square, share


def test_chi_square_is_the_sum_of_squares_over_what_was_expected() -> None:
    # 100 draws of [.5, .3, .2]: (60-50)^2/50 + (25-30)^2/30 + (15-20)^2/20 = 2 + 5/6 + 5/4
    fit = chi_square({0: 60, 1: 25, 2: 15}, [0.5, 0.3, 0.2])
    assert fit.statistic == pytest.approx(2 + 5 / 6 + 5 / 4)
    assert (fit.draws, fit.cells, fit.pooled, fit.freedom) == (100, 3, 0, 2)
    # with two degrees of freedom the tail is exp(-x / 2)
    assert fit.p_value == pytest.approx(np.exp(-fit.statistic / 2))
    wanted = stats.chisquare([60, 25, 15], [50, 30, 20])
    assert (fit.statistic, fit.p_value) == pytest.approx((wanted.statistic, wanted.pvalue))


def test_small_cells_are_pooled() -> None:
    # expected 90, 6, then 2 + 1 + 1: the pool has 4, so it joins the smallest cell, 6
    law = [0.90, 0.06, 0.02, 0.01, 0.01]
    fit = chi_square({0: 88, 1: 5, 2: 4, 3: 3}, law)
    assert (fit.cells, fit.pooled, fit.freedom) == (2, 3, 1)
    assert fit.statistic == pytest.approx((88 - 90) ** 2 / 90 + (12 - 10) ** 2 / 10)
    # and with ten times the draws the pool stands by itself: 40 expected, but id 2 has its own cell
    fit = chi_square({0: 880, 1: 50, 2: 40, 3: 30}, law)
    assert (fit.cells, fit.pooled, fit.freedom) == (5, 0, 4)
    many = [0.5, 0.4, *[0.001] * 100]
    fit = chi_square({0: 500, 1: 400, 2: 60, 50: 40}, many)
    assert (fit.cells, fit.pooled, fit.statistic) == (3, 100, 0.0)


def test_draws_without_mass_are_impossible_whatever_the_rest() -> None:
    fit = chi_square({0: 500, 1: 499, 2: 1}, [0.5, 0.5, 0.0])
    assert (fit.impossible, fit.p_value) == (1, 0.0)
    assert not fit.follows(1e-9)


def test_draws_too_even_to_be_random_are_told() -> None:
    law = [0.1] * 10
    even = chi_square(dict.fromkeys(range(10), 1_000), law)
    assert (even.statistic, even.p_value) == (0.0, 1.0)
    assert not even.follows(1e-5)
    few = chi_square({0: 500, 1: 500}, [0.5, 0.5])  # with two cells it happens now and then
    assert few.follows(1e-5)


def test_one_cell_says_nothing() -> None:
    fit = chi_square({3: 50}, [0.0, 0.0, 0.0, 1.0])
    assert (fit.cells, fit.freedom, fit.p_value) == (1, 0, 1.0)
    assert fit.follows(0.5)


def test_lawful_draws_fall_below_a_level_as_often_as_it_says() -> None:
    law = [0.4, 0.3, 0.2, 0.05, 0.03, 0.02]
    generator = np.random.default_rng(3)
    fits: list[Fit] = []
    for _ in range(2_000):
        counts = generator.multinomial(500, law)
        fits.append(chi_square(dict(enumerate(counts.tolist())), law))
    below = sum(not fit.follows(0.05) for fit in fits)
    assert below == pytest.approx(2_000 * 0.10, abs=4 * np.sqrt(2_000 * 0.10 * 0.90))  # two tails
    assert stats.kstest([fit.p_value for fit in fits], "uniform").pvalue > 1e-3


def test_a_share_is_held_to_the_binomial_law() -> None:
    assert share(7, 10, 0.7).p_value == pytest.approx(1.0)
    # 10 of 10 at 1/2: 2 of 1,024 outcomes are as extreme
    assert share(10, 10, 0.5).p_value == pytest.approx(2 / 1024)
    found = share(350, 1_000, 0.3)
    assert found.measured == 0.35
    assert found.p_value == pytest.approx(stats.binomtest(350, 1_000, 0.3).pvalue)
    assert not found.follows(1e-3)


def test_what_always_or_never_happens_is_held_to_that() -> None:
    assert share(1_000, 1_000, 0.99999994).p_value == 1.0  # a float32 sum of "always"
    assert share(999, 1_000, 0.99999994).p_value < 1e-3
    assert share(0, 1_000, 0.0).p_value == 1.0
    assert share(1, 1_000, 0.0).p_value == 0.0
