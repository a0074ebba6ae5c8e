"""A small model as drafter: its law in the target's vocabulary, its draws from its own uniforms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from engine.drafters.protocol import Context, DraftRequest
from engine.drafters.small import SmallModelDrafter
from engine.loading import LoadedModel, load_model
from engine.sampling import Sampling, draw

if TYPE_CHECKING:
    from pathlib import Path

TOKENS = [104, 101, 108, 108, 111]


@pytest.fixture(scope="module")
def near(near_folder: Path) -> LoadedModel:
    return load_model(near_folder, device="cpu", plan="eager", dtype=torch.float64)


@pytest.mark.parametrize("vocabulary", [100, 258, 400])
def test_the_law_is_cut_or_padded_to_the_targets_vocabulary(
    near: LoadedModel, vocabulary: int
) -> None:
    # ids that the target lacks are never proposed, ids that the drafter lacks have no mass
    drafter = SmallModelDrafter(near.transformer, near.info, "model:near", vocabulary)
    with torch.inference_mode():
        context = Context(TOKENS, torch.empty(0, 1))
        proposal = drafter.propose(context, DraftRequest(4, Sampling(1.5), [0.1, 0.5, 0.9, 0.999]))
        drafter.begin()
        greedy = drafter.propose(context, DraftRequest(4, Sampling(), []))
    assert proposal.q_draft is not None
    assert proposal.q_draft.shape == (4, vocabulary)
    assert proposal.q_draft.sum(dim=-1).tolist() == pytest.approx([1.0] * 4)
    assert float(proposal.q_draft[:, 258:].sum()) == 0.0
    assert max(*proposal.tokens, *greedy.tokens) < min(vocabulary, 258)


def test_each_token_is_drawn_with_its_uniform_from_the_law_that_is_scored(
    near: LoadedModel,
) -> None:
    drafter = SmallModelDrafter(near.transformer, near.info, "model:near", 258)
    uniforms = [0.1, 0.7, 0.4, 0.95]
    with torch.inference_mode():
        context = Context(TOKENS, torch.empty(0, 1))
        proposal = drafter.propose(context, DraftRequest(4, Sampling(1.2, top_p=0.9), uniforms))
    assert proposal.q_draft is not None
    drawn = [draw(law, u) for law, u in zip(proposal.q_draft, uniforms, strict=True)]
    assert list(proposal.tokens) == drawn
