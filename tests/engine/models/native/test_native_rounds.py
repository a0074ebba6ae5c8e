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
from engine.models.network import Best, Passed, Wish
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
    taps = getattr(drafter, "taps", ())
    prompt = (PROMPT * 30)[:240]  # so that the store of 256 states grows on the way
    sequence = Sequence(model, model.new_pool(), prompt, taps)
    sequence.prefill()
    choice = Choice(drafter, 3, Sampling(temperature))
    limits = Limits(len(prompt), 40, 512)
    decoder = Decoder(sequence, target.tokenizer, TextStream(target.tokenizer), choice, limits)
    dropped = 0
    for one in decoder.rounds():
        dropped += sum(token.fate != "accepted" for token in one.drafted)
        with torch.inference_mode():
            fresh = model.forward(sequence.tokens[:-1], KVCache(model.new_pool()), None, taps)
        assert torch.equal(sequence.states(taps), fresh)
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


def found(scores: torch.Tensor, score: float, place: int, share: float = 0.0) -> Passed:
    """A pass that gave these scores, and found something in them."""
    return Passed(torch.empty(1, 1), scores, [Best(score, place, share)])


def test_a_best_score_that_was_found_on_the_way_is_drafted() -> None:
    draft = Draft(CONTEXT, DraftRequest(2, Sampling()), 50, torch.tensor([10, 20, 30]))
    scores = torch.tensor([[0.0, 2.0, 1.0]])
    assert draft.extend(scores, found(scores, 2.0, 1)) == 20
    assert draft.extend(scores) == 20


def test_what_was_drawn_on_the_way_is_drafted_with_its_own_law() -> None:
    draft = Draft(CONTEXT, DraftRequest(1, Sampling(1.0), [0.4]), 50, torch.tensor([10, 20, 30]))
    assert draft.wish == Wish(temperature=1.0, uniform=0.4)
    scores, law = torch.zeros(1, 3), torch.tensor([[0.25, 0.25, 0.5]])
    passed = found(scores, 0.0, 0)._replace(laws=law, drawn=1)
    assert draft.extend(scores, passed) == 20
    q_draft = draft.proposal().q_draft
    assert q_draft is not None
    assert torch.equal(q_draft[:, [10, 20, 30]], law)
    assert float(q_draft.sum()) == 1.0


@pytest.mark.parametrize(
    "more", [{"top_k": 2}, {"top_p": 0.9}, {"min_p": 0.1}, {"logit_bias": ((1, 2.0),)}]
)
def test_nothing_is_drawn_on_the_way_where_more_shapes_the_law(more: dict[str, object]) -> None:
    sampling = Sampling(1.0, **more)  # type: ignore[arg-type]  # one of its fields
    draft = Draft(CONTEXT, DraftRequest(1, sampling, [0.4], confidence=0.2), 3)
    assert draft.wish == Wish(shares=True)


def test_what_was_found_is_not_taken_where_the_scores_are_moved() -> None:
    scores = torch.tensor([[0.0, 2.0, 1.0]])
    for temperature in (0.0, 1.0):
        request = DraftRequest(1, Sampling(temperature, logit_bias=((2, 50.0),)), [0.9])
        assert Draft(CONTEXT, request, 3).extend(scores, found(scores, 2.0, 1)) == 2


@pytest.mark.parametrize("broken", [float("nan"), float("inf")])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_best_score_that_is_no_number_names_the_drafter(
    broken: float, temperature: float
) -> None:
    scores = torch.full((1, 3), broken)
    passed = found(scores, broken, 0, float("nan"))._replace(laws=scores, drawn=0)
    draft = Draft(CONTEXT, DraftRequest(1, Sampling(temperature), [0.5], confidence=0.5), 3)
    with pytest.raises(DraftscopeError, match="The drafter's logits are not finite"):
        draft.extend(scores, passed)


@pytest.mark.parametrize(("share", "drawn"), [(0.49, False), (0.5, True)])
def test_a_draft_ends_by_the_share_that_was_found_on_the_way(share: float, drawn: bool) -> None:
    draft = Draft(CONTEXT, DraftRequest(1, Sampling(1.0), [0.1], confidence=0.5), 3)
    scores = torch.zeros(1, 3)
    assert (draft.extend(scores, found(scores, 0.0, 0, share)) is not None) == drawn
    assert (draft.proposal().end is DraftEnd.UNSURE) == (not drawn)
