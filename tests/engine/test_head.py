"""The bundled head: its arithmetic against a plain reading of its description, and its slots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from safetensors.torch import load_file

from engine.assets import asset
from engine.drafters.file import read_drafter
from engine.drafters.head import HeadDrafter
from engine.drafters.metadata import HeadShape
from engine.drafters.protocol import Context, DraftRequest
from engine.errors import DraftscopeError
from engine.loading import make_drafter
from engine.prompting import prompt_tokens
from engine.sampling import Sampling
from engine.sequence import Sequence
from tests.engine.drafters.plain_head import Plain

if TYPE_CHECKING:
    from engine.loading import LoadedModel

pytestmark = pytest.mark.model


def reference_laws(
    sequence: Sequence, table: torch.Tensor, count: int
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """The ids that the head scores, and its laws in `count` greedy steps from its description.

    `table` [V, D] is the target's.
    """
    path = asset("drafters", "head.safetensors")
    shape = read_drafter(path).metadata.shape
    assert isinstance(shape, HeadShape)
    w = {name: tensor.float() for name, tensor in load_file(path).items()}
    plain, ids = Plain(w, table, sequence.model.config), w["vocabulary"].long()
    kept = sequence.states(shape.taps).view(len(sequence.tokens) - 1, 1 + len(shape.taps), -1)
    pairs = zip(kept, sequence.tokens[1:], strict=True)
    slots = [plain.slot(states, token, own=False) for states, token in pairs]
    laws = []
    for _ in range(count):
        x = plain.blocks(torch.stack(slots), shape.blocks)[-1]
        laws.append(plain.law(x))
        slots.append(plain.slot(x[None], int(ids[laws[-1].argmax()]), own=True))
    return ids, laws


def context_of(sequence: Sequence) -> Context:
    return Context(sequence.tokens, sequence.hidden, sequence.cache, sequence=sequence)


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


def test_the_law_is_that_of_the_description(
    smollm2_eager: LoadedModel, sequence: Sequence, head: HeadDrafter
) -> None:
    target = smollm2_eager.transformer
    context = context_of(sequence)
    with torch.inference_mode():
        proposal = head.propose(context, DraftRequest(3, Sampling(1.0), [0.0, 0.0, 0.0]))
        greedy = head_again(head, context)
        ids, expected = reference_laws(
            sequence, target.embed(list(range(target.config.vocabulary))), 3
        )
    assert proposal.q_draft is not None
    assert proposal.support is not None
    assert proposal.support.tolist() == ids.tolist()
    ours = proposal.q_draft[0, proposal.support]
    assert float((ours - expected[0]).abs().max()) < 1e-4
    assert list(greedy) == [int(ids[law.argmax()]) for law in expected]


def head_again(head: HeadDrafter, context: Context) -> tuple[int, ...]:
    """Draft greedily at the same place after dropping what was drafted."""
    head.observe(context.tokens)
    return head.propose(context, DraftRequest(3, Sampling(), [])).tokens


def test_self_fed_slots_are_dropped_and_made_again_from_the_targets_states(
    sequence: Sequence, head: HeadDrafter
) -> None:
    length = len(sequence.tokens)
    with torch.inference_mode():
        context = context_of(sequence)
        first = head.propose(context, DraftRequest(4, Sampling(), []))
        assert head.cache.length == length - 1 + 3
        head.observe(sequence.tokens)
        assert head.cache.length == length - 1
        # two tokens are committed: their slots are made from the target's states
        ids = [*sequence.tokens[-1:], *first.tokens[:1]]
        hidden = sequence.forward(ids)
        sequence.commit((first.tokens[0], 260), hidden)
        head.observe(sequence.tokens)
        followed = head.propose(context_of(sequence), DraftRequest(2, Sampling(), []))
        head.begin()
        fresh = head.propose(context_of(sequence), DraftRequest(2, Sampling(), []))
    assert followed.tokens == fresh.tokens


def test_mass_lies_on_the_heads_own_vocabulary_only(sequence: Sequence, head: HeadDrafter) -> None:
    # A59: q_draft is looked up in the target's id space
    with torch.inference_mode():
        context = context_of(sequence)
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
    context = context_of(sequence)
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


def test_a_head_of_another_target_is_refused_and_names_what_differs(
    tiny_target: LoadedModel,
) -> None:
    with pytest.raises(DraftscopeError) as caught:
        make_drafter("head", tiny_target)
    said = str(caught.value)
    assert "head.safetensors cannot draft for tiny: it was trained for SmolLM2-135M" in said
    assert "whose tokenizer, configuration and weights differ" in said
    assert "draftscope train head --target tiny --out FILE" in said
