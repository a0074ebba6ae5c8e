"""The compiled plan's passes: the reference's numbers, and the same bits at every width."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
import torch
from torch.nn import functional

from engine import DraftscopeError
from engine.models.blocks import BlockStack
from engine.models.native.library import Library
from engine.models.plans.compiled import CompiledPlan
from tests.engine.models.random_layers import KINDS, WIDTH, Kind

if TYPE_CHECKING:
    from pathlib import Path

    from engine.cache import KVCache

pytestmark = pytest.mark.compiler

ALL = {
    **KINDS,
    "odd heads": Kind(heads=3, kv_heads=1, head_dim=10, rotary_dim=6),
    "wide heads": Kind(heads=2, kv_heads=1, head_dim=80, rotary_dim=80),
}


@pytest.fixture(scope="module", params=["this processor", "AVX2"])
def library(built_library: Path, avx2_library: Path, request: pytest.FixtureRequest) -> Library:
    """Library of this processor, and one that uses no more than every processor that can has."""
    return Library(built_library if request.param == "this processor" else avx2_library)


def rows(count: int, width: int = WIDTH) -> torch.Tensor:
    return torch.randn(count, width, generator=torch.Generator().manual_seed(count))


def stored(cache: KVCache) -> list[torch.Tensor]:
    end = cache.length + 9
    return [part for layer in range(len(cache.pool.keys)) for part in cache.view(layer, 0, end)]


@pytest.mark.parametrize("name", ALL)
def test_a_pass_is_the_references(library: Library, name: str) -> None:
    kind, plan = ALL[name], CompiledPlan(library)
    compiled = plan.stack(kind.layers(torch.float32, plan=plan), kind.rotary(torch.float32))
    exact = BlockStack(kind.layers(), kind.rotary())
    for length in (0, 1, 30, 299):
        for n, ahead in ((1, 0), (3, 0), (8, 2)):
            ours, theirs = kind.filled(length, torch.float32), kind.filled(length)
            for cache in (ours, theirs):
                cache.reserve(9)
            x = rows(n)
            layers = slice(1, None) if ahead else slice(None)
            if ahead:  # something must lie between what is cached and the rows
                compiled.run(rows(2), ours, slice(None))
                exact.run(rows(2).double(), theirs, slice(None))
            result = compiled.run(x, ours, layers, ahead)
            expected = exact.run(x.double(), theirs, layers, ahead)
            torch.testing.assert_close(result.double(), expected, atol=1e-4, rtol=1e-5)
            for one, other in zip(stored(ours), stored(theirs), strict=True):
                torch.testing.assert_close(one.double(), other, atol=1e-4, rtol=1e-5)
            assert torch.equal(x, rows(n))  # what was given is not written over


@pytest.mark.parametrize("name", ALL)
def test_rows_round_alike_at_every_width(library: Library, name: str, threads: int) -> None:
    kind, plan = ALL[name], CompiledPlan(library)
    stack = plan.stack(kind.layers(torch.float32, plan=plan), kind.rotary(torch.float32))
    for length in (0, 1, 15, 16, 40, 257):
        x = rows(33)
        whole = stack.run(x, kind.filled(length, torch.float32), slice(None))
        for n in range(1, 33, 1 if length == 40 else 5):
            part = stack.run(x[:n], kind.filled(length, torch.float32), slice(None))
            assert torch.equal(part, whole[:n]), (length, n)
        cache, alone = kind.filled(length, torch.float32), []
        for n in range(12):  # one row after another, as in plain decoding
            alone.append(stack.run(x[n : n + 1], cache, slice(None)))
            cache.append(1)
        assert torch.equal(torch.cat(alone), whole[:12]), length


def test_rows_are_the_same_bits_whatever_number_of_threads(library: Library) -> None:
    kind, plan = ALL["grouped"], CompiledPlan(library)
    stack = plan.stack(kind.layers(torch.float32, plan=plan), kind.rotary(torch.float32))
    before, results = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 3, 8) * 20:  # more than there are cores: some are put aside midway
            torch.set_num_threads(threads)
            results.append(stack.run(rows(5), kind.filled(100, torch.float32), slice(None)))
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(one, results[0]) for one in results)


def test_two_threads_may_run_passes_of_one_model_at_once(library: Library) -> None:
    kind, plan = ALL["grouped"], CompiledPlan(library)
    stack = plan.stack(kind.layers(torch.float32, plan=plan), kind.rotary(torch.float32))

    def passes(n: int) -> list[torch.Tensor]:
        return [
            stack.run(rows(n), kind.filled(length, torch.float32), slice(None))
            for length in range(0, 400, 4)
        ]

    alone = [passes(n) for n in (2, 7)]
    with ThreadPoolExecutor() as pool:
        together = list(pool.map(passes, (2, 7)))
    for one, other in zip(alone, together, strict=True):
        assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize(("out", "in_"), [(96, 40), (33, 7), (1, 1), (257, 576), (31, 2)])
def test_a_product_is_torchs_own(library: Library, out: int, in_: int, biased: bool) -> None:
    generator = torch.Generator().manual_seed(1)
    weight = torch.randn(out, in_, generator=generator).half()
    bias = torch.randn(out, generator=generator) if biased else None
    layer = CompiledPlan(library).linear(weight, bias)
    norm = torch.rand(in_, generator=generator)
    for n in (1, 2, 3, 6, 7, 17):
        x = torch.randn(n, in_, generator=generator)
        expected = functional.linear(x, weight.float(), bias)
        torch.testing.assert_close(layer(x), expected, atol=1e-4, rtol=1e-5)
        expected = functional.linear(functional.rms_norm(x, (in_,), norm), weight.float(), bias)
        torch.testing.assert_close(layer.normed(x, norm, 0.0), expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(("out", "in_"), [(96, 40), (33, 7), (1, 1), (257, 576), (31, 2)])
def test_a_drafters_product_is_that_of_its_weight_rounded_to_bytes(
    library: Library, out: int, in_: int
) -> None:
    generator = torch.Generator().manual_seed(1)
    weight = torch.randn(out, in_, generator=generator)
    weight *= 10.0 ** torch.randn(out, 1, generator=generator)
    weight[out // 2] = 0.0
    peak = weight.abs().amax(dim=1, keepdim=True)
    rounded = (weight * (127 / peak.clamp(min=1e-30))).round() * (peak / 127)
    layer = CompiledPlan(library).draft_linear(weight)
    norm = torch.rand(in_, generator=generator)
    for n in (1, 2, 3, 6, 7, 17):
        x = torch.randn(n, in_, generator=generator)
        normed = functional.rms_norm(x, (in_,), norm)
        for found, rows in ((layer(x), x), (layer.normed(x, norm, 0.0), normed)):
            apart = (found - functional.linear(rows, rounded)).abs()
            assert bool((apart <= 1e-4 * peak[:, 0]).all())  # of each output's own numbers


@pytest.mark.parametrize("broken", [float("nan"), float("inf")])
def test_an_output_of_a_drafter_that_is_no_number_is_none(library: Library, broken: float) -> None:
    weight = torch.ones(40, 3)
    weight[5, 1] = broken
    found = CompiledPlan(library).draft_linear(weight)(torch.ones(2, 3))
    assert not found[:, 5].isfinite().any()
    assert found[:, torch.arange(40) != 5].isfinite().all()


def test_what_is_no_number_stays_none(library: Library) -> None:
    kind, plan = ALL["grouped"], CompiledPlan(library)
    stack = plan.stack(kind.layers(torch.float32, plan=plan), kind.rotary(torch.float32))
    for broken in (float("nan"), float("inf"), float("-inf")):
        x = rows(3)
        x[1, 5] = broken
        result = stack.run(x, kind.filled(20, torch.float32), slice(None))
        assert not torch.isfinite(result[1]).all()
        assert not torch.isfinite(result[2]).all()  # it attends to the broken row
        assert torch.isfinite(result[0]).all()


def test_large_scores_neither_overflow_nor_vanish(library: Library) -> None:
    kind, plan = ALL["plain"], CompiledPlan(library)
    compiled = plan.stack(kind.layers(torch.float32, plan=plan), kind.rotary(torch.float32))
    exact = BlockStack(kind.layers(), kind.rotary())
    for scale in (1e-6, 1e3, 1e6):
        ours, theirs = kind.filled(50, torch.float32), kind.filled(50)
        for cache in (ours, theirs):
            for store in cache.pool.keys:
                store *= scale
        result = compiled.run(rows(2), ours, slice(None))
        expected = exact.run(rows(2).double(), theirs, slice(None))
        torch.testing.assert_close(result.double(), expected, atol=1e-3, rtol=1e-3)


def test_a_weight_that_float16_cannot_hold_is_refused(library: Library) -> None:
    weight = torch.ones(4, 4)
    weight[2, 1] = -7e4
    with pytest.raises(DraftscopeError, match=r"7e\+04, beyond float16's 65504"):
        CompiledPlan(library).linear(weight)


def test_weights_begin_at_a_line_of_the_caches_and_do_not_overlap(library: Library) -> None:
    plan = CompiledPlan(library)
    given = [torch.full((size, 3), float(size)) for size in (1, 33, 64, 100)]
    made = [plan.linear(weight) for weight in given]
    addresses = [layer.weights.packed for layer in made]  # type: ignore[attr-defined]  # compiled
    assert all(address % 64 == 0 for address in addresses)
    for layer, weight in zip(made, given, strict=True):
        expected = 3 * weight[:, 0]
        assert torch.equal(layer(torch.ones(1, 3))[0], expected)
