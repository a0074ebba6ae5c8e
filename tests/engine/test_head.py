"""The head: its arithmetic against a plain reading of its README, and its slots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.assets import asset
from engine.drafters.head import HeadDrafter
from engine.drafters.head_weights import load_head
from engine.drafters.protocol import Context, DraftRequest
from engine.errors import DraftscopeError
from engine.loading import HEAD_FILE, make_drafter
from engine.prompting import prompt_tokens
from engine.sampling import Sampling
from engine.sequence import Sequence

if TYPE_CHECKING:
    from pathlib import Path

    from engine.loading import LoadedModel

pytestmark = pytest.mark.model


def rms(x: torch.Tensor) -> torch.Tensor:
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5)


def turned(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Rotary in halves, base 100,000; x is [T, heads, 64]."""
    frequencies = 100_000.0 ** (-torch.arange(0, 64, 2) / 64)
    angles = positions[:, None] * frequencies
    cos, sin = angles.cos()[:, None], angles.sin()[:, None]
    one, two = x[..., :32], x[..., 32:]
    return torch.cat((one * cos - two * sin, two * cos + one * sin), dim=-1)


def reference_laws(
    hidden: torch.Tensor, embedded: torch.Tensor, table: torch.Tensor, count: int
) -> list[torch.Tensor]:
    """Logits over the head's ids of `count` greedy draft steps, straight from the README.

    `hidden` [T-1, 576] are the target's states, `embedded` [T-1, 576] the embeddings of the next
    tokens, `table` the target's whole table.
    """
    w = {name: tensor.float() for name, tensor in load_file(asset("drafters", HEAD_FILE)).items()}
    ids = w["vocabulary"].long()
    laws = []
    for _ in range(count):
        joined = (
            rms(hidden) * w["hidden_norm.weight"],
            rms(embedded) * w["embedding_norm.weight"],
        )
        x = torch.cat(joined, dim=-1) @ w["fuse.weight"].T
        slots = x.shape[0]
        qkv = (rms(x) * w["attention_norm.weight"]) @ w["attention.qkv.weight"].T
        q, k, v = qkv.split((576, 192, 192), dim=-1)
        positions = torch.arange(slots)
        q = turned(q.view(slots, 9, 64), positions)
        k = turned(k.view(slots, 3, 64), positions).repeat_interleave(3, dim=1)
        v = v.view(slots, 3, 64).repeat_interleave(3, dim=1)
        scores = torch.einsum("ihd,jhd->hij", q, k) / 8
        scores = scores.masked_fill(positions[None, :] > positions[:, None], float("-inf"))
        mixed = torch.einsum("hij,jhd->ihd", scores.softmax(-1), v).reshape(slots, 576)
        x = x + mixed @ w["attention.output.weight"].T
        gate, up = ((rms(x) * w["mlp_norm.weight"]) @ w["mlp.gate_up.weight"].T).chunk(2, -1)
        x = x + (torch.nn.functional.silu(gate) * up) @ w["mlp.down.weight"].T
        laws.append(table[ids] @ (rms(x[-1]) * w["output_norm.weight"]))
        token = int(ids[laws[-1].argmax()])
        hidden = torch.cat((hidden, x[-1:]))
        embedded = torch.cat((embedded, table[token][None]))
    return laws


@pytest.fixture
def sequence(smollm2_eager: LoadedModel) -> Sequence:
    target = smollm2_eager.transformer
    tokens = prompt_tokens(smollm2_eager, "Why is the sky blue?", raw=False)
    sequence = Sequence(target, target.new_pool(), tokens)
    sequence.prefill()
    return sequence


@pytest.fixture
def head(smollm2_eager: LoadedModel) -> HeadDrafter:
    made = make_drafter("head", smollm2_eager)
    assert isinstance(made, HeadDrafter)
    return made


def test_the_law_is_the_readmes(
    smollm2_eager: LoadedModel, sequence: Sequence, head: HeadDrafter
) -> None:
    target = smollm2_eager.transformer
    context = Context(sequence.tokens, sequence.hidden)
    with torch.inference_mode():
        proposal = head.propose(context, DraftRequest(3, Sampling(1.0), [0.0, 0.0, 0.0]))
        greedy = head_again(head, context)
        table = target.embed(list(range(target.config.vocabulary)))
        expected = reference_laws(
            sequence.hidden.clone(), table[torch.tensor(sequence.tokens[1:])], table, 3
        )
    assert proposal.q_draft is not None
    assert proposal.support is not None
    ours = proposal.q_draft[0, proposal.support]
    assert float((ours - expected[0].softmax(-1)).abs().max()) < 1e-4
    ids = proposal.support.tolist()
    assert list(greedy) == [ids[int(law.argmax())] for law in expected]


def head_again(head: HeadDrafter, context: Context) -> tuple[int, ...]:
    """Draft greedily at the same place after dropping what was drafted."""
    head.observe(context.tokens)
    return head.propose(context, DraftRequest(3, Sampling(), [])).tokens


def test_self_fed_slots_are_dropped_and_made_again_from_the_targets_states(
    sequence: Sequence, head: HeadDrafter
) -> None:
    length = len(sequence.tokens)
    with torch.inference_mode():
        context = Context(sequence.tokens, sequence.hidden)
        first = head.propose(context, DraftRequest(4, Sampling(), []))
        assert head.cache.length == length - 1 + 3
        head.observe(sequence.tokens)
        assert head.cache.length == length - 1
        # two tokens are committed: their slots are made from the target's states
        ids = [*sequence.tokens[-1:], *first.tokens[:1]]
        hidden = sequence.model.forward(ids, sequence.cache)
        sequence.commit((first.tokens[0], 260), hidden)
        head.observe(sequence.tokens)
        followed = head.propose(
            Context(sequence.tokens, sequence.hidden), DraftRequest(2, Sampling(), [])
        )
        head.begin()
        fresh = head.propose(
            Context(sequence.tokens, sequence.hidden), DraftRequest(2, Sampling(), [])
        )
    assert followed.tokens == fresh.tokens


def test_mass_lies_on_the_heads_own_vocabulary_only(sequence: Sequence, head: HeadDrafter) -> None:
    # A59: q_draft is looked up in the target's id space
    with torch.inference_mode():
        context = Context(sequence.tokens, sequence.hidden)
        proposal = head.propose(context, DraftRequest(2, Sampling(1.0), [0.3, 0.7]))
    assert proposal.q_draft is not None
    assert proposal.support is not None
    outside = torch.ones(proposal.q_draft.shape[1], dtype=torch.bool)
    outside[proposal.support] = False
    assert float(proposal.q_draft[:, outside].abs().max()) == 0.0
    assert proposal.q_draft.sum(dim=-1).tolist() == pytest.approx([1.0, 1.0], abs=1e-5)
    for row, token in enumerate(proposal.tokens):
        assert float(proposal.q_draft[row, token]) > 0.0


def test_padding_of_a_pass_is_no_slot(
    smollm2: LoadedModel, sequence: Sequence, head: HeadDrafter
) -> None:
    # the plan that users get pads passes; the head's law is the reference's all the same
    padded = make_drafter("head", smollm2)
    assert isinstance(padded, HeadDrafter)
    context = Context(sequence.tokens, sequence.hidden)
    laws = []
    for drafter in (padded, head):
        with torch.inference_mode():
            proposal = drafter.propose(
                context, DraftRequest(4, Sampling(1.0), [0.2, 0.2, 0.2, 0.2])
            )
        assert drafter.cache.length == len(sequence.tokens) - 1 + 3
        assert proposal.q_draft is not None
        laws.append((proposal.tokens, proposal.q_draft))
    assert laws[0][0] == laws[1][0]
    overlap = torch.minimum(laws[0][1], laws[1][1]).sum(dim=-1)
    assert float(overlap.min()) > 0.98


def damaged(change: str) -> dict[str, torch.Tensor]:
    tensors = load_file(asset("drafters", HEAD_FILE))
    if change == "missing":
        del tensors["fuse.weight"]
    elif change == "misshapen":
        tensors["fuse.weight"] = tensors["fuse.weight"][:, :-1].contiguous()
    else:
        tensors["vocabulary"][0] = 10**6
    return tensors


@pytest.mark.parametrize(
    ("change", "sentence"),
    [("missing", "lacks 'fuse.weight'"), ("misshapen", "does not fit"), ("beyond", "beyond this")],
)
def test_a_file_that_is_no_head_for_the_target_is_refused(
    smollm2_eager: LoadedModel, tmp_path: Path, change: str, sentence: str
) -> None:
    path = tmp_path / "head.safetensors"
    save_file(damaged(change), path)
    with pytest.raises(DraftscopeError, match=sentence):
        load_head(path, smollm2_eager.transformer)


def test_a_file_that_is_no_safetensors_is_refused(
    smollm2_eager: LoadedModel, tmp_path: Path
) -> None:
    path = tmp_path / "head.safetensors"
    path.write_text("<html>")
    with pytest.raises(DraftscopeError, match="web page"):
        load_head(path, smollm2_eager.transformer)


def test_a_head_does_not_fit_a_target_of_another_width(tiny_target: LoadedModel) -> None:
    with pytest.raises(DraftscopeError, match="does not fit this target"):
        make_drafter("head", tiny_target)
