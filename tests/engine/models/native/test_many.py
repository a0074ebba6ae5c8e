"""Attention of many sequences by the library: torch's numbers for every shape and place."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest
import torch
from torch.nn import functional

from engine.models.attention_many import LibraryAttention, TorchAttention, attention_of
from engine.models.native.library import Library
from engine.training.batched import BatchCache
from tests.engine.training.toys import random_model, worst

if TYPE_CHECKING:
    from pathlib import Path

SHAPES = [(9, 3, 64), (3, 1, 10), (2, 1, 80), (40, 1, 16), (4, 4, 128)]  # heads, kv_heads, head_dim
PLACES = (0, 1, 2, 15, 31, 63, 64, 255, 256, 257, 300, 511, 512, 599)
ROOM = 608
ROUNDING = {torch.float32: 2e-5, torch.bfloat16: 2e-2}


@pytest.fixture(scope="module", params=["this processor", "AVX2"])
def library(built_library: Path, avx2_library: Path, request: pytest.FixtureRequest) -> Library:
    """Library of this processor, and one that uses no more than every processor that can has."""
    return Library(built_library if request.param == "this processor" else avx2_library)


def given(shape: tuple[int, int, int], factors: torch.dtype) -> tuple[torch.Tensor, ...]:
    heads, kv_heads, head_dim = shape
    draw = torch.Generator().manual_seed(heads * head_dim)
    sequences = len(PLACES)
    queries = torch.randn(sequences, heads, head_dim, generator=draw)
    kept = (sequences, kv_heads, ROOM, head_dim)
    keys, values = (torch.randn(kept, generator=draw).to(factors) for _ in range(2))
    for sequence, place in enumerate(PLACES):  # what lies past a place is never read
        keys[sequence, :, place + 1 :] = float("nan")
        values[sequence, :, place + 1 :] = float("nan")
    return queries, keys, values


def by_definition(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, window: int | None
) -> torch.Tensor:
    rows = []
    for row, place in enumerate(PLACES):
        begin = 0 if window is None else max(0, place + 1 - window)
        kept = [side[row, :, begin : place + 1].double() for side in (keys, values)]
        grouped = queries[row].view(keys.shape[1], -1, queries.shape[-1]).double()
        rows.append(functional.scaled_dot_product_attention(grouped, *kept).flatten())
    return torch.stack(rows).float()


@pytest.mark.compiler
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("window", [None, 1, 7, 256, 300])
@pytest.mark.parametrize("factors", [torch.float32, torch.bfloat16])
@pytest.mark.usefixtures("threads")
def test_each_sequence_sees_what_came_before_it(
    library: Library,
    shape: tuple[int, int, int],
    window: int | None,
    factors: torch.dtype,
) -> None:
    queries, keys, values = given(shape, factors)
    seeing = LibraryAttention(library, torch.tensor(PLACES), ROOM)
    found = seeing.attend(queries, keys, values, window)
    expected = by_definition(queries, keys, values, window)
    assert float((found - expected).abs().max()) < 1e-5  # of the numbers that are kept


@pytest.mark.parametrize("window", [None, 7])
@pytest.mark.parametrize("factors", [torch.float32, torch.bfloat16])
def test_torch_attends_alike(window: int | None, factors: torch.dtype) -> None:
    queries, keys, values = given(SHAPES[0], factors)
    keys, values = keys.nan_to_num(), values.nan_to_num()
    found = TorchAttention(torch.tensor(PLACES), ROOM).attend(queries, keys, values, window)
    expected = by_definition(queries, keys, values, window)
    assert float((found - expected).abs().max()) < ROUNDING[factors]


@pytest.mark.compiler
def test_steps_by_the_library_are_those_by_torch(library: Library) -> None:
    model = random_model()
    texts = torch.randint(0, 256, (5, 20), generator=torch.Generator().manual_seed(2))
    caches = [BatchCache(model, 5, 64) for _ in range(2)]
    for cache in caches:
        model.read(texts, cache, range(5))
    rows = []
    for cache, makes in zip(
        caches, (TorchAttention, partial(LibraryAttention, library)), strict=True
    ):
        model._attention = makes
        places = torch.tensor([20, 3, 11, 20, 0])
        rows.append([model.step(texts[:, at], places + at, cache) for at in range(4)])
    for ours, theirs in zip(*rows, strict=True):
        assert worst(ours, theirs) < 1e-5


@pytest.mark.compiler
def test_the_library_serves_where_it_was_built_and_torch_elsewhere(
    built_library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cpu, places = torch.device("cpu"), torch.tensor(PLACES)
    monkeypatch.setattr("engine.models.native.build.library_path", lambda: built_library)
    monkeypatch.setattr("engine.models.native.build.tried", lambda: None)
    assert isinstance(attention_of(cpu, torch.float32)(places, ROOM), TorchAttention)
    monkeypatch.setattr("engine.models.native.build.tried", lambda: object())
    assert isinstance(attention_of(cpu, torch.bfloat16)(places, ROOM), LibraryAttention)
    assert isinstance(attention_of(cpu, torch.float16)(places, ROOM), TorchAttention)
    assert attention_of(torch.device("cuda"), torch.bfloat16) is TorchAttention
    broken = tmp_path / "pass.so"
    broken.write_bytes(b"no library")
    monkeypatch.setattr("engine.models.native.build.library_path", lambda: broken)
    assert isinstance(attention_of(cpu, torch.float32)(places, ROOM), TorchAttention)
