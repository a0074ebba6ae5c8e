"""What both caches hold after every round, whatever was accepted: never a row too many or wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest
import torch

from engine.cache import KVCache
from engine.decoder import Choice, Decoder
from engine.drafters.small import SmallModelDrafter
from engine.emission import Limits
from engine.loading import load_model, make_drafter
from engine.models.text.streaming import TextStream
from engine.sampling import Sampling
from engine.sequence import Sequence
from engine.trace.events import Fate, Round
from tests.engine.decoding import PROMPT, decode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Sequence as Ids
    from pathlib import Path

    from engine.cache import PagePool
    from engine.loading import LoadedModel
    from engine.models.transformer import Transformer

ROUNDS = 3


class Stumbling:
    """The target's own weights, but in each round one token is a wrong one."""

    whole = None

    def __init__(self, model: Transformer, at: int) -> None:
        self._model = model
        self._at = at  # place in the draft; beyond it: never
        self.begin_round()

    def begin_round(self) -> None:
        self._drawn = 0
        self.fed: list[list[int]] = []

    def new_pool(self) -> PagePool:
        return self._model.new_pool()

    def forward(self, ids: Ids[int], cache: KVCache) -> torch.Tensor:
        self.fed.append(list(ids))
        return self._model.forward(ids, cache)

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        logits = self._model.logits(hidden)
        if self._drawn == self._at:
            logits[:, (int(logits.argmax()) + 1) % 250] = 1e9
        self._drawn += 1
        return logits


class After(NamedTuple):
    """One round and what it left."""

    round: Round
    sequence: Sequence
    own: KVCache
    fed: list[list[int]]  # ids of the drafter's passes in this round


def rounds_with(target: LoadedModel, k: int, accepted: int) -> Iterator[After]:
    """Greedy rounds in each of which the drafter's token number `accepted` is wrong."""
    model = Stumbling(target.transformer, accepted)
    drafter = SmallModelDrafter(model, target.info, "model:self", target.info.vocabulary)  # type: ignore[arg-type]  # stands in for one
    sequence = Sequence(target.transformer, target.transformer.new_pool(), PROMPT)
    sequence.prefill()
    decoder = Decoder(
        sequence,
        target.tokenizer,
        TextStream(target.tokenizer),
        Choice(drafter, k, Sampling()),
        Limits(len(PROMPT), 100, target.info.context_length),
        top_n=0,
    )
    rounds = decoder.rounds()
    for _ in range(ROUNDS):
        model.begin_round()
        yield After(next(rounds), sequence, drafter.cache, model.fed)
    rounds.close()


def assert_fresh(model: Transformer, tokens: Ids[int], cache: KVCache) -> None:
    """Logits after the last token, from the cache and from a fresh prefill, are the same."""
    length = cache.length
    fresh = KVCache(model.new_pool())
    with torch.inference_mode():
        ours = model.logits(model.forward(tokens[length:], cache))[-1]
        cache.truncate(length)
        expected = model.logits(model.forward(tokens, fresh))[-1]
    assert float((ours - expected).abs().max()) < 1e-9


@pytest.mark.case("A31", "A34")
@pytest.mark.parametrize("k", range(1, 9))
def test_both_caches_hold_what_was_kept_after_every_round(
    exact_target: LoadedModel, k: int
) -> None:
    model = exact_target.transformer
    for accepted in range(k + 1):
        fully = accepted == k
        for index, (one, sequence, own, fed) in enumerate(rounds_with(exact_target, k, accepted)):
            assert (len(one.drafted), one.accepted) == (k, accepted)
            span, spent = one.target_cache, one.drafter_cache
            assert spent is not None
            assert span.peak - span.before == k + 1  # forwarded
            assert span.peak - span.after == k - accepted  # dropped
            behind = 2 if fully and index else 1  # it lacks d[k-1] after a full accept
            assert sum(map(len, fed)) == k - 1 + (behind if index else len(PROMPT))
            assert spent.peak - spent.after == (0 if fully else k - 1 - accepted)
            assert span.after == sequence.cache.length == len(sequence.tokens) - 1
            assert spent.after == own.length == len(sequence.tokens) - (2 if fully else 1)
            assert_fresh(model, sequence.tokens, sequence.cache)
            assert_fresh(model, sequence.tokens, own)


@pytest.mark.case("A31", "A32")
@pytest.mark.parametrize("k", [1, 4, 8])
def test_the_token_that_the_drafter_lacks_after_a_full_accept_is_fed_first(
    exact_target: LoadedModel, k: int
) -> None:
    last: Round | None = None
    for one, _, _, fed in rounds_with(exact_target, k, k):
        drafted = [token.id for token in one.drafted]
        if last is not None:
            assert last.closing is not None
            assert fed[0] == [last.drafted[-1].id, last.closing.id]
        assert fed[1:] == [[token] for token in drafted[:-1]]
        last = one


@pytest.mark.case("A31")
def test_a_row_that_was_rejected_and_is_left_in_a_cache_is_seen(exact_target: LoadedModel) -> None:
    one, sequence, own, _ = next(rounds_with(exact_target, 5, 2))
    assert one.rejected == 1
    for cache in (sequence.cache, own):
        length = cache.length
        cache.append(1)  # counts the rejected token's row as valid
        with pytest.raises(AssertionError):
            assert_fresh(exact_target.transformer, [*sequence.tokens, 7], cache)
        cache.truncate(length)
        assert_fresh(exact_target.transformer, sequence.tokens, cache)


@pytest.mark.case("A32")
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_the_targets_own_weights_are_accepted_in_every_round(
    exact_target: LoadedModel, tiny_folder: Path, temperature: float
) -> None:
    drafter = make_drafter(f"model:{tiny_folder}", exact_target)
    tokens, rounds, _ = decode(exact_target, drafter, k=4, count=64, sampling=Sampling(temperature))
    assert len(tokens) == 64
    for one in rounds:
        assert one.drafted or one is rounds[-1]
        assert [token.fate for token in one.drafted] == [Fate.ACCEPTED] * len(one.drafted)


@pytest.mark.case("A37")
@pytest.mark.parametrize("k", [1, 2, 4, 8])
def test_the_same_model_twice_gives_as_many_tokens_as_asked_for(
    exact_target: LoadedModel, tiny_folder: Path, k: int
) -> None:
    plain, _, _ = decode(exact_target, None, k=0, count=4)
    drafter = make_drafter(f"model:{tiny_folder}", exact_target)
    tokens, rounds, _ = decode(exact_target, drafter, k=k, count=4)
    assert tokens == plain
    assert len(tokens) == sum(one.emitted for one in rounds) == 4
    # and one transformer that serves as both, with a cache each
    shared = SmallModelDrafter(
        exact_target.transformer, exact_target.info, "model:self", exact_target.info.vocabulary
    )
    assert decode(exact_target, shared, k=k, count=4)[0] == plain


@pytest.mark.case("A62")
@pytest.mark.parametrize("k", [1, 4])
def test_a_prompt_of_one_token_gives_the_plain_text(
    exact_target: LoadedModel, near_folder: Path, k: int
) -> None:
    plain, _, _ = decode(exact_target, None, k=0, count=64, prompt=[10])
    assert len(plain) == 64
    for spec in ("ngram", f"model:{near_folder}", "early:1"):
        drafter = make_drafter(spec, exact_target)
        assert decode(exact_target, drafter, k=k, count=64, prompt=[10])[0] == plain


@pytest.mark.case("A34")
def test_rejections_are_rolled_back_and_not_begun_anew(
    exact_target: LoadedModel, near_folder: Path
) -> None:
    # a cache that was set to 0 would be fed the whole text again
    near = load_model(near_folder, device="cpu", plan="eager", dtype=torch.float64)
    drafter = SmallModelDrafter(near.transformer, near.info, "model:near", near.info.vocabulary)
    fed: list[int] = []
    forward = near.transformer.forward

    def counted(ids: Ids[int], cache: KVCache) -> torch.Tensor:
        fed.append(len(ids))
        return forward(ids, cache)

    near.transformer.forward = counted  # type: ignore[method-assign]  # this model is the test's own
    _, rounds, _ = decode(exact_target, drafter, k=5, count=60, sampling=Sampling(1.0), seed=2)
    assert sum(one.rejected for one in rounds) > 3
    assert max(fed[1:]) <= 2
    assert sum(fed) <= len(PROMPT) + sum(len(one.drafted) + 1 for one in rounds)
