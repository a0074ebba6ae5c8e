"""The decoding loop on a tiny model: invariants after every round, ends anywhere, seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

import engine.decoder as decoder_module
from engine.cache import KVCache
from engine.decoder import Choice, Decoder
from engine.emission import Limits
from engine.loading import load_model, make_drafter
from engine.models.text.streaming import TextStream
from engine.sampling import Sampling
from engine.sequence import Sequence
from engine.trace.events import ClosingKind, Fate, FinishReason
from tests.engine.decoding import PROMPT, Scripted, decode
from tests.tiny_model import END

if TYPE_CHECKING:
    from collections.abc import Sequence as Ids
    from pathlib import Path

    from engine.drafters.protocol import Drafter
    from engine.loading import LoadedModel
    from engine.models.transformer import LowerRows


@pytest.fixture(scope="module")
def plain(exact_target: LoadedModel) -> list[int]:
    """Greedy text of the plain target."""
    return decode(exact_target, None, k=0, count=40)[0]


@pytest.fixture(params=["ngram", "near", "self"])
def drafter(
    request: pytest.FixtureRequest, exact_target: LoadedModel, near_folder: Path, tiny_folder: Path
) -> Drafter:
    """Each kind of drafter for the exact target."""
    specs = {"ngram": "ngram", "near": f"model:{near_folder}", "self": f"model:{tiny_folder}"}
    made = make_drafter(specs[request.param], exact_target)
    assert made is not None
    return made


@pytest.mark.case("A02")
@pytest.mark.parametrize("k", [1, 2, 4, 8])
def test_greedy_text_is_the_plain_targets(
    exact_target: LoadedModel, drafter: Drafter, plain: list[int], k: int
) -> None:
    tokens, rounds, _ = decode(exact_target, drafter, k=k, count=40)
    assert tokens == plain
    assert sum(one.emitted for one in rounds) == 40


@pytest.mark.case("A32")
@pytest.mark.parametrize("temperature", [0.0, 0.3, 1.0, 2.0])
@pytest.mark.parametrize("k", [1, 3, 4, 8])
def test_a_drafter_with_the_targets_weights_is_always_accepted(
    exact_target: LoadedModel, tiny_folder: Path, temperature: float, k: int
) -> None:
    # the cheapest detector of a cache one step off
    drafter = make_drafter(f"model:{tiny_folder}", exact_target)
    _, rounds, _ = decode(exact_target, drafter, k=k, sampling=Sampling(temperature), count=64)
    assert all(token.fate is Fate.ACCEPTED for one in rounds for token in one.drafted)
    drafted = [len(one.drafted) for one in rounds]
    assert drafted[:-1] == [k] * (len(rounds) - 1)
    overlaps = [token.laws.overlap for one in rounds for token in one.drafted if token.laws]
    assert len(overlaps) == sum(drafted)
    assert min(o for o in overlaps if o is not None) > 1 - 1e-9


@pytest.mark.case("A34")
def test_logits_from_the_cache_equal_a_fresh_prefill_after_every_round(
    exact_target: LoadedModel, near_folder: Path
) -> None:
    # truncate, then go on
    target = exact_target.transformer
    drafter = make_drafter(f"model:{near_folder}", exact_target)
    sequence = Sequence(target, target.new_pool(), PROMPT)
    sequence.prefill()
    limits = Limits(len(PROMPT), 40, 512)
    stream = TextStream(exact_target.tokenizer)
    choice = Choice(drafter, 5, Sampling(1.0))
    decoder = Decoder(sequence, exact_target.tokenizer, stream, choice, limits, seed=3)
    accepted = set()
    for one in decoder.rounds():
        accepted.add(one.accepted)
        fresh = KVCache(target.new_pool())
        with torch.inference_mode():
            length = sequence.cache.length
            ours = target.logits(target.forward(sequence.tokens[-1:], sequence.cache))[-1]
            sequence.cache.truncate(length)
            expected = target.forward(sequence.tokens, fresh)
        assert float((ours - target.logits(expected)[-1]).abs().max()) < 1e-9
        assert float((sequence.hidden - expected[:-1]).abs().max()) < 1e-9
    assert len(accepted) >= 3  # rejections at several places were seen


@pytest.mark.case("A31")
def test_cache_spans_record_what_a_rejection_gave_back(
    exact_target: LoadedModel, near_folder: Path
) -> None:
    # the target forwarded k+1 tokens and kept a+1; the drafter forwarded k
    drafter = make_drafter(f"model:{near_folder}", exact_target)
    _, rounds, _ = decode(exact_target, drafter, k=6, sampling=Sampling(1.0), count=60, seed=1)
    for one in rounds:
        span, own = one.target_cache, one.drafter_cache
        assert own is not None
        assert span.before == one.position - 1
        assert span.peak == span.before + 1 + len(one.drafted)
        assert span.after == span.before + one.emitted
        if one.drafted:
            assert own.peak == one.position + len(one.drafted) - 1
        assert own.after == min(own.peak, span.after)
        assert span.pages_after == -(-span.after // span.page_size)
        assert span.pages_given_back >= 0


@pytest.mark.case("A26")
def test_no_match_gives_a_plain_round(exact_target: LoadedModel) -> None:
    # nothing is drafted and nothing tested
    tokens, rounds, _ = decode(exact_target, Scripted([]), count=5)
    assert len(tokens) == len(rounds) == 5
    kinds = [one.closing.kind for one in rounds if one.closing]
    assert kinds == [ClosingKind.PLAIN] * 5


def test_every_drafted_token_is_verified(exact_target: LoadedModel, plain: list[int]) -> None:
    # also the first one
    wrong = [(token + 1) % 250 for token in plain]
    tokens, rounds, _ = decode(exact_target, Scripted(wrong), k=3, count=10)
    assert tokens == plain[:10]
    assert all(one.accepted == 0 for one in rounds)
    fates = [token.fate for token in rounds[0].drafted]
    assert fates == [Fate.REJECTED, Fate.DISCARDED, Fate.DISCARDED]
    assert rounds[0].closing is not None
    assert rounds[0].closing.kind is ClosingKind.CORRECTION


@pytest.mark.parametrize("k", [1, 3, 8])
def test_the_limit_holds_anywhere_inside_an_accepted_run(
    exact_target: LoadedModel, plain: list[int], k: int
) -> None:
    for count in range(1, k + 3):
        tokens, rounds, decoder = decode(exact_target, Scripted(plain), k=k, count=count)
        assert tokens == plain[:count]
        assert decoder.reason is FinishReason.LIMIT
        room = count
        for one in rounds:
            assert len(one.drafted) <= room - 1
            room -= one.emitted


@pytest.mark.case("A61")
@pytest.mark.parametrize("place", range(7))
def test_an_end_token_ends_the_text_wherever_it_arises(
    exact_target: LoadedModel, plain: list[int], place: int
) -> None:
    # as plain token, accepted draft, correction or bonus
    ends = frozenset({plain[place]})
    first = plain.index(plain[place])
    expected = plain[: first + 1]
    wrong_there = [*plain]
    wrong_there[first] = (plain[first] + 1) % 250
    for text, k in (
        (plain, 5),
        (plain, first + 1),
        (plain, max(first, 1)),
        (wrong_there, 5),
        ([], 5),
    ):
        tokens, rounds, decoder = decode(exact_target, Scripted(text), k=k, ends=ends)
        assert tokens == expected
        assert decoder.reason is FinishReason.END_TOKEN
        assert sum(one.emitted for one in rounds) == len(expected)
        last = rounds[-1]
        cut = [token for token in last.drafted if token.fate is Fate.CUT]
        if last.closing is None:
            assert len(cut) == len(last.drafted) - last.emitted
        assert all(token.u is None for token in cut)


def test_a_stop_string_ends_the_text_inside_an_accepted_run(
    exact_target: LoadedModel, plain: list[int]
) -> None:
    text = exact_target.tokenizer.decode(plain)
    stop = next(text[i : i + 2] for i in range(3, 20) if text[i : i + 2].isprintable())
    expected = text[: text.index(stop)]
    texts = []
    for drafted, k in ((plain, 4), (plain, 5), (plain, 6), ([], 6)):
        tokens, rounds, decoder = decode(
            exact_target, Scripted(drafted), k=k, count=40, stops=(stop,)
        )
        released = "".join(piece for one in rounds for piece in one.texts)
        assert released == expected
        assert decoder.reason is FinishReason.STOP_STRING
        texts.append(tokens)
    _, _, decoder = decode(exact_target, Scripted([]), count=len(texts[0]), stops=(stop,))
    assert decoder.reason is FinishReason.STOP_STRING  # a stop wins over the limit
    assert all(
        tokens == texts[-1] for tokens in texts
    )  # it ends at the token that completed the stop string
    assert stop in exact_target.tokenizer.decode(texts[0])
    assert stop not in exact_target.tokenizer.decode(texts[0][:-1])


def test_a_drafted_end_token_that_is_rejected_ends_nothing(
    exact_target: LoadedModel, plain: list[int]
) -> None:
    script = [plain[0], END, *plain[2:]]
    assert END not in plain
    ends = frozenset({END})
    tokens, rounds, _ = decode(exact_target, Scripted(script), k=3, count=12, ends=ends)
    assert tokens == plain[:12]
    assert rounds[0].drafted[1].fate is Fate.REJECTED


@pytest.mark.case("A43")
def test_the_same_seed_gives_the_same_tokens_and_uniforms(
    exact_target: LoadedModel, near_folder: Path
) -> None:
    # also after another text ran in between
    drafter = make_drafter(f"model:{near_folder}", exact_target)

    def run(seed: int) -> tuple[list[int], list[float | None]]:
        tokens, rounds, _ = decode(exact_target, drafter, sampling=Sampling(1.0), seed=seed)
        return tokens, [token.u for one in rounds for token in one.drafted]

    first = run(5)
    other = run(6)
    assert run(5) == first
    assert other != first


def test_observation_changes_nothing(
    exact_target: LoadedModel, near_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drafter = make_drafter(f"model:{near_folder}", exact_target)
    watched, rounds, _ = decode(exact_target, drafter, sampling=Sampling(0.8), seed=9)
    assert all(token.laws for one in rounds for token in one.drafted)
    monkeypatch.setattr(decoder_module, "Observer", lambda *_: None)
    unwatched, rounds, _ = decode(exact_target, drafter, sampling=Sampling(0.8), seed=9)
    assert not any(token.laws for one in rounds for token in one.drafted)
    assert watched == unwatched


def test_an_interrupted_loop_leaves_the_caches_right(
    exact_target: LoadedModel, near_folder: Path
) -> None:
    # invariant 8
    drafter = make_drafter(f"model:{near_folder}", exact_target)
    assert drafter is not None
    sequence = Sequence(exact_target.transformer, exact_target.transformer.new_pool(), PROMPT)
    sequence.prefill()
    stream = TextStream(exact_target.tokenizer)
    choice = Choice(drafter, 4, Sampling(1.0))
    decoder = Decoder(sequence, exact_target.tokenizer, stream, choice, Limits(11, 40, 512))
    rounds = decoder.rounds()
    next(rounds)
    next(rounds)
    rounds.close()
    assert sequence.cache.length == len(sequence.tokens) - 1
    assert drafter.cache is not None
    assert drafter.cache.length <= len(sequence.tokens) - 1


@pytest.mark.parametrize("phase", ["logits", "accept", "emit"])
def test_a_fault_in_the_middle_of_a_round_leaves_the_caches_right(
    exact_target: LoadedModel, near_folder: Path, monkeypatch: pytest.MonkeyPatch, phase: str
) -> None:
    # invariant 1, wherever the round broke off
    drafter = make_drafter(f"model:{near_folder}", exact_target)
    assert drafter is not None
    assert drafter.cache is not None
    sequence = Sequence(exact_target.transformer, exact_target.transformer.new_pool(), PROMPT)
    sequence.prefill()
    stream = TextStream(exact_target.tokenizer)
    choice = Choice(drafter, 8, Sampling(1.0))
    decoder = Decoder(sequence, exact_target.tokenizer, stream, choice, Limits(11, 40, 512))
    rounds = decoder.rounds()
    next(rounds)

    def fail(*_: object) -> None:
        raise RuntimeError("broken off")

    at = exact_target.transformer if phase == "logits" else decoder_module
    monkeypatch.setattr(at, phase, fail)
    with pytest.raises(RuntimeError, match="broken off"):
        next(rounds)
    assert sequence.cache.length == len(sequence.tokens) - 1
    assert sequence.cache.pages == -(-sequence.cache.length // 16)
    assert drafter.cache.length <= len(sequence.tokens) - 1


@pytest.mark.case("A62")
def test_a_one_token_prompt_works(exact_target: LoadedModel, tiny_folder: Path) -> None:
    expected, _, _ = decode(exact_target, None, k=0, count=64, prompt=[10])
    for spec in ("ngram", f"model:{tiny_folder}"):
        drafter = make_drafter(spec, exact_target)
        assert decode(exact_target, drafter, count=64, prompt=[10])[0] == expected


def test_a_round_has_exactly_one_pass(
    exact_target: LoadedModel, plain: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    passes: list[int] = []
    forward = exact_target.transformer.forward

    def counted(ids: Ids[int], cache: KVCache, lower: LowerRows | None = None) -> torch.Tensor:
        passes.append(len(ids))
        return forward(ids, cache, lower)

    monkeypatch.setattr(exact_target.transformer, "forward", counted)
    _, rounds, _ = decode(exact_target, Scripted(plain), k=4, count=20)
    assert passes == [len(PROMPT) - 1] + [1 + len(one.drafted) for one in rounds]


def test_text_of_the_rounds_is_the_text_of_the_tokens(
    exact_target: LoadedModel, near_folder: Path
) -> None:
    drafter = make_drafter(f"model:{near_folder}", exact_target)
    tokens, rounds, decoder = decode(exact_target, drafter, sampling=Sampling(1.0), count=50)
    text = "".join(piece for one in rounds for piece in one.texts) + decoder.stream.flush()
    assert text == exact_target.tokenizer.decode(tokens)
    assert [i for one in rounds for i in one.emitted_ids] == tokens


def test_the_float32_plan_loads_the_same_text(tiny_folder: Path, plain: list[int]) -> None:
    target = load_model(tiny_folder, device="cpu", plan="eager")
    assert decode(target, None, k=0, count=8)[0] == plain[:8]
