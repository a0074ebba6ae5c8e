"""Measuring in turn: what is called when, and which samples are kept."""

from __future__ import annotations

from itertools import count

import pytest

from engine.benchmarks.measuring import in_turn, interleaved, timed


def test_each_repeat_begins_with_another_variant() -> None:
    orders = [in_turn(("a", "b", "c"), repeat) for repeat in range(4)]
    assert ["".join(order) for order in orders] == ["abc", "bca", "cab", "abc"]


def test_variants_are_called_in_turn_and_warm_ups_are_dropped() -> None:
    calls: list[str] = []
    clock = count()

    def variant(name: str) -> int:
        calls.append(name)
        return next(clock)

    names = ("a", "b", "c")
    samples = interleaved(
        {name: lambda name=name: variant(name) for name in names}, repeats=2, warmups=1
    )
    assert [sorted(calls[i : i + 3]) for i in (0, 3, 6)] == 3 * [["a", "b", "c"]]
    assert {calls[i] for i in (0, 3, 6)} == {"a", "b", "c"}  # each was first once
    assert sorted(sum(samples.values(), ())) == [3, 4, 5, 6, 7, 8]  # 0 to 2 were warm-ups
    assert all(first < 6 <= second for first, second in samples.values())  # in order of repeats


def test_progress_ends_where_it_said() -> None:
    said: list[tuple[int, int, str]] = []
    interleaved(
        {"a": lambda: 1, "b": lambda: 2},
        repeats=3,
        warmups=2,
        progress=lambda *where: said.append(where),
        what="Counting",
    )
    assert [done for done, _, _ in said] == list(range(1, 11))
    assert {where[1:] for where in said} == {(10, "Counting")}


def test_a_timed_variant_does_its_work_once_and_counts_up() -> None:
    done: list[int] = []
    took = timed(lambda: done.append(1))()
    assert done == [1]
    assert took >= 0


def test_no_repeats_are_refused() -> None:
    with pytest.raises(ValueError, match="0 repeats"):
        interleaved({"a": lambda: 1}, repeats=0)
