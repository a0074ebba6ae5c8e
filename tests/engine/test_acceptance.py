"""The rule: the law of the text is the target's, whatever the drafter."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from engine.acceptance import accept, accept_greedy, residual_law
from engine.sampling import one_hot
from tests.engine.one_token import P, Q, output_law


@st.composite
def laws(draw: st.DrawFn, size: int) -> torch.Tensor:
    """A law over `size` tokens: spread, one-hot, with zeros, or with tiny masses."""
    kind = draw(st.sampled_from(["spread", "one-hot", "zeros", "tiny"]))
    if kind == "one-hot":
        return one_hot(torch.tensor([draw(st.integers(0, size - 1))]), size, torch.float64)[0]
    smallest = {"spread": 0.05, "zeros": 0.0, "tiny": 1e-30}[kind]
    masses = draw(st.lists(st.floats(smallest, 1.0), min_size=size, max_size=size))
    if kind == "zeros":
        masses[draw(st.integers(0, size - 1))] = 1.0
    law = torch.tensor(masses, dtype=torch.float64)
    return law / law.sum()


@st.composite
def pairs(draw: st.DrawFn) -> tuple[torch.Tensor, torch.Tensor]:
    """Two laws over one vocabulary: unrelated, equal, or disjoint."""
    size = draw(st.integers(2, 6))
    p_target, q_draft = draw(laws(size)), draw(laws(size))
    kind = draw(st.sampled_from(["unrelated", "equal", "disjoint"]))
    if kind == "equal":
        return p_target, p_target.clone()
    if kind == "disjoint":
        half = torch.arange(size) < draw(st.integers(1, size - 1))
        p_target = torch.where(half, p_target + 0.1, 0.0)
        q_draft = torch.where(half, 0.0, q_draft + 0.1)
        return p_target / p_target.sum(), q_draft / q_draft.sum()
    return p_target, q_draft


@given(pairs())
def test_output_law_equals_target(pair: tuple[torch.Tensor, torch.Tensor]) -> None:
    p_target, q_draft = pair
    assert float((output_law(p_target, q_draft) - p_target).abs().max()) < 1e-12


@given(pairs(), st.floats(0.0, 1.0, exclude_max=True))
def test_a_drafted_token_is_kept_below_the_threshold_and_only_there(
    pair: tuple[torch.Tensor, torch.Tensor], u: float
) -> None:
    p_target, q_draft = pair
    token = int(q_draft.argmax())
    verdict = accept(torch.stack((p_target, p_target)), q_draft[None], [token], [u], [0.1, 0.1])
    threshold = float(p_target[token]) / float(q_draft[token])
    if abs(u - threshold) > 1e-12:
        assert (verdict.accepted == 1) == (u < threshold)


@pytest.mark.case("A01", "A11")
def test_residual_is_the_difference_divided_by_its_sum() -> None:
    # no softmax of the difference, q subtracted everywhere
    assert residual_law(P, Q).tolist() == pytest.approx([1.0, 0.0, 0.0])
    assert output_law(P, Q).tolist() == pytest.approx([0.5, 0.3, 0.2], abs=1e-15)


@pytest.mark.case("A01", "A06", "A11")
def test_one_token_rounds_follow_the_target() -> None:
    # By drawing. 200,000 rounds would take over 5 s; the standard error of each share is below
    # .0023 here, and the wrong rules of test_rule_faults.py are at least 45 of them away.
    generator = np.random.default_rng(7)
    count = 50_000
    drafted = generator.choice(3, count, p=Q.numpy())
    uniforms = generator.random((2, count))
    counts = np.zeros(3)
    accepted = 0
    rows = torch.stack((P, P))
    for token, u, closing in zip(drafted, *uniforms, strict=True):
        verdict = accept(rows, Q[None], [int(token)], [u], [closing, closing])
        accepted += verdict.accepted
        counts[int(token) if verdict.accepted else verdict.closing] += 1
    assert stats.chisquare(counts, count * P.numpy()).pvalue > 1e-3
    assert accepted / count == pytest.approx(0.70, abs=4 * 0.0021)  # sum(min(p, q))


@pytest.mark.case("A02", "A06")
def test_a_greedy_drafter_is_scored_with_a_one_hot_law() -> None:
    # its token is kept with probability p_target, not p_target / q_draft
    token = int(Q.argmax())
    rows = torch.stack((P, P))
    kept = accept(rows, None, [token], [0.19], [0.5, 0.5])
    refused = accept(rows, None, [token], [0.21], [0.5, 0.5])
    assert (kept.accepted, refused.accepted) == (1, 0)
    assert refused.residual is not None
    assert refused.residual.tolist() == pytest.approx([0.625, 0.375, 0.0])
    law = 0.2 * torch.tensor([0.0, 0.0, 1.0]) + 0.8 * refused.residual
    assert law.tolist() == pytest.approx(P.tolist())


@pytest.mark.case("A13")
def test_equal_laws_never_reject_and_never_make_nan() -> None:
    # one-hot and uniform
    for law in (torch.tensor([0.0, 1.0, 0.0]), torch.full((3,), 1 / 3)):
        rows = torch.stack((law, law))
        verdict = accept(rows, law[None], [1], [np.nextafter(1.0, 0.0)], [0.4, 0.4])
        assert verdict.accepted == 1
        assert torch.equal(residual_law(law, law), law)


@pytest.mark.case("A15")
def test_residual_comes_from_the_row_of_the_rejection() -> None:
    # three different rows, rejected at each in turn
    p_target = torch.eye(4, dtype=torch.float64)[[0, 1, 2, 3]]
    q_draft = torch.tensor([[0.5, 0.0, 0.0, 0.5]] * 3, dtype=torch.float64)
    for rejected in range(3):
        rows = p_target.clone()
        for i in range(rejected):
            rows[i] = torch.tensor([0.0, 0.0, 0.0, 1.0])
        rows[rejected] = torch.eye(4, dtype=torch.float64)[rejected]
        verdict = accept(rows, q_draft, [3, 3, 3], [0.9] * 3, [0.5] * 4)
        assert verdict.accepted == rejected
        assert verdict.closing == rejected


@pytest.mark.case("A08")
@pytest.mark.parametrize(("u", "kept"), [(0.0099, True), (0.0101, False)])
def test_tiny_probabilities_keep_their_ratio(u: float, kept: bool) -> None:
    # p = 1e-9, q = 1e-7 is kept with probability .01
    p_target = torch.tensor([1e-9, 1 - 1e-9], dtype=torch.float32)
    q_draft = torch.tensor([1e-7, 1 - 1e-7], dtype=torch.float32)
    verdict = accept(torch.stack((p_target, p_target)), q_draft[None], [0], [u], [0.5, 0.5])
    assert (verdict.accepted == 1) is kept


def test_every_test_and_every_closing_token_has_its_own_uniform() -> None:
    half = torch.tensor([0.5, 0.5, 0.0, 0.0], dtype=torch.float64)
    p_target = torch.full((4, 4), 0.25, dtype=torch.float64)
    closings = [0.1, 0.9, 0.3, 0.6]  # ids 2, 3, 2 of the residual [0, 0, .5, .5]; id 2 of a row
    for rejected, closing in enumerate((2, 3, 2)):
        tests = [0.4] * rejected + [0.6] + [0.4] * (2 - rejected)
        verdict = accept(p_target, half.expand(3, 4), [0, 1, 0], tests, closings)
        assert (verdict.accepted, verdict.closing) == (rejected, closing)
    verdict = accept(p_target, half.expand(3, 4), [0, 1, 0], [0.4] * 3, closings)
    assert (verdict.accepted, verdict.closing) == (3, 2)


def test_a_token_without_mass_in_its_own_law_is_refused() -> None:
    with pytest.raises(ValueError, match="no mass"):
        accept(torch.stack((P, P)), torch.tensor([[1.0, 0.0, 0.0]]), [1], [0.5], [0.5, 0.5])


def test_greedy_keeps_tokens_while_each_is_the_argmax() -> None:
    verdict = accept_greedy([4, 5, 6, 7], [4, 5, 9])
    assert (verdict.accepted, verdict.closing) == (2, 6)
    assert verdict.p_target == (1.0, 1.0, 0.0)
    assert accept_greedy([4, 5, 6, 7], [4, 5, 6]).closing == 7
    assert accept_greedy([4], []).closing == 4


@given(st.data())
def test_greedy_is_the_rule_on_one_hot_laws(data: st.DataObject) -> None:
    k = data.draw(st.integers(0, 4))
    ids = st.integers(0, 3)
    target_ids = data.draw(st.lists(ids, min_size=k + 1, max_size=k + 1))
    tokens = data.draw(st.lists(ids, min_size=k, max_size=k))
    uniforms = data.draw(st.lists(st.floats(0, 1, exclude_max=True), min_size=k, max_size=k))
    law = one_hot(torch.tensor(target_ids), 4)
    general = accept(law, None, tokens, uniforms, [0.5] * (k + 1))
    greedy = accept_greedy(target_ids, tokens)
    assert (general.accepted, general.closing) == (greedy.accepted, greedy.closing)
