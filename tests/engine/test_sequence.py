"""A text rewound is as if its last tokens had never been there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from engine.decoder import Choice, Decoder
from engine.emission import Limits
from engine.models.text.streaming import TextStream
from engine.sampling import Sampling
from engine.sequence import Sequence
from tests.engine.decoding import PROMPT

if TYPE_CHECKING:
    from engine.loading import LoadedModel
    from engine.trace.events import Round


def _round(target: LoadedModel, sequence: Sequence, sampling: Sampling, seed: int = 3) -> Round:
    limits = Limits(len(PROMPT), 40, target.info.context_length)
    stream = TextStream(target.tokenizer)
    choice = Choice(None, 0, sampling)
    decoder = Decoder(sequence, target.tokenizer, stream, choice, limits, seed=seed)
    return next(decoder.rounds())


def _prefilled(target: LoadedModel) -> Sequence:
    sequence = Sequence(target.transformer, target.transformer.new_pool(), PROMPT)
    sequence.prefill()
    return sequence


def test_rewinding_keeps_all_but_the_last_token_cached(exact_target: LoadedModel) -> None:
    sequence = _prefilled(exact_target)
    for _ in range(9):
        _round(exact_target, sequence, Sampling(1.0))
    for length in (len(PROMPT) + 9, len(PROMPT) + 4, len(PROMPT), 3, 1):
        sequence.rewind(length)
        assert len(sequence.tokens) == length
        assert sequence.cache.length == length - 1  # invariant 1
        assert sequence.cache.pages == -(-(length - 1) // 16)
        assert len(sequence.hidden) == length - 1
    assert sequence.tokens == PROMPT[:1]


def test_what_follows_a_rewinding_is_what_followed_before(exact_target: LoadedModel) -> None:
    sequence = _prefilled(exact_target)
    sampling = Sampling(1.0, frequency_penalty=2.0)
    first = [_round(exact_target, sequence, sampling, seed) for seed in (1, 2, 3)]
    hidden = sequence.hidden.clone()
    sequence.rewind(len(PROMPT))
    again = [_round(exact_target, sequence, sampling, seed) for seed in (1, 2, 3)]
    for one, other in zip(first, again, strict=True):
        assert one.closing is not None
        assert other.closing is not None
        assert one.closing.id == other.closing.id
        assert one.closing.laws == other.closing.laws  # penalties count what is there, no more
        assert one.target_cache == other.target_cache
    assert torch.equal(sequence.hidden, hidden)


def test_a_text_that_was_not_read_yet_can_be_rewound(exact_target: LoadedModel) -> None:
    sequence = Sequence(exact_target.transformer, exact_target.transformer.new_pool(), PROMPT)
    sequence.rewind(5)
    assert (sequence.tokens, sequence.cache.length) == (PROMPT[:5], 0)
    sequence.prefill()
    assert sequence.cache.length == 4


@pytest.mark.parametrize("length", [0, -1, len(PROMPT) + 1])
def test_a_text_is_rewound_to_a_length_that_it_has(exact_target: LoadedModel, length: int) -> None:
    sequence = _prefilled(exact_target)
    with pytest.raises(ValueError, match="cannot rewind"):
        sequence.rewind(length)
    assert sequence.tokens == PROMPT
