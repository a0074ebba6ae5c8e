"""Things measured in turn, again and again, so that what the machine does meanwhile hits all alike.

Knows clocks and orders; no model, no figure and no printer. `figures` makes medians of the samples.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, TypeVar

from engine.models.settling import settle

if TYPE_CHECKING:
    import torch

Variant = Callable[[], int]  # does its work once and returns the nanoseconds that it took
Progress = Callable[[int, int, str], None]  # done, of how many, what is being done
Name = TypeVar("Name", bound=Hashable)


def silent(done: int, total: int, what: str) -> None:
    """Report to nobody."""


def timed(work: Callable[[], object], device: torch.device | None = None) -> Variant:
    """Make a variant of some work: its wall time, until the device has done all of it."""

    def variant() -> int:
        begin = time.perf_counter_ns()
        work()
        if device is not None:
            settle(device)
        return time.perf_counter_ns() - begin

    return variant


def in_turn(names: tuple[Name, ...], repeat: int) -> tuple[Name, ...]:
    """Return the order of one repeat: each time another one is first."""
    first = repeat % len(names) if names else 0
    return names[first:] + names[:first]


def interleaved(
    variants: Mapping[Name, Variant],
    *,
    repeats: int,
    warmups: int = 1,
    progress: Progress = silent,
    what: str = "Measuring",
) -> dict[Name, tuple[int, ...]]:
    """Measure every variant once a repeat, in turn.

    Parameters
    ----------
    variants
        What is compared, by name.
    repeats
        Samples of each, at least 1.
    warmups
        Repeats before them that are thrown away: first calls are slow.
    progress
        Called after each measurement with (done, total, `what`).

    Returns
    -------
    dict
        Nanoseconds of each variant, in the order of the repeats: samples with one index were taken
        beside one another, so that `figures.ratio` can pair them.
    """
    if repeats < 1:
        raise ValueError(f"{repeats} repeats measure nothing")
    names = tuple(variants)
    total = (warmups + repeats) * len(names)
    samples: dict[Name, list[int]] = {name: [] for name in names}
    done = 0
    for repeat in range(-warmups, repeats):
        for name in in_turn(names, repeat):
            took = variants[name]()
            if repeat >= 0:
                samples[name].append(took)
            done += 1
            progress(done, total, what)
    return {name: tuple(taken) for name, taken in samples.items()}
