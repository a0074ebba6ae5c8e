"""Where a text begins to repeat itself."""

from __future__ import annotations

from engine.repetition import LONGEST_PERIOD, repeated, where_repeated


def test_the_first_time_is_no_repetition() -> None:
    stretch = list(range(100, 110))
    assert where_repeated([*range(7), *stretch, *stretch]) is None  # said twice
    assert where_repeated([*range(7), *stretch, *stretch, *stretch]) == 17
    assert where_repeated([*range(7), *stretch * 3, 1, 2, 3]) == 17  # and to the text's end


def test_a_short_stretch_counts_once_it_fills_twenty_four_tokens() -> None:
    assert repeated([5] * 23) == 0
    assert repeated([5] * 24) == 1
    assert repeated([1, 2] * 12) == 2
    assert where_repeated([9, *[1, 2] * 11]) is None
    assert where_repeated([9, *[1, 2] * 12]) == 3


def test_a_stretch_longer_than_the_longest_period_is_not_looked_for() -> None:
    longest = list(range(LONGEST_PERIOD))
    assert repeated(longest * 3) == LONGEST_PERIOD
    assert repeated([*longest, 777] * 3) == 0


def test_a_text_that_ends_otherwise_has_no_period_at_its_end() -> None:
    assert repeated([*range(10), *range(10), *range(9), 5]) == 0
    assert repeated([]) == 0
    assert where_repeated([]) is None
