"""Figures carry their units, with three digits."""

from __future__ import annotations

import pytest

from engine.benchmarks.figures import Ratio, spread
from engine.benchmarks.words import duration, ratio_words, share, size, spread_words, table


@pytest.mark.parametrize(
    ("nanoseconds", "written"),
    [
        (0, "0 ns"),
        (7.25, "7.25 ns"),
        (999.4, "999 ns"),
        (999.6, "1 µs"),
        (18_340_000, "18.3 ms"),
        (184_000_000, "184 ms"),
        (2_500_000_000, "2.5 s"),
        (3_600e9, "3600 s"),
    ],
)
def test_times(nanoseconds: float, written: str) -> None:
    assert duration(nanoseconds) == written


def test_sizes() -> None:
    assert [size(540_200_000), size(1_500), size(12)] == ["540 MB", "1.5 kB", "12 bytes"]


def test_spreads_ratios_and_shares() -> None:
    assert spread_words(spread([1e6, 2e6, 3e6])) == "2 ms (1.5 ms to 2.5 ms)"
    assert ratio_words(Ratio(value=1.123, low=1.1, high=1.149)) == "1.12 (1.10 to 1.15)"
    assert share(0.0423) == "4.2 %"


def test_a_table_is_aligned() -> None:
    assert table([("name", "ms"), ("a", "12.5"), ("long one", "3")]) == (
        "name        ms\na         12.5\nlong one     3"
    )
