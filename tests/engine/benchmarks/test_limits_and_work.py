"""What a pass asks of a machine, counted by hand, and rates out of samples."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import torch
from msgspec import structs

from engine import load_model, make_drafter
from engine.benchmarks.limits import Limits, Rate, measure_limits, rate
from engine.benchmarks.work import Work, draft_bytes, matrix_weights, weight_size, work_of
from engine.models.layout import count_parameters
from engine.models.plans.choice import choose_plan
from engine.models.plans.packed import PackedPlan
from tests.engine.drafters.making import SHAPES, write_for
from tests.tiny_model import tiny_config, write_tiny_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from engine.loading import LoadedModel

# of the tiny model: two layers of q, k, v and o, gate, up and down, all of width 32
ATTENTION = 32 * 64 + 2 * 32 * 32 + 64 * 32
LAYERS = 2 * (ATTENTION + 3 * 32 * 64)


def rates(read: float, *flops: float) -> Limits:
    """Limits of so many bytes and operations a second."""
    products = tuple(Rate(what="product", amount=1, best=one, median=one / 2) for one in flops)
    return Limits(
        read=Rate(what="sum", amount=1, best=read, median=read / 2),
        products=products,
    )


@pytest.mark.parametrize("tied", [True, False])
def test_matrices_are_counted_and_the_embedding_is_not(tied: bool) -> None:
    assert matrix_weights(tiny_config(tied=tied), 258) == LAYERS + 258 * 32


def test_the_work_of_a_pass_by_hand(tmp_path: Path) -> None:
    folder = write_tiny_folder(tmp_path / "tiny")
    model = load_model(folder, device="cpu", plan="eager").transformer
    weights = matrix_weights(model.config, model.vocabulary)
    work = work_of(model, tokens=3, context=10)
    assert work.weight_bytes == 4 * weights
    assert work.cache_bytes == 10 * (2 * 2 * 2 * 16) * 4  # keys and values, layers, heads, size
    seen = 11 + 12 + 13  # positions that the three rows attend to
    assert work.operations == 2 * 3 * weights + seen * (2 * 4) * 16 * 4  # scores and sums
    model.config = replace(model.config, window=4, windowed=(1,))  # the second layer
    slid = work_of(model, tokens=3, context=10)
    assert slid.cache_bytes == (10 + 3) * (2 * 2 * 16) * 4  # 3 and the row itself
    assert slid.operations == 2 * 3 * weights + (seen + 3 * 4) * 4 * 16 * 4


def test_a_weight_is_as_large_as_the_plan_keeps_it() -> None:
    cpu = torch.device("cpu")
    assert weight_size(choose_plan("eager", cpu)) == 4
    assert weight_size(choose_plan("eager", cpu, torch.float64)) == 8
    if PackedPlan.available():
        assert weight_size(choose_plan("packed", cpu)) == 2


def test_drafting_reads_the_drafters_own_weights(tmp_path: Path) -> None:
    target = load_model(write_tiny_folder(tmp_path / "target"), device="cpu", plan="eager")
    small = write_tiny_folder(tmp_path / "small", width=16)
    model = target.transformer
    one_layer = LAYERS // 2 + model.vocabulary * 32
    assert draft_bytes(None, model) == 0
    assert draft_bytes(make_drafter("ngram", target), model) == 0
    assert draft_bytes(make_drafter("early:1", target), model) == 4 * one_layer
    drafter = make_drafter(f"model:{small}", target)
    assert drafter is not None
    assert draft_bytes(drafter, model) == 4 * count_parameters(tiny_config(width=16))


@pytest.mark.compiler
def test_a_trained_drafter_reads_bytes_on_the_compiled_plan(
    load_compiled: Callable[[Path], LoadedModel], tmp_path: Path
) -> None:
    folder = write_tiny_folder(tmp_path / "target")
    compiled, eager = load_compiled(folder), load_model(folder, device="cpu", plan="eager")
    for kind, shape in SHAPES.items():
        path = write_for(tmp_path / f"{kind}.safetensors", eager, shape)
        read = [
            draft_bytes(make_drafter(f"trained:{path}", target), target.transformer)
            for target in (compiled, eager)
        ]
        assert 0 < 4 * read[0] == read[1]


def test_the_least_time_is_the_longer_of_reading_and_computing() -> None:
    work = Work(weight_bytes=2_000, cache_bytes=0, operations=3_000)
    assert work.read_ns(rates(1e9, 1e9)) == 2_000
    assert work.least_ns(rates(1e9, 1e9)) == 3_000
    assert work.least_ns(rates(1e9, 1e9, 2e9)) == 2_000  # the best kernel computes in 1500
    assert structs.replace(work, cache_bytes=1_500).least_ns(rates(1e9, 1e9)) == 3_500


def test_a_rate_is_of_the_quickest_sample() -> None:
    found = rate("sum", 1_000, [10, 5, 20])
    assert (found.best, found.median) == (2e11, 1e11)


def test_limits_are_measured_with_every_library() -> None:
    found = measure_limits(torch.device("cpu"), samples=2)
    assert found.read.amount == 2**16
    assert {one.amount for one in found.products} == {2 * 32**3}
    assert len(found.products) == 1 + PackedPlan.available()
    assert all(one.best >= one.median > 0 for one in (found.read, *found.products))
    assert found.flops == max(one.best for one in found.products)
