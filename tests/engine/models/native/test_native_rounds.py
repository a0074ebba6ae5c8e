"""Whole rounds under the compiled plan: states kept where passes write them, the target's law."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from engine.cache import KVCache
from engine.check.context import run_context
from engine.decoder import Choice, Decoder
from engine.drafters.drafting import Draft
from engine.drafters.protocol import Context, DraftRequest
from engine.emission import Limits
from engine.errors import DraftscopeError
from engine.models.network import Best
from engine.models.text.streaming import TextStream
from engine.sampling import Sampling
from engine.sequence import Sequence
from engine.trace.events import DraftEnd, Settings
from tests.engine.decoding import PROMPT
from tests.engine.drafters.making import flat, made

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from engine.loading import LoadedModel

pytestmark = pytest.mark.compiler
CONTEXT = Context([1, 2], torch.empty(1, 1))


@pytest.fixture(scope="module")
def target(tiny_folder: Path, load_compiled: Callable[[Path], LoadedModel]) -> LoadedModel:
    return load_compiled(tiny_folder)


@pytest.mark.parametrize("kind", ["head", "tapped head", "small"])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_states_are_the_texts_after_every_round(
    target: LoadedModel, tmp_path: Path, kind: str, temperature: float
) -> None:
    # passes write their rows where they are kept, also those of tokens that are dropped again
    drafter, model = made(target, kind, tmp_path), target.transformer
    prompt = (PROMPT * 30)[:240]  # so that the store of 256 states grows on the way
    sequence = Sequence(model, model.new_pool(), prompt)
    sequence.prefill()
    choice = Choice(drafter, 3, Sampling(temperature))
    limits = Limits(len(prompt), 40, 512)
    decoder = Decoder(sequence, target.tokenizer, TextStream(target.tokenizer), choice, limits)
    dropped = 0
    for one in decoder.rounds():
        dropped += sum(token.fate != "accepted" for token in one.drafted)
        with torch.inference_mode():
            fresh = model.forward(sequence.tokens[:-1], KVCache(model.new_pool()))
        assert torch.equal(sequence.hidden, fresh)
    assert len(sequence.tokens) > 260
    assert dropped > 5


@pytest.mark.case("A01")
@pytest.mark.parametrize("kind", ["head", "small"])
def test_the_first_two_tokens_of_a_round_follow_the_target(
    target: LoadedModel, tmp_path: Path, kind: str
) -> None:
    drafter = flat(target, kind, tmp_path, PROMPT)
    settings = Settings(drafter=drafter.spec, k=2, temperature=1.0)
    found = run_context(target, target.transformer.new_pool(), PROMPT, drafter, settings, draws=700)
    assert found.drafted == 2.0
    assert found.second is not None
    assert found.acceptance is not None
    assert 0.3 < found.acceptance.measured < 0.8
    for part in (found.first, found.second, found.acceptance):
        assert part.p_value > 1e-3


def test_a_best_score_that_was_found_on_the_way_is_drafted() -> None:
    draft = Draft(CONTEXT, DraftRequest(2, Sampling()), 5, torch.tensor([10, 20, 30]))
    scores = torch.tensor([[0.0, 2.0, 1.0]])
    assert draft.extend(scores, Best(2.0, 1, 0.0)) == 20
    assert draft.extend(scores) == 20


def test_a_best_score_is_not_taken_where_the_scores_are_moved() -> None:
    request = DraftRequest(1, Sampling(logit_bias=((2, 5.0),)))
    assert (
        Draft(CONTEXT, request, 3).extend(torch.tensor([[0.0, 2.0, 1.0]]), Best(2.0, 1, 0.0)) == 2
    )


@pytest.mark.parametrize("broken", [float("nan"), float("inf")])
def test_a_best_score_that_is_no_number_names_the_drafter(broken: float) -> None:
    draft = Draft(CONTEXT, DraftRequest(1, Sampling(), confidence=0.5), 3)
    with pytest.raises(DraftscopeError, match="The drafter's logits are not finite"):
        draft.extend(torch.full((1, 3), broken), Best(broken, 0, float("nan")))


@pytest.mark.parametrize(("share", "drawn"), [(0.49, False), (0.5, True)])
def test_a_draft_ends_by_the_share_that_was_found_on_the_way(share: float, drawn: bool) -> None:
    draft = Draft(CONTEXT, DraftRequest(1, Sampling(1.0), [0.1], confidence=0.5), 3)
    assert (draft.extend(torch.zeros(1, 3), Best(0.0, 0, share)) is not None) == drawn
    assert (draft.proposal().end is DraftEnd.UNSURE) == (not drawn)
