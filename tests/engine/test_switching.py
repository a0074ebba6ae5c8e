"""Drafters changed in the middle of a text draft as if they had been there from the start."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from engine.cache import KVCache
from engine.decoder import Choice, Decoder
from engine.drafters.head import HeadDrafter
from engine.drafters.protocol import Context, DraftRequest
from engine.emission import Limits
from engine.loading import make_drafter
from engine.models.text.streaming import TextStream
from engine.sampling import Sampling
from engine.sequence import Sequence
from engine.trace.events import DraftEnd
from tests.engine.decoding import PROMPT, decode
from tests.engine.drafters.making import SHAPES, made

if TYPE_CHECKING:
    from pathlib import Path

    from engine.drafters.protocol import Drafter, Proposal
    from engine.loading import LoadedModel

SAMPLING = Sampling(1.0)


@pytest.fixture
def head(exact_target: LoadedModel, tmp_path: Path) -> HeadDrafter:
    drafter = made(exact_target, "head", tmp_path)
    assert isinstance(drafter, HeadDrafter)
    return drafter


def from_the_start(
    target: LoadedModel, drafter: Drafter, tokens: list[int], request: DraftRequest
) -> Proposal:
    """Draft after a text that the target has just read whole."""
    model = target.transformer
    sequence = Sequence(model, model.new_pool(), tokens)
    sequence.prefill()
    drafter.begin()
    context = Context(sequence.tokens, sequence.hidden, sequence.cache, sequence=sequence)
    drafter.prepare(context, lambda: False)
    return drafter.propose(context, request)


@pytest.mark.parametrize("spec", ["near", "early:1", *SHAPES])
def test_a_drafter_switched_to_at_any_round_drafts_as_from_the_start(
    exact_target: LoadedModel, near_folder: Path, tmp_path: Path, spec: str
) -> None:
    def new() -> Drafter:
        if spec in SHAPES:
            return made(exact_target, spec, tmp_path)
        drafter = make_drafter(f"model:{near_folder}" if spec == "near" else spec, exact_target)
        assert drafter is not None
        return drafter

    switched, fresh = new(), new()
    propose = switched.propose
    compared = []

    def watched(context: Context, request: DraftRequest) -> Proposal:
        proposal = propose(context, request)
        expected = from_the_start(exact_target, fresh, list(context.tokens), request)
        assert proposal.tokens == expected.tokens
        assert proposal.q_draft is not None
        assert expected.q_draft is not None
        assert float((proposal.q_draft - expected.q_draft).abs().max()) < 1e-9
        compared.append(len(context.tokens))
        return proposal

    switched.propose = watched  # type: ignore[method-assign]  # a spy
    switched.begin()
    model = exact_target.transformer
    sequence = Sequence(model, model.new_pool(), PROMPT)
    sequence.prefill()
    others = [None, make_drafter("ngram", exact_target), make_drafter("early:1", exact_target)]
    limits = Limits(len(PROMPT), 120, 512)
    stream = TextStream(exact_target.tokenizer)
    decoder = Decoder(
        sequence, exact_target.tokenizer, stream, Choice(None, 0, SAMPLING), limits, seed=8
    )
    for one in decoder.rounds():
        # three rounds with it, then a stretch without it, longer each time
        within = one.index % 11
        drafter = switched if within < 3 else others[one.index % 3]
        if drafter is not None and drafter is not decoder.choice.drafter:
            drafter.observe(sequence.tokens)
        decoder.choice = Choice(drafter, 3, SAMPLING)
        assert sequence.hidden.shape[0] == len(sequence.tokens) - 1  # kept from the first token on
    assert len(compared) > 12
    assert max(compared) - min(compared) > 80


def test_states_of_the_whole_text_are_kept_and_right(exact_target: LoadedModel) -> None:
    model = exact_target.transformer
    sequence = Sequence(model, model.new_pool(), PROMPT)
    sequence.prefill()
    limits = Limits(len(PROMPT), 300, 512)  # beyond the store's first size
    stream = TextStream(exact_target.tokenizer)
    choice = Choice(make_drafter("early:1", exact_target), 4, SAMPLING)
    decoder = Decoder(sequence, exact_target.tokenizer, stream, choice, limits, seed=2)
    for _ in decoder.rounds():
        pass
    with torch.inference_mode():
        fresh = model.forward(sequence.tokens[:-1], KVCache(model.new_pool()))
    assert sequence.hidden.shape[0] == len(PROMPT) + 299
    assert float((sequence.hidden - fresh).abs().max()) < 1e-9


def test_a_text_of_one_token_is_too_short_for_a_head_and_says_so(
    exact_target: LoadedModel, head: HeadDrafter
) -> None:
    plain = decode(exact_target, None, k=0, count=6, prompt=[10])[0]
    tokens, rounds, _ = decode(exact_target, head, k=3, count=6, prompt=[10])
    assert tokens == plain
    assert (rounds[0].drafted, rounds[0].draft_end) == ((), DraftEnd.TOO_SHORT)
    assert rounds[1].drafted


def test_slots_that_a_head_fed_to_itself_never_outlive_the_round(
    exact_target: LoadedModel, head: HeadDrafter
) -> None:
    model = exact_target.transformer
    sequence = Sequence(model, model.new_pool(), PROMPT)
    sequence.prefill()
    head.begin()
    limits = Limits(len(PROMPT), 40, 512)
    stream = TextStream(exact_target.tokenizer)
    decoder = Decoder(
        sequence, exact_target.tokenizer, stream, Choice(head, 4, SAMPLING), limits, seed=3
    )
    peaks = set()
    for one in decoder.rounds():
        span = one.drafter_cache
        assert span is not None
        if not one.drafted:  # the limit left no room to draft: nothing was read either
            continue
        firm = one.position - 1  # a slot for each token but the last
        assert span.peak == firm + max(0, len(one.drafted) - 1)
        assert span.after == firm
        peaks.add(span.peak - firm)
    assert max(peaks) == 3
