"""The pass that a device can record: what the reference gives, and nothing read back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from engine.cache import BLOCK, KVCache
from engine.models.blocks import BlockStack
from engine.models.static_pass import (
    StaticPass,
    attend_whole,
    attends_alike,
    context_blocks,
    step_mask,
)
from tests.engine.models.random_layers import KINDS, Kind, rows

if TYPE_CHECKING:
    from engine.models.blocks import Block

LENGTHS = (0, 1, 30, BLOCK - 3, BLOCK, 2 * BLOCK + 9, 3 * BLOCK - 1)
EVERYTHING = KINDS["all"]


def static_pass(
    kind: Kind, layers: list[Block], cache: KVCache, count: int, ahead: int = 0
) -> tuple[StaticPass, torch.Tensor]:
    """Return the pass that follows what is cached, and its position."""
    cache.reserve(ahead + count)
    first = cache.length + ahead
    blocks = context_blocks(first, count)
    turns = kind.rotary(layers[0].attention_norm.dtype).tables(blocks * BLOCK)
    return StaticPass(layers, cache, turns, count, blocks), torch.tensor([first])


@torch.inference_mode()
def both(
    kind: Kind,
    length: int,
    count: int,
    *,
    ahead: int = 0,
    layers: slice = slice(None),
    dtype: torch.dtype = torch.float64,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return rows and what they leave in the cache: of the static pass, and of the reference."""
    made, x = kind.layers(dtype), rows(count, dtype)
    ours, theirs = kind.filled(length, dtype), kind.filled(length, dtype)
    kept = x.clone()
    body, position = static_pass(kind, made[layers], ours, count, ahead)
    found = body(x, position)
    assert torch.equal(x, kept)
    expected = BlockStack(made, kind.rotary(dtype)).run(x, theirs, layers, ahead)
    results = []
    for result, cache in ((found, ours), (expected, theirs)):
        end = length + ahead + count
        views = [torch.cat(cache.view(block.index, 0, end)).flatten() for block in made]
        results.append(torch.cat([result.flatten(), *views]))
    return results[0], results[1]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_it_is_the_reference(kind: Kind, length: int) -> None:
    for count in (1, 3, 8, 16):
        found, expected = both(kind, length, count)
        assert float((found - expected).abs().max()) < 1e-12


@pytest.mark.parametrize("ahead", [1, 5, BLOCK])
@pytest.mark.parametrize("layers", [slice(1), slice(2), slice(1, None), slice(2, None)])
def test_it_is_the_reference_ahead_and_on_some_layers(ahead: int, layers: slice) -> None:
    found, expected = both(EVERYTHING, BLOCK - 4, 3, ahead=ahead, layers=layers)
    assert float((found - expected).abs().max()) < 1e-12


def test_it_is_close_to_the_reference_in_float32() -> None:
    for length in LENGTHS:
        found, expected = both(EVERYTHING, length, 5, dtype=torch.float32)
        torch.testing.assert_close(found, expected, atol=2e-5, rtol=2e-5)


def test_a_prompt_is_read_in_wide_passes() -> None:
    found, expected = both(EVERYTHING, 2 * BLOCK - 60, 2 * BLOCK + 64)
    assert float((found - expected).abs().max()) < 1e-12


def test_one_body_serves_every_position_in_its_last_block() -> None:
    # as a recording does: made at one length, used at others
    kind, made = EVERYTHING, EVERYTHING.layers()
    with torch.inference_mode():
        for length in (BLOCK - 3, BLOCK, BLOCK + 100, 2 * BLOCK - 4):
            ours, theirs = kind.filled(length), kind.filled(length)
            ours.reserve(BLOCK)
            body = StaticPass(made, ours, kind.rotary().tables(2 * BLOCK), 4, 2)
            found = body(rows(4), torch.tensor([length]))
            expected = BlockStack(made, kind.rotary()).run(rows(4), theirs, slice(None))
            assert float((found - expected).abs().max()) < 1e-12


class Watched(TorchDispatchMode):
    """Lists the operations that run, with all that they take and give; a tensor by its shape."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, list[object]]] = []

    @property
    def names(self) -> set[str]:
        return {name.split(".")[1] for name, _ in self.seen}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> object:
        result = func(*args, **(kwargs or {}))
        leaves = torch.utils._pytree.tree_leaves((args, kwargs, result))
        described = [
            (one.shape, one.stride(), one.device.type) if isinstance(one, torch.Tensor) else one
            for one in leaves
        ]
        self.seen.append((str(func), described))
        return result


READS = {"_local_scalar_dense", "item", "nonzero", "is_nonzero", "equal", "unique", "bincount"}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_no_number_is_read_back_and_no_shape_hangs_on_one(kind: Kind) -> None:
    made, seen = kind.layers(), []
    cache = kind.filled(2 * BLOCK - 4)
    cache.reserve(4)
    body = StaticPass(made, cache, kind.rotary().tables(2 * BLOCK), 4, 2)
    with torch.inference_mode():
        x, positions = rows(4), [torch.tensor([BLOCK - 3]), torch.tensor([2 * BLOCK - 4])]
        for position in positions:
            with Watched() as watched:
                body(x, position)
            assert "index_copy_" in watched.names
            assert watched.names & READS == set()
            seen.append(watched.seen)
    assert seen[0] == seen[1]


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_everything_stays_on_the_device(kind: Kind) -> None:
    # "meta" is a device whose tensors hold no numbers: what reads one, or brings one, fails
    on = torch.float32, "meta"
    cache = kind.filled(BLOCK, *on)
    cache.reserve(4)
    body = StaticPass(kind.layers(*on), cache, kind.rotary(*on).tables(2 * BLOCK), 4, 2)
    x, position = rows(4, *on), torch.tensor([BLOCK], device="meta")
    with torch.inference_mode(), Watched() as watched:
        found = body(x, position)
    assert found.shape == x.shape
    devices = {one[2] for _, leaves in watched.seen for one in leaves if isinstance(one, tuple)}
    assert devices == {"meta"}


def test_the_watch_sees_what_is_read_back() -> None:
    with Watched() as watched:
        int(torch.ones(1))
        torch.ones(3).nonzero()
    assert {"_local_scalar_dense", "nonzero"} <= watched.names


@pytest.mark.parametrize("name", ["all", "plain"])
def test_it_compiles_whole(name: str) -> None:
    kind = KINDS[name]
    cache = kind.filled(BLOCK)
    body, position = static_pass(kind, kind.layers(), cache, 3)
    torch._dynamo.reset()
    try:
        with torch.no_grad():
            compiled = torch.compile(
                lambda x, at: body(x, at), fullgraph=True, backend="eager", dynamic=False
            )
            found = compiled(rows(3), position)
            assert torch.equal(found, body(rows(3), position))
    finally:
        torch._dynamo.reset()


@pytest.mark.parametrize("window", [None, 1, 6, BLOCK])
def test_a_mask_hides_what_comes_after_and_what_has_left_the_window(window: int | None) -> None:
    mask = step_mask(10 + torch.arange(3), 4, 16, 2, torch.float32, window)
    back = (10 + torch.arange(3))[:, None] - (4 + torch.arange(12))[None, :]
    hidden = (back < 0) | (back >= (window or 10**6))
    assert torch.equal(mask.isinf(), hidden.repeat_interleave(2, dim=0))
    assert not mask[~mask.isinf()].any()


def test_rows_that_hang_on_the_length_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    block, like = Kind().layers()[0], torch.zeros(0)
    windowed = KINDS["windows"].layers(torch.float32)

    def slowly(*of: torch.Tensor) -> torch.Tensor:  # rows one by one, over what each sees
        queries, keys, values, mask = of
        group = queries.shape[1] // keys.shape[0]
        found = []
        for row, places in zip(queries, mask[::group] == 0, strict=True):
            one = row.reshape(keys.shape[0], group, 1, -1)
            weights = (one @ keys[:, None, places].mT).softmax(dim=-1)
            found.append((weights @ values[:, None, places]).flatten())
        return torch.stack(found)

    module = "engine.models.static_pass.attend_whole"
    with monkeypatch.context() as patch:
        patch.setattr(module, slowly)
        assert attends_alike([block], (1, 2, 4), like)
        assert attends_alike(windowed, (1, 2, 4), like)
    for hanging in (
        lambda q, k, v, m: slowly(q, k, v, m) + k.shape[1],
        lambda q, k, v, m: slowly(q, k, v, m) + q.shape[0],
        lambda q, k, v, m: slowly(q, k, v, m) + torch.arange(len(q))[:, None],
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, hanging)
            assert not attends_alike([block], (1, 2, 4), like)
    # only a window makes passes begin at other keys
    with monkeypatch.context() as patch:
        begins: set[int] = set()

        def beginning(q, k, v, m):  # type: ignore[no-untyped-def]  # as `slowly`
            begins.add(k.storage_offset())
            return slowly(q, k, v, m) + k.storage_offset()

        patch.setattr(module, beginning)
        assert attends_alike([block], (1, 2, 4), like)
        assert begins == {0}
        assert not attends_alike(windowed, (1, 2, 4), like)
        assert len(begins) > 1
    assert attend_whole(rows(2).view(2, 3, 8), *torch.zeros(2, 1, 5, 8).double(),
                        torch.zeros(6, 5).double()).shape == (2, 24)  # fmt: skip
