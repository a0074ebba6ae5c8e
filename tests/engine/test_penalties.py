"""Bias and penalties: their arithmetic, their scopes, and each place of a draft its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from engine import DraftscopeError, RunRequest, Session, Settings
from engine.loading import make_drafter
from engine.penalties import Seen, adjusted
from engine.run import check_settings
from engine.sampling import Sampling, probabilities
from engine.sequence import Sequence
from engine.trace.events import Baseline, Comparison, Fate, FinishReason, Round, RunFinished
from tests.engine.decoding import PROMPT, Scripted, decode

if TYPE_CHECKING:
    from collections.abc import Sequence as Ids

    from engine.loading import LoadedModel

SHAPES = {
    "frequency": Sampling(frequency_penalty=0.7),
    "presence": Sampling(presence_penalty=1.1),
    "repetition": Sampling(repetition_penalty=1.4),
    "negative": Sampling(frequency_penalty=-0.4),
    "bias": Sampling(logit_bias=((183, -3.0), (101, 2.0))),
    "all": Sampling(
        repetition_penalty=1.2,
        presence_penalty=0.3,
        frequency_penalty=0.4,
        logit_bias=((97, 1.5),),
    ),
}


def seen(prompt: Ids[int], output: Ids[int] = (), vocabulary: int = 8) -> Seen:
    text = Seen(vocabulary, "cpu", prompt)
    text.extend(output)
    return text


def row(values: dict[int, float], vocabulary: int = 8) -> torch.Tensor:
    logits = torch.zeros(1, vocabulary)
    for token, value in values.items():
        logits[0, token] = value
    return logits


@pytest.mark.case("A50")
def test_repetition_divides_what_is_positive_and_multiplies_what_is_negative_once() -> None:
    logits = row({1: -2.0, 2: 2.0, 3: 2.0})
    text = seen([1, 2, 2, 2], [2, 1])
    moved = adjusted(logits, Sampling(repetition_penalty=2.0), text)[0]
    assert moved[1] == -4.0
    assert moved[2] == 1.0
    assert moved[3] == 2.0  # not in the text


@pytest.mark.case("A49")
def test_frequency_and_presence_see_the_output_and_repetition_the_prompt_too() -> None:
    logits, prompt = row({5: 4.0}), [5, 5]
    assert adjusted(logits, Sampling(frequency_penalty=2.0), seen(prompt))[0, 5] == 4.0
    assert adjusted(logits, Sampling(presence_penalty=2.0), seen(prompt))[0, 5] == 4.0
    assert adjusted(logits, Sampling(repetition_penalty=2.0), seen(prompt))[0, 5] == 2.0
    assert adjusted(logits, Sampling(frequency_penalty=2.0), seen(prompt, [5, 5]))[0, 5] == 0.0
    assert adjusted(logits, Sampling(presence_penalty=2.0), seen(prompt, [5, 5]))[0, 5] == 2.0


def test_bias_comes_before_the_penalties() -> None:
    sampling = Sampling(
        repetition_penalty=2.0, presence_penalty=0.5, frequency_penalty=0.25, logit_bias=((3, 2.0),)
    )
    moved = adjusted(row({3: -1.0}), sampling, seen([], [3, 3]))
    assert moved[0, 3] == (-1.0 + 2.0) / 2.0 - 2 * 0.25 - 0.5


def test_logits_that_nothing_moves_are_the_same_tensor() -> None:
    logits = row({1: 2.0})
    assert adjusted(logits, Sampling(0.7, top_k=3, top_p=0.9, min_p=0.1), None) is logits


@given(
    st.lists(st.integers(0, 7), max_size=4),
    st.lists(st.integers(0, 7), max_size=5),
    st.lists(st.integers(0, 7), max_size=4),
    st.sampled_from(sorted(SHAPES)),
)
def test_each_row_of_a_draft_gets_what_plain_decoding_would_give_it(
    prompt: list[int], output: list[int], drafted: list[int], shape: str
) -> None:
    sampling = SHAPES[shape] if shape != "bias" else Sampling(logit_bias=((3, 2.0),))
    sampling = Sampling(**{**sampling.__dict__, "logit_bias": ((3, 1.5), (6, -1.0))})
    logits = torch.randn(len(drafted) + 1, 8, generator=torch.Generator().manual_seed(len(drafted)))
    rows = adjusted(logits, sampling, seen(prompt, output), drafted)
    for place in range(len(drafted) + 1):
        alone = adjusted(
            logits[place : place + 1], sampling, seen(prompt, [*output, *drafted[:place]])
        )
        torch.testing.assert_close(rows[place], alone[0])
        # a drafter asks for one row at a time, after what it has drafted so far
        drafting = adjusted(
            logits[place : place + 1], sampling, seen(prompt, output), drafted[:place]
        )
        torch.testing.assert_close(drafting, alone)


def test_a_part_of_the_vocabulary_is_moved_as_its_own_ids() -> None:
    ids = torch.tensor([6, 1, 3, 0])
    logits = torch.randn(1, 8, generator=torch.Generator().manual_seed(1))
    sampling = SHAPES["all"]
    sampling = Sampling(**{**sampling.__dict__, "logit_bias": ((1, 2.0), (7, 4.0))})
    text = seen([6], [3, 3, 5])
    whole = adjusted(logits, sampling, text, [1])
    part = adjusted(logits[:, ids], sampling, text, [1], ids)
    torch.testing.assert_close(part, whole[:, ids])


@pytest.mark.case("A47")
def test_penalties_of_either_sign_change_greedy_text_as_they_change_the_plain_one(
    exact_target: LoadedModel,
) -> None:
    texts = []
    for penalty in (-2.0, 0.0, 2.0):
        sampling = Sampling(frequency_penalty=penalty, presence_penalty=penalty)
        plain = decode(exact_target, None, k=0, sampling=sampling, count=8)[0]
        drafter = make_drafter("ngram", exact_target)
        assert decode(exact_target, drafter, sampling=sampling, count=8)[0] == plain
        texts.append(plain)
    assert texts[0] != texts[2]
    assert texts[0] != texts[1]


@pytest.mark.parametrize("k", [1, 3, 7])
@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_greedy_text_with_penalties_is_the_plain_targets(
    exact_target: LoadedModel, near_folder: object, shape: str, k: int
) -> None:
    sampling = SHAPES[shape]
    plain = decode(exact_target, None, k=0, sampling=sampling, count=40)[0]
    assert plain != decode(exact_target, None, k=0, count=40)[0]
    for spec in (f"model:{near_folder}", "ngram", "early:1"):
        drafter = make_drafter(spec, exact_target)
        assert decode(exact_target, drafter, k=k, sampling=sampling, count=40)[0] == plain
    # and where every token is accepted, each at its own place in the draft
    scripted = Scripted(plain)
    tokens, rounds, _ = decode(exact_target, scripted, k=k, sampling=sampling, count=40)
    assert tokens == plain
    assert all(token.fate is Fate.ACCEPTED for one in rounds for token in one.drafted)


@pytest.mark.parametrize("temperature", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_both_sides_are_moved_alike_at_every_place(
    exact_target: LoadedModel, tiny_folder: object, shape: str, temperature: float
) -> None:
    # the drafter has the target's weights: one place moved otherwise would be a rejection
    sampling = Sampling(**{**SHAPES[shape].__dict__, "temperature": temperature, "min_p": 0.01})
    drafter = make_drafter(f"model:{tiny_folder}", exact_target)
    _, rounds, _ = decode(exact_target, drafter, k=5, sampling=sampling, count=60, seed=2)
    assert all(token.fate is Fate.ACCEPTED for one in rounds for token in one.drafted)
    assert all(len(one.drafted) == 5 for one in rounds[:-1])


def test_recorded_laws_are_those_of_a_plain_reading_of_each_prefix(
    exact_target: LoadedModel, near_folder: object
) -> None:
    target = exact_target.transformer
    sampling = Sampling(**{**SHAPES["all"].__dict__, "temperature": 0.9, "top_p": 0.95})
    drafter = make_drafter(f"model:{near_folder}", exact_target)
    emitted, rounds, _ = decode(exact_target, drafter, k=4, sampling=sampling, count=40, seed=5)
    text = [*PROMPT, *emitted]
    checked = 0
    for one in rounds:
        drafted = [token.id for token in one.drafted]
        for place, token in enumerate(one.drafted):
            prefix = [*text[: one.position], *drafted[:place]]
            sequence = Sequence(target, target.new_pool(), prefix)
            sequence.prefill()
            with torch.inference_mode():
                logits = target.logits(target.forward(prefix[-1:], sequence.cache))
            scores = adjusted(
                logits, sampling, seen(PROMPT, prefix[len(PROMPT) :], logits.shape[-1])
            )
            law = probabilities(scores, sampling)[0]
            assert token.p_target == pytest.approx(float(law[token.id]), abs=1e-9)
            assert token.laws is not None
            for shown, mass in zip(token.laws.ids, token.laws.p_target, strict=True):
                assert mass == pytest.approx(float(law[shown]), abs=1e-6)
            best = [int(i) for i in law.topk(4).indices if law[i] > 0]
            assert set(best) <= set(token.laws.ids)  # though not the top of the raw law
            checked += 1
    assert checked > 20


def test_a_run_with_penalties_equals_its_baseline_and_probes_move_nothing(
    exact_target: LoadedModel,
) -> None:
    settings = Settings(drafter="ngram", k=4, temperature=0.0, frequency_penalty=0.8, k_min=1)
    ids = []
    for probes in (True, False):
        request = RunRequest(
            prompt="hello hello", settings=settings, baseline=True, probes=probes, max_new_tokens=40
        )
        events = list(Session(exact_target).run(request))
        (verdict,) = [event for event in events if isinstance(event, Comparison)]
        (baseline,) = [event for event in events if isinstance(event, Baseline)]
        assert verdict.identical
        ids.append([i for event in events if isinstance(event, Round) for i in event.emitted_ids])
        assert ids[-1] == list(baseline.token_ids)
    assert ids[0] == ids[1]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"min_p": 1.5}, "min-p"),
        ({"min_p": float("nan")}, "min-p"),
        ({"temperature": 2e6}, "The temperature is .* from 0 .* to 1000000"),
        ({"repetition_penalty": 0.0}, "repetition penalty is .* from 0.0001 to 10000"),
        ({"repetition_penalty": float("inf")}, "repetition penalty"),
        ({"presence_penalty": float("nan")}, "presence penalty"),
        ({"frequency_penalty": 1e9}, "frequency penalty"),
        ({"logit_bias": ((5, float("-inf")),)}, "bias of token 5"),
        ({"logit_bias": ((-1, 1.0),)}, "token -1"),
        ({"logit_bias": ((258, 1.0),)}, "last one is 257"),
        ({"drafter_temperature": -1.0}, "The drafter's own temperature is -1.0"),
        ({"k_min": 99}, "least number drafted is 99; choose a number from 0 to 32"),
        ({"confidence": 1.01}, "confidence"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_a_sentence(
    changed: dict[str, object], words: str
) -> None:
    base = {"drafter": "none", "k": 2, "temperature": 0.0}
    with pytest.raises(DraftscopeError, match=words) as refusal:
        check_settings(Settings(**{**base, **changed}), 258)
    assert "\n" not in str(refusal.value)
    assert "choose" in str(refusal.value)


def test_bias_can_forbid_and_force_a_token(exact_target: LoadedModel) -> None:
    plain = decode(exact_target, None, k=0, count=12)[0]
    never = Sampling(logit_bias=((plain[0], -1e4),))
    assert plain[0] not in decode(exact_target, None, k=0, sampling=never, count=12)[0]
    always = Sampling(1.0, logit_bias=((42, 1e4),))
    drafter = make_drafter("ngram", exact_target)
    assert decode(exact_target, drafter, sampling=always, count=12)[0] == [42] * 12


def test_a_run_says_what_is_wrong_with_a_bias_before_its_first_event(
    exact_target: LoadedModel,
) -> None:
    settings = Settings(drafter="none", k=0, temperature=0.0, logit_bias=((10_000, 1.0),))
    with pytest.raises(DraftscopeError, match="10000"):
        next(Session(exact_target).run(RunRequest(prompt="x", settings=settings)))


def test_text_and_penalties_go_on_after_a_change_of_settings(exact_target: LoadedModel) -> None:
    from engine.control import Control

    control = Control()
    plain = Settings(drafter="ngram", k=3, temperature=0.0)
    session = Session(exact_target)
    request = RunRequest(prompt="hello hello", settings=plain, baseline=True, max_new_tokens=30)
    events = []
    for event in session.run(request, control):
        events.append(event)
        if isinstance(event, Round) and event.index == 1:
            control.change_settings(
                Settings(drafter="ngram", k=3, temperature=0.0, presence_penalty=1e3)
            )
    late = [event for event in events if isinstance(event, Round) and event.index > 1]
    emitted = [i for event in events if isinstance(event, Round) for i in event.emitted_ids]
    assert late
    before = len(emitted) - sum(one.emitted for one in late)
    fresh = emitted[before:]
    assert len(set(fresh)) == len(fresh)  # each token once: what was emitted before counts too
    assert not set(fresh) & set(emitted[:before])
    (finish,) = [event for event in events if isinstance(event, RunFinished)]
    assert finish.reason is FinishReason.LIMIT
    # two laws in one run: the plain text of the first is no measure for it
    assert not any(isinstance(event, Comparison) for event in events)
