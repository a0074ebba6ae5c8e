"""A target in batches is the target: whole texts, single steps, padding, places that move."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from engine.cache import KVCache
from engine.models.attention_many import STEP
from engine.models.formats.weights import open_checkpoint
from engine.training.batched import BatchCache, BatchedTransformer
from tests.engine.models.family_files import FAMILY, load, make, write
from tests.engine.training.toys import CPU, random_model, worst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.loading import LoadedModel

ROUNDING = 2e-4  # of float32, over a few layers, as a share of the rows' size
TEXT = [(37 * i + i * i) % 256 for i in range(90)]
FEATURES = [
    *("llama", "llama tied", "llama biased", "llama wide heads"),
    *("llama linear", "llama llama3", "llama yarn mscale", "qwen2 window", "qwen3 biased"),
    *("mistral window", "phi3 partial"),
]


@pytest.fixture(scope="module", params=FEATURES)
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[LoadedModel, BatchedTransformer]]:
    """One model as decoding runs it and as training does."""
    folder = write(make(request.param), tmp_path_factory.mktemp("family") / "model")
    checkpoint = open_checkpoint(folder)
    yield load(folder), BatchedTransformer.of(checkpoint, 258, CPU)
    checkpoint.close()


@torch.inference_mode()
def plain(ours: LoadedModel, tokens: list[int], taps: tuple[int, ...] = ()) -> torch.Tensor:
    return ours.transformer.forward(tokens, KVCache(ours.transformer.new_pool()), None, taps)


def padded(texts: list[list[int]], filler: int = 0) -> torch.Tensor:
    width = max(map(len, texts))
    return torch.tensor([[*text, *[filler] * (width - len(text))] for text in texts])


def test_features_are_those_of_every_family() -> None:
    kinds = {FAMILY[name][0] for name in FEATURES}
    assert kinds == {kind for kind, _ in FAMILY.values()}


def test_reading_and_stepping_equal_decoding_for_every_family(
    pair: tuple[LoadedModel, BatchedTransformer],
) -> None:
    ours, batched = pair
    texts = [TEXT[:40], TEXT[20:81], TEXT[5:12]]
    cache = BatchCache(batched, 4, 96)
    states = batched.read(padded(texts), cache, (2, 0, 3), taps=(1,))
    for text, hidden, tap in zip(texts, states.hidden, states.taps[0], strict=True):
        expected = plain(ours, text, (1,))
        width = expected.shape[1] // 2
        assert worst(hidden[: len(text)], expected[:, :width]) < ROUNDING
        assert worst(tap[: len(text)], expected[:, width:]) < ROUNDING
    slots = {2: texts[0], 0: texts[1], 3: texts[2], 1: []}
    for _ in range(9):  # each at its own place, and one that is free
        tokens = torch.tensor([(7 * len(slots[slot]) + slot) % 256 for slot in range(4)])
        positions = torch.tensor([len(slots[slot]) for slot in range(4)])
        rows = batched.step(tokens, positions, cache)
        for slot in range(4):
            slots[slot] = [*slots[slot], int(tokens[slot])]
    for slot in range(4):
        assert worst(rows[slot], plain(ours, slots[slot])[-1]) < ROUNDING


def test_what_stands_after_a_texts_end_changes_nothing() -> None:
    model = random_model()
    texts = [TEXT[:30], TEXT[30:43]]
    one, other = (model.read(padded(texts, filler)).hidden for filler in (0, 99))
    assert torch.equal(one[1, :13], other[1, :13])
    assert not torch.equal(one[1, 13:], other[1, 13:])


def test_steps_in_any_order_of_places_and_lengths_equal_reading_the_whole() -> None:
    model = random_model()
    texts = [TEXT[begin : begin + length] for begin, length in ((0, 50), (9, 33), (2, 8), (40, 47))]
    expected = [model.read(torch.tensor([text])).hidden[0] for text in texts]
    cache = BatchCache(model, 4, 64)
    known = [5, 31, 1, 20]
    model.read(padded([text[:n] for text, n in zip(texts, known, strict=True)]), cache, range(4))
    order = list(range(4))  # which text stands in each place
    moves = torch.Generator().manual_seed(1)
    checked = 0
    while any(known[text] < len(texts[text]) for text in range(4)):
        going = [min(known[text], len(texts[text]) - 1) for text in order]
        tokens = torch.tensor([texts[text][at] for text, at in zip(order, going, strict=True)])
        rows = model.step(tokens, torch.tensor(going), cache)
        for place, (text, at) in enumerate(zip(order, going, strict=True)):
            assert worst(rows[place], expected[text][at]) < ROUNDING
            known[text] = at + 1
            checked += 1
        shuffle = torch.randperm(4, generator=moves).tolist()
        cache.arrange(shuffle)
        order = [order[place] for place in shuffle]
    assert checked > 100


def test_arranging_keeps_every_sequence() -> None:
    model = random_model()
    cache = BatchCache(model, 3, STEP)
    model.read(torch.tensor([TEXT[:9], TEXT[9:18], TEXT[18:27]]), cache, range(3))
    keys, values = cache.keys.clone(), cache.values.clone()
    cache.arrange([2, 0, 1])
    assert torch.equal(cache.keys, keys[:, [2, 0, 1]])
    assert torch.equal(cache.values, values[:, [2, 0, 1]])


def test_more_sequences_than_attend_together_are_all_their_own() -> None:
    model = random_model()
    texts = [TEXT[i : i + 10 + i] for i in range(20)]
    cache = BatchCache(model, 20, 64)
    model.read(padded([text[:-1] for text in texts]), cache, range(20))
    rows = model.step(
        torch.tensor([text[-1] for text in texts]),
        torch.tensor([len(text) - 1 for text in texts]),
        cache,
    )
    for row, text in zip(rows, texts, strict=True):
        assert worst(row, model.read(torch.tensor([text])).hidden[0, -1]) < ROUNDING


def test_scored_rows_and_layers_are_the_files_own(
    pair: tuple[LoadedModel, BatchedTransformer],
) -> None:
    ours, batched = pair
    ids = [3, 99, 257]
    assert torch.equal(batched.scored(ids), ours.transformer.head_rows(ids))
    weights, x = batched.layer_weights(1), torch.randn(5, ours.transformer.config.width)
    block = batched.blocks[1]
    bias = block.down(torch.zeros(1, weights.down.shape[1]))
    inner = torch.randn(5, weights.down.shape[1])
    assert torch.allclose(block.down(inner) - bias, inner @ weights.down.T, atol=1e-4)
    bias = block.qkv(torch.zeros_like(x[:1]))
    assert torch.allclose(block.qkv(x) - bias, x @ weights.qkv.T, atol=1e-4)
    bias = block.gate_up(torch.zeros_like(x[:1]))
    assert torch.allclose(block.gate_up(x) - bias, x @ weights.gate_up.T, atol=1e-4)
