"""What holds for every trained drafter: the target's text and law, and caches as they must be.

Their weights are random, so hardly a draft is kept: that is what puts each rule to work.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
import torch

from engine.check.context import law_after, run_context
from engine.check.fit import chi_square
from engine.loading import load_model
from engine.sampling import Sampling
from engine.trace.events import Settings
from tests.engine.decoding import PROMPT, decode
from tests.engine.drafters.making import FIRST, SCORED, SHAPES, flat, made

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from engine.loading import LoadedModel

PLANS = ["float64", "float32", "packed", pytest.param("compiled", marks=pytest.mark.compiler)]
COUNT = 24


@pytest.fixture(scope="module", params=PLANS)
def target(
    request: pytest.FixtureRequest,
    tiny_folder: Path,
    exact_target: LoadedModel,
    tiny_target: LoadedModel,
) -> LoadedModel:
    if request.param == "compiled":
        load: Callable[[Path], LoadedModel] = request.getfixturevalue("load_compiled")
        return load(tiny_folder)
    if request.param == "packed":
        return load_model(tiny_folder, device="cpu", plan="packed")
    return exact_target if request.param == "float64" else tiny_target


@pytest.fixture(params=SHAPES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.case("A02")
def test_greedy_text_is_the_plain_targets_for_every_k(
    target: LoadedModel, kind: str, tmp_path: Path
) -> None:
    drafter = made(target, kind, tmp_path)
    plain = decode(target, None, k=0, count=COUNT)[0]
    for k in range(1, 9):
        tokens, rounds, _ = decode(target, drafter, k=k, count=COUNT)
        assert tokens == plain
        assert len(rounds[0].drafted) == k
        assert {token.id for one in rounds for token in one.drafted} <= set(
            range(FIRST, FIRST + SCORED)
        )


def test_slots_and_rows_are_the_texts_after_every_round(
    exact_target: LoadedModel, kind: str, tmp_path: Path
) -> None:
    # what a cache holds hangs on the text alone, and never on what was drafted and dropped
    drafter, fresh = (made(exact_target, kind, tmp_path) for _ in range(2))
    seen = set()
    propose = drafter.propose

    def watched(context, request):  # type: ignore[no-untyped-def]  # a spy
        proposal = propose(context, request)
        drafter.observe(context.tokens)
        fresh.begin()
        fresh.propose(context, request)
        fresh.observe(context.tokens)
        assert drafter.cache is not None
        assert fresh.cache is not None
        length = len(context.tokens) - 1
        assert drafter.cache.length == fresh.cache.length == length
        for layer in range(len(drafter.cache.pool.keys)):
            pairs = zip(
                drafter.cache.view(layer, 0, length),
                fresh.cache.view(layer, 0, length),
                strict=True,
            )
            assert all(float((a - b).abs().max()) < 1e-9 for a, b in pairs)
        seen.add(length)
        return proposal

    drafter.propose = watched  # type: ignore[method-assign]  # a spy
    decode(exact_target, drafter, k=5, sampling=Sampling(1.0), count=40, seed=6)
    assert len(seen) > 20


def test_drafting_twice_at_one_place_gives_one_draft(
    exact_target: LoadedModel, kind: str, tmp_path: Path
) -> None:
    drafter = made(exact_target, kind, tmp_path)
    propose, twice = drafter.propose, 0

    def watched(context, request):  # type: ignore[no-untyped-def]  # a spy
        nonlocal twice
        first = propose(context, request)
        drafter.observe(context.tokens)
        again = propose(context, request)
        assert first.tokens == again.tokens
        assert float((first.q_draft - again.q_draft).abs().max()) < 1e-12
        twice += 1
        return again

    drafter.propose = watched  # type: ignore[method-assign]  # a spy
    decode(exact_target, drafter, k=4, sampling=Sampling(1.0), count=20, seed=6)
    assert twice > 5


@pytest.mark.case("A59")
def test_mass_lies_on_the_scored_ids_and_what_is_drawn_has_some(
    exact_target: LoadedModel, kind: str, tmp_path: Path
) -> None:
    drafter = made(exact_target, kind, tmp_path)
    propose, laws = drafter.propose, []

    def watched(context, request):  # type: ignore[no-untyped-def]  # a spy
        proposal = propose(context, request)
        laws.append((proposal.q_draft, proposal.tokens))
        return proposal

    drafter.propose = watched  # type: ignore[method-assign]  # a spy
    decode(exact_target, drafter, k=3, sampling=Sampling(1.0), count=20)
    outside = torch.ones(258, dtype=torch.bool)
    outside[FIRST : FIRST + SCORED] = False
    for law, tokens in laws:
        assert float(law[:, outside].abs().max()) == 0.0
        assert law.sum(dim=-1).tolist() == pytest.approx([1.0] * len(tokens))
        assert all(float(row[token]) > 0.0 for row, token in zip(law, tokens, strict=True))


@pytest.mark.case("A01")
def test_the_first_two_tokens_of_a_round_follow_the_target(
    tiny_target: LoadedModel, kind: str, tmp_path: Path
) -> None:
    # q_draft is zero for most ids; chi-square against the target's own law at temperature 1
    drafter = flat(tiny_target, kind, tmp_path, PROMPT)
    settings = Settings(drafter=drafter.spec, k=2, temperature=1.0)
    pool = tiny_target.transformer.new_pool()
    found = run_context(tiny_target, pool, PROMPT, drafter, settings, draws=900)
    assert found.drafted == 2.0
    assert found.second is not None
    assert found.acceptance is not None
    assert 0.3 < found.acceptance.measured < 0.8  # drafts were kept, and others rejected
    assert found.second.draws >= 40
    for part in (found.first, found.second, found.acceptance):
        assert part.p_value > 1e-3
    law = torch.zeros(258)
    law[FIRST : FIRST + SCORED] = 1 / SCORED
    drafted = Counter({FIRST + i: 20 for i in range(SCORED)})
    assert chi_square(drafted, law.tolist()).p_value > 0.9  # and the same test sees another law
    own = law_after(tiny_target, pool, PROMPT, (), Sampling(1.0))
    assert chi_square(drafted, own).p_value < 1e-9
