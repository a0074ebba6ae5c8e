"""Medians, spreads and ratios with their intervals, by hand and by law."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.benchmarks.figures import Ratio, rate_ratio, ratio, spread

TIMES = st.lists(st.integers(1, 10**9), min_size=1, max_size=12)
PAIRS = st.lists(
    st.tuples(st.integers(1, 10**9), st.integers(1, 10**9)), min_size=1, max_size=12
).map(lambda pairs: tuple(map(list, zip(*pairs, strict=True))))


def test_a_spread_by_hand() -> None:
    found = spread([40, 10, 30, 20, 50])
    assert (found.low_quartile_ns, found.median_ns, found.high_quartile_ns) == (20, 30, 40)
    assert (found.fastest_ns, found.samples) == (10, 5)
    assert spread([10, 20]).median_ns == 15


@given(TIMES)
def test_a_spread_is_in_order_and_within_its_samples(samples: list[int]) -> None:
    found = spread(samples)
    inside = (found.fastest_ns, found.low_quartile_ns, found.median_ns, found.high_quartile_ns)
    assert (min(samples), *inside, max(samples)) == tuple(
        sorted((min(samples), *inside, max(samples)))
    )


def test_a_ratio_by_hand() -> None:
    assert ratio([4, 6, 8], [2, 2, 2]).value == 3.0
    # two repeats: a quarter of the draws each are (1, 1) and (2, 2), so the ends are the extremes
    assert ratio([2, 4], [2, 2]) == Ratio(value=1.5, low=1.0, high=2.0)


@given(PAIRS)
def test_an_interval_lies_within_what_was_seen(pairs: tuple[list[int], list[int]]) -> None:
    over, under = pairs
    found = ratio(over, under)
    assert min(over) / max(under) <= found.low <= found.high <= max(over) / min(under)


@given(TIMES, st.integers(2, 9))
def test_a_slow_moment_that_hits_both_alike_widens_nothing(under: list[int], factor: int) -> None:
    found = ratio([factor * one for one in under], under)
    assert found.value == pytest.approx(factor)
    assert found.low == pytest.approx(factor)
    assert found.high == pytest.approx(factor)


@given(PAIRS, st.integers(2, 9))
def test_a_ratio_has_no_unit(pairs: tuple[list[int], list[int]], factor: int) -> None:
    over, under = pairs
    once, scaled = ratio(over, under), ratio([factor * one for one in over], under)
    assert scaled.low == pytest.approx(factor * once.low)
    assert scaled.high == pytest.approx(factor * once.high)


def test_the_same_samples_give_the_same_interval() -> None:
    over, under = [5, 9, 7, 6, 11, 8], [3, 4, 3, 5, 4, 3]
    assert ratio(over, under) == ratio(over, under)
    assert ratio(over, under).low < ratio(over, under).high


def test_more_repeats_of_the_same_kind_narrow_the_interval() -> None:
    few = ratio(range(1000, 2000, 100), [1000] * 10)
    many = ratio(range(1000, 2000, 5), [1000] * 200)
    assert many.value == pytest.approx(few.value, rel=0.05)
    assert many.high - many.low < (few.high - few.low) / 2


def test_an_interval_leaves_out_one_time_in_twenty() -> None:
    # The median of n numbers spread evenly over 1 has a deviation of 1 / (2 sqrt(n)).
    found = ratio(range(1000, 2000, 5), [1000] * 200)
    reach = 1.96 / (2 * 200**0.5)
    assert found.low == pytest.approx(1.5 - reach, abs=0.012)
    assert found.high == pytest.approx(1.5 + reach, abs=0.012)


def test_samples_that_cannot_be_paired_are_refused() -> None:
    with pytest.raises(ValueError, match="3 and 2 samples"):
        ratio([1, 2, 3], [1, 2])


def test_a_ratio_of_rates_is_of_all_repeats_together() -> None:
    over, under = [(10, 5), (30, 5)], [(10, 10), (10, 10)]
    found = rate_ratio(over, under)
    assert found is not None
    assert found.value == 4.0  # 40 in 10 over 20 in 20
    # two repeats: a quarter of the draws each are (1, 1) and (2, 2), so the ends are the extremes
    assert (found.low, found.high) == (2.0, 6.0)


def test_a_repeat_in_which_nothing_was_counted_is_in_no_rate() -> None:
    assert rate_ratio([(0, 0), (8, 2)], [(5, 5), (4, 2)]) == Ratio(value=2.0, low=2.0, high=2.0)
    assert rate_ratio([(0, 0)], [(5, 5)]) is None
    assert rate_ratio([], []) is None
    with pytest.raises(ValueError, match="paired"):
        rate_ratio([(1, 1)], [])
