"""Training trains what runs: steps unrolled along a text are the drafts of the drafter itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from engine.loading import LoadedModel, load_model
from engine.models.rotary import Rotary
from engine.training.batch import Batch
from engine.training.blocks import BlockShape, Memory, TrainedBlock, draft_mask
from engine.training.least_squares import LeastSquares
from engine.training.small_model import SmallModel, usual_shape
from tests.engine.training.toys import CPU, states_of, toy_corpus
from tests.engine.training.trained import HEADS, IDS, SMALL, drafted, running, scattered

if TYPE_CHECKING:
    from pathlib import Path

    from engine.training.head_model import HeadModel
    from engine.training.opened import OpenedTarget

TEXT = [97 + (5 * i * i + 3 * i) % 26 for i in range(40)]
PLACES = [1, 2, 7, 25]  # tokens but one that a draft begins after
K = 4


@pytest.fixture(scope="module")
def plain(deep_folder: Path) -> LoadedModel:
    return load_model(deep_folder, device="cpu", plan="eager")


def batch_of(target: OpenedTarget, text: list[int], known: int, taps: tuple[int, ...]) -> Batch:
    """A text of which the target's states are known up to some token; nonsense stands after."""
    corpus = toy_corpus([len(text)])
    corpus.tokens[:] = torch.tensor(text)
    states = states_of(target.model, corpus, taps, exact=True)
    hidden = states.hidden.clone()
    hidden[known:] = 50.0 * torch.randn(hidden[known:].shape)
    one = torch.ones(1, len(text))
    return Batch(torch.tensor([text]), hidden[None], one, one.long(), one.bool())


def law(rows: torch.Tensor, target: OpenedTarget) -> torch.Tensor:
    return (rows @ target.model.scored(IDS.tolist()).T).softmax(dim=-1)


@pytest.mark.parametrize("kind", HEADS)
def test_unrolled_head_steps_are_the_running_heads_drafts(
    deep: OpenedTarget, plain: LoadedModel, kind: str, tmp_path: Path
) -> None:
    head = scattered(deep, HEADS[kind])
    drafter = running(head, plain, tmp_path / "head.safetensors")
    for place in PLACES:
        proposal = drafted(plain, drafter, TEXT[: place + 1], K, 1.0)
        text = [*TEXT[: place + 1], *proposal.tokens, 0, 0]
        batch = batch_of(deep, text, place, HEADS[kind].taps)
        with torch.no_grad():
            steps = list(head.unroll(batch, K))
        assert [step.offset for step in steps] == [1, 2, 3, 4]
        assert proposal.q_draft is not None
        for step, expected in zip(steps, proposal.q_draft, strict=True):
            unrolled = law(step.rows[0, place - 1], deep)
            assert float((unrolled - expected[IDS]).abs().max()) < 1e-5
            assert float(expected[IDS].max()) < 0.9999  # a law that could differ


def test_the_unrolled_small_model_is_the_running_one(
    deep: OpenedTarget, plain: LoadedModel, tmp_path: Path
) -> None:
    small = scattered(deep, SMALL)
    drafter = running(small, plain, tmp_path / "small.safetensors")
    for place in PLACES:
        proposal = drafted(plain, drafter, TEXT[: place + 1], K, 1.0)
        text = [*TEXT[: place + 1], *proposal.tokens]
        with torch.no_grad():
            (step,) = small.unroll(batch_of(deep, text, 0, ()), K)
        assert step.offset == 0
        assert proposal.q_draft is not None
        for index, expected in enumerate(proposal.q_draft):
            unrolled = law(step.rows[0, place + index], deep)
            assert float((unrolled - expected[IDS]).abs().max()) < 1e-5


def test_rows_of_a_batch_do_not_touch_each_other(deep: OpenedTarget) -> None:
    head = scattered(deep, HEADS["tapped head"])
    one, other = (batch_of(deep, TEXT[at : at + 12], 12, (2,)) for at in (0, 20))
    both = Batch(
        torch.cat((one.tokens, other.tokens)),
        torch.cat((one.hidden, other.hidden)),
        *(torch.cat((one.normalisers,) * 2), torch.cat((one.choices,) * 2)),
        torch.cat((one.counted,) * 2),
    )
    with torch.no_grad():
        for together, *apart in zip(
            head.unroll(both, 3), head.unroll(one, 3), head.unroll(other, 3), strict=True
        ):
            alone = torch.cat([step.rows for step in apart])
            assert torch.allclose(together.rows, alone, atol=1e-4)


def test_a_drafts_step_sees_slots_up_to_its_start_and_its_own() -> None:
    mask = draft_mask(4, 3, torch.float32, CPU)
    seen = [
        [[place for place in range(4) if mask[row, 4 * step + place] == 0] for step in range(3)]
        for row in range(4)
    ]
    assert seen == [[list(range(row + 1)), [row], [row]] for row in range(4)]


def test_a_block_in_training_is_the_familys_own(deep: OpenedTarget) -> None:
    # with the target's layer for weights it computes what that layer does
    config, block = deep.model.config, deep.model.blocks[2]
    sizes = BlockShape(32, config.heads, config.kv_heads, config.head_dim, config.mlp_width, 1e-5)
    learned, weights = TrainedBlock(sizes, torch.float32), deep.model.layer_weights(2)
    with torch.no_grad():
        learned.attention_norm.weight.copy_(weights.attention_norm)
        learned.mlp_norm.weight.copy_(weights.mlp_norm)
        learned.attention.qkv.weight.copy_(weights.qkv)
        learned.attention.output.weight.copy_(weights.output)
        learned.mlp.gate_up.weight.copy_(weights.gate_up)
        learned.mlp.down.weight.copy_(weights.down)
        before, after = deep.model.read(torch.tensor([TEXT]), taps=(2, 3)).taps
        rotary = Rotary(config.rotary_dim, config.rope_base, torch.float32, CPU)
        found, _ = learned(before, rotary, Memory(), None)
    assert block.window is None
    assert torch.allclose(found, after, atol=1e-3)


@pytest.mark.parametrize("kind", HEADS)
def test_a_head_starts_near_what_its_blocks_are_given_in_the_target(
    deep: OpenedTarget, kind: str
) -> None:
    head: HeadModel = scattered(deep, HEADS[kind])  # type: ignore[assignment]  # it is one
    corpus = toy_corpus([200] * 6)
    head.start([corpus.row(row).long() for row in range(6)])
    last = 4 - head.shape.blocks
    batch = batch_of(deep, corpus.row(0).tolist(), 200, head.shape.taps)
    wanted = deep.model.read(batch.tokens, taps=(last,)).taps[0][0, 1:].clone()
    given: list[torch.Tensor] = []
    block = head.blocks[0]
    block.register_forward_pre_hook(lambda module, inputs: given.append(inputs[0]))
    with torch.no_grad():
        list(head.unroll(batch, 1))
    cosine = torch.cosine_similarity(given[0][0, :-1], wanted, dim=-1)
    assert float(cosine.mean()) > 0.6
    size = given[0][0, :-1].square().mean(-1).sqrt().mean() / wanted.square().mean(-1).sqrt().mean()
    assert 0.5 < float(size) < 1.5
    assert torch.equal(block.attention.qkv.weight, deep.model.layer_weights(last).qkv)


def test_least_squares_answer_best() -> None:
    draw = torch.Generator().manual_seed(0)
    truth = torch.randn(5, 8, generator=draw)
    sums = LeastSquares()
    for _ in range(4):
        rows = torch.randn(300, 8, generator=draw)
        sums.add(rows, rows @ truth.T + 0.1 * torch.randn(300, 5, generator=draw))
    assert torch.allclose(sums.answer(), truth, atol=0.03)


def test_a_small_model_starts_from_the_directions_in_which_tokens_differ(
    deep: OpenedTarget,
) -> None:
    small = SmallModel(deep.model, usual_shape(2, 16))
    ids = toy_corpus([500]).tokens.long()
    small.start(ids)
    rows = torch.nn.functional.rms_norm(deep.model.transformer.embed(ids), (32,))
    rows = rows - rows.mean(0)
    kept = small.output.weight.detach().T / 0.3  # [16, 32]
    assert torch.allclose(kept @ kept.T, torch.eye(16), atol=1e-4)
    best = torch.linalg.svdvals(rows)[:16].square().sum()
    assert float((rows @ kept.T).square().sum()) > 0.999 * float(best)


@pytest.mark.parametrize(("width", "heads", "kv_heads"), [(384, 6, 2), (64, 1, 1), (24, 3, 1)])
def test_usual_sizes_of_small_models(width: int, heads: int, kv_heads: int) -> None:
    shape = usual_shape(2, width)
    assert (shape.heads, shape.kv_heads) == (heads, kv_heads)
    assert shape.heads * shape.head_dim == width
    assert 8 / 3 * width <= shape.inner < 8 / 3 * width + 64
