"""`check law`: lawful draws follow the target's law, and wrong rules are told, on tiny models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch

import engine.check.toy as toy_module
import engine.decoder as decoder_module
from engine import Session, Settings
from engine.acceptance import Verdict, accept
from engine.check.context import law_after, run_context
from engine.check.fit import LEVEL
from engine.check.law import check_law
from engine.check.toy import PAIRS, Pair, run_pair
from engine.errors import DraftscopeError
from engine.sampling import Sampling, draw
from tests.engine.decoding import decode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from engine.loading import LoadedModel

DRAWS = 300
PROMPT = "xyxyx"  # the tiny target is of several minds there


def softmax_residual(
    p_target: Tensor, q_draft: Tensor | None, tokens: Sequence[int], *uniforms: Sequence[float]
) -> Verdict:
    """A01: the residual is put through a softmax instead of divided by its sum."""
    right = accept(p_target, q_draft, tokens, *uniforms)
    if right.residual is None or q_draft is None:
        return right
    left = (p_target[right.accepted] - q_draft[right.accepted]).clamp(min=0.0)
    law = torch.softmax(left, dim=-1)
    closing = draw(law, uniforms[1][right.accepted])
    return Verdict(right.accepted, closing, right.p_target, right.q_draft, float(law[closing]), law)


def keeps_all(
    p_target: Tensor, q_draft: Tensor | None, tokens: Sequence[int], *uniforms: Sequence[float]
) -> Verdict:
    """Every drafted token is kept: the text follows the drafter."""
    right = accept(p_target, q_draft, tokens, *uniforms)
    k = len(tokens)
    closing = draw(p_target[k], uniforms[1][k])
    return Verdict(k, closing, right.p_target, right.q_draft, float(p_target[k][closing]), None)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_toy_pairs_follow_the_target_and_are_accepted_as_often_as_they_overlap(pair: Pair) -> None:
    result = run_pair(pair, 6_000)
    assert sum(result.counts) == 6_000
    assert result.tokens.follows(1e-3)
    assert result.acceptance.follows(1e-3)
    expected = {"unlike": 0.70, "one-hot drafter": 0.20, "equal": 1.0, "disjoint": 0.0}
    assert result.acceptance.expected == pytest.approx(expected[pair.name])
    assert (result.control is None) == (pair.name == "equal")
    if result.control is not None:
        assert result.control.p_value < 1e-9  # the same test sees the drafter's own law


@pytest.mark.parametrize("wrong", [softmax_residual, keeps_all])
def test_a_wrong_rule_is_told_by_the_toy_pairs(
    wrong: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toy_module, "accept", wrong)
    result = run_pair(PAIRS[0], 5_000)
    assert not result.tokens.follows(1e-6)


def settings(**changes: Any) -> Settings:
    return Settings(**{"drafter": "none", "k": 3, "temperature": 1.5} | changes)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"k": 1, "temperature": 1.2, "top_p": 0.9},
        {"temperature": 2.0, "top_k": 30, "min_p": 0.01, "drafter_temperature": 0.8},
        {"presence_penalty": 1.5, "frequency_penalty": 1.0, "logit_bias": ((121, 7.0),)},
    ],
    ids=repr,
)
def test_rounds_of_a_real_context_follow_the_targets_law(
    session: Session, changes: dict[str, Any]
) -> None:
    drafters = ("model:near", "ngram")
    report = check_law(
        session, drafters, settings(**changes), prompt=PROMPT, draws=DRAWS, toy_draws=100
    )
    assert report.failures == 0
    assert [context.drafter for context in report.contexts] == list(drafters)
    assert report.level == pytest.approx(LEVEL / len(report.tests))
    for context in report.contexts:
        assert context.first.draws == DRAWS
        assert context.first.freedom > 3
        assert context.acceptance is not None
        assert context.acceptance.trials == DRAWS
    near, ngram = report.contexts
    assert near.second is not None
    assert near.second.draws >= 25
    assert near.acceptance is not None
    assert near.acceptance.expected > 0.2
    assert near.first.statistic != ngram.first.statistic
    assert session.pool.pages_held == 0


def test_a_wrong_rule_is_told_by_a_real_context(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoder_module, "accept", keeps_all)
    report = check_law(
        session, ["ngram", "early:1"], settings(), prompt=PROMPT, draws=150, toy_draws=100
    )
    failed = {test.what for test in report.tests if not test.follows}
    assert report.failures == len(failed)
    for name in ("ngram", "early:1"):
        assert {f"{name}, first token", f"{name}, acceptance"} <= failed
    assert not any(what.startswith("toy") for what in failed)  # they ask the rule themselves


def test_a_law_that_only_the_second_token_breaks_is_told(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def later(
        p_target: Tensor, q_draft: Tensor | None, tokens: Sequence[int], *uniforms: Sequence[float]
    ) -> Verdict:
        right = accept(p_target, q_draft, tokens, *uniforms)
        return right if right.accepted != 1 else keeps_all(p_target, q_draft, tokens, *uniforms)

    monkeypatch.setattr(decoder_module, "accept", later)
    report = check_law(
        session,
        ["model:near"],
        settings(drafter_temperature=4.0),
        prompt=PROMPT,
        draws=700,
        toy_draws=100,
    )
    failed = [test.what for test in report.tests if not test.follows]
    assert failed == ["model:near, second token"]


@pytest.mark.parametrize("drafter", ["model:near", "ngram", "early:1"])
def test_a_rewound_round_is_that_of_a_text_of_its_own(
    session: Session, tiny_target: LoadedModel, drafter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.check import context as context_module

    rounds = []
    add = context_module._Rounds.add

    def kept(self: Any, one: Any) -> None:
        rounds.append(one)
        add(self, one)

    monkeypatch.setattr(context_module._Rounds, "add", kept)
    prompt = tiny_target.tokenizer.encode(PROMPT)
    made = session.drafter(drafter)
    assert made is not None
    wanted = settings(drafter=drafter, frequency_penalty=0.5)
    run_context(tiny_target, session.pool, prompt, made, wanted, 12)
    assert len({one.emitted_ids for one in rounds}) > 4
    for seed, one in enumerate(rounds):
        _, (fresh, *_), _ = decode(
            tiny_target,
            made,
            k=3,
            sampling=Sampling.of(wanted),
            count=5,
            seed=seed,
            prompt=prompt,
        )
        assert fresh.emitted_ids == one.emitted_ids
        assert [t.u for t in fresh.drafted] == [t.u for t in one.drafted]
        assert [t.p_target for t in fresh.drafted] == pytest.approx(
            [t.p_target for t in one.drafted], rel=1e-4
        )


def test_the_law_of_a_context_counts_its_output(session: Session, tiny_target: LoadedModel) -> None:
    prompt = tiny_target.tokenizer.encode(PROMPT)
    plain = law_after(tiny_target, session.pool, prompt, (99,), Sampling(1.0))
    fewer = law_after(
        tiny_target, session.pool, prompt, (99,), Sampling(1.0, presence_penalty=50.0)
    )
    assert plain[99] > 0.0
    assert fewer[99] == pytest.approx(0.0, abs=1e-15)
    assert fewer[prompt[0]] == pytest.approx(plain[prompt[0]] / (1 - plain[99]), rel=1e-4)


def test_what_cannot_be_tested_is_said_in_a_sentence(session: Session) -> None:
    with pytest.raises(DraftscopeError, match="choose a temperature above 0"):
        check_law(session, ["ngram"], settings(temperature=0.0), toy_draws=10, draws=10)
    with pytest.raises(DraftscopeError, match="leaves no room"):
        check_law(session, ["ngram"], settings(), prompt="x" * 509, toy_draws=10, draws=10)
    with pytest.raises(DraftscopeError, match="choose a drafter"):
        check_law(session, ["none"], settings(), prompt=PROMPT, toy_draws=10, draws=10)
    with pytest.raises(DraftscopeError, match="k is 40"):
        check_law(session, ["ngram"], settings(k=40), toy_draws=10, draws=10)
