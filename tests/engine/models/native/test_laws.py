"""Laws and draws of the library: the numbers of torch's own, and the rule's verdicts with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from engine.acceptance import accept, residual_law
from engine.errors import DraftscopeError
from engine.laws import laws_of
from engine.models.native.laws import NativeLaws
from engine.models.native.library import Library
from engine.models.plans.compiled import CompiledPlan
from engine.models.plans.eager import EagerPlan
from engine.sampling import Sampling, draw, probabilities

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.compiler

SIZES = (1, 5, 16, 512, 1003, 2600)  # around vectors, and around the stretches of a draw
LAST = 1.0 - 2.0**-53  # the largest uniform


@pytest.fixture(scope="module")
def laws(built_library: Path) -> NativeLaws:
    return NativeLaws(Library(built_library))


def scores(rows: int, size: int, seed: int = 0) -> torch.Tensor:
    return 4 * torch.randn(rows, size, generator=torch.Generator().manual_seed(seed + size))


def sparse(rows: int, size: int, seed: int = 0) -> torch.Tensor:
    """Laws of which two thirds hold nothing."""
    kept = torch.rand(rows, size, generator=torch.Generator().manual_seed(seed)) < 1 / 3
    kept[:, size // 2] = True
    law = torch.softmax(scores(rows, size, seed), dim=-1) * kept
    return law / law.sum(dim=-1, keepdim=True)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("temperature", [1.0, 0.4, 2.5, 1e-3, 1e-45])
def test_a_law_is_torchs_own(laws: NativeLaws, size: int, temperature: float) -> None:
    for sampling in (
        Sampling(temperature),
        Sampling(temperature, top_k=3),
        Sampling(temperature, top_p=0.7),
        Sampling(temperature, min_p=0.2),
    ):
        found = laws.law(scores(4, size), sampling, "target")
        expected = probabilities(scores(4, size), sampling)
        torch.testing.assert_close(found, expected, atol=1e-6, rtol=1e-5)
    wide = laws.law(scores(2, size).double(), Sampling(temperature), "target")
    assert wide.dtype == torch.float64
    assert not laws.takes(wide)


@pytest.mark.parametrize("broken", [float("nan"), float("inf")])
@pytest.mark.parametrize("place", [0, 17, 39])
@pytest.mark.parametrize("side", ["target", "drafter"])
def test_scores_that_are_no_numbers_name_their_side(
    laws: NativeLaws, broken: float, place: int, side: str
) -> None:
    rows = scores(3, 40)
    rows[1, place] = broken
    with pytest.raises(DraftscopeError, match=f"The {side}'s logits are not finite"):
        laws.law(rows, Sampling(1.0), side)


@pytest.mark.parametrize("size", SIZES)
def test_a_draw_is_torchs_own(laws: NativeLaws, size: int) -> None:
    draws = torch.Generator().manual_seed(1)
    for rows in (torch.softmax(scores(3, size), dim=-1), sparse(3, size)):
        uniforms = [0.0, LAST, *torch.rand(300, generator=draws, dtype=torch.float64).tolist()]
        for row, law in enumerate(rows):
            for uniform in uniforms:
                found, chance = laws.draw(rows, row, uniform)
                assert found == draw(law, uniform)
                assert float(law[found]) > 0.0
                assert chance == pytest.approx(float(law[found] / law.sum()), rel=1e-5)


def test_a_uniform_falls_where_the_mass_so_far_first_exceeds_it(laws: NativeLaws) -> None:
    law = torch.zeros(1, 1500)
    law[0, [3, 700, 1400]] = torch.tensor([0.25, 0.5, 0.25])  # exact in binary
    below = 0.25 - 2.0**-54
    for uniform, place in (
        (0.0, 3), (below, 3), (0.25, 700), (0.5, 700), (0.75, 1400), (LAST, 1400)
    ):  # fmt: skip
        assert laws.draw(law, 0, uniform) == (place, float(law[0, place]))
    assert laws.draw(3 * law, 0, 0.3) == (700, 0.5)  # it need not sum to 1
    near = torch.tensor([[0.0, 0.25, 0.0, 0.5, 0.25]])
    assert [laws.draw(near, 0, uniform)[0] for uniform in (below, 0.25, 0.75)] == [1, 3, 4]


@pytest.mark.parametrize("size", SIZES)
def test_a_residual_is_torchs_own(laws: NativeLaws, size: int) -> None:
    p_target = torch.softmax(scores(3, size, 1), dim=-1)
    for q_draft in (torch.softmax(scores(2, size, 2), dim=-1), sparse(2, size, 3)):
        for row in range(2):
            found = laws.residual(p_target, q_draft, row, 0)
            expected = residual_law(p_target[row], q_draft[row])
            torch.testing.assert_close(found[0], expected, atol=1e-6, rtol=1e-5)
    one_hot = torch.zeros(size)
    one_hot[size // 2] = 1.0
    found = laws.residual(p_target, None, 1, size // 2)
    torch.testing.assert_close(found[0], residual_law(p_target[1], one_hot))


def test_where_nothing_is_left_the_residual_is_the_targets_law(laws: NativeLaws) -> None:
    law = torch.softmax(scores(2, 100), dim=-1)
    assert torch.equal(laws.residual(law, law, 1, 5)[0], law[1])
    certain = torch.zeros(1, 100)
    certain[0, 7] = 1.0
    assert torch.equal(laws.residual(certain, None, 0, 7), certain)


@pytest.mark.parametrize("size", [5, 100, 1003])
def test_verdicts_are_those_of_torch(laws: NativeLaws, size: int) -> None:
    draws = torch.Generator().manual_seed(size)
    kinds = set()
    for trial in range(200):
        k = trial % 5
        p_target = torch.softmax(scores(k + 1, size, trial), dim=-1)
        q_draft = None if trial % 3 == 0 else sparse(max(k, 1), size, trial)[:k]
        if q_draft is None:
            tokens = torch.randint(size, (k,), generator=draws).tolist()
        else:
            tokens = [int(row.argmax()) for row in q_draft]
        numbers = torch.rand(2 * k + 1, generator=draws, dtype=torch.float64).tolist()
        given = (p_target, q_draft, tokens, numbers[:k], numbers[k:])
        ours, theirs = accept(*given, laws), accept(*given)
        assert (ours.accepted, ours.closing) == (theirs.accepted, theirs.closing)
        assert ours.p_target == theirs.p_target
        assert ours.q_draft == theirs.q_draft
        assert ours.closing_probability == pytest.approx(theirs.closing_probability, rel=1e-4)
        assert (ours.residual is None) == (theirs.residual is None)
        if ours.residual is not None and theirs.residual is not None:
            torch.testing.assert_close(ours.residual, theirs.residual, atol=1e-6, rtol=1e-4)
        kinds.add((ours.accepted, k))
    assert len(kinds) > 8


def test_a_token_without_mass_in_its_own_law_is_refused(laws: NativeLaws) -> None:
    law, broken = torch.full((2, 4), 0.25), torch.tensor([[0.5, 0.0, 0.5, 0.0]])
    with pytest.raises(ValueError, match="token 1 at 0 has no mass"):
        accept(law, broken, [1], [0.5], [0.5, 0.5], laws)


def test_only_a_plan_with_a_library_has_laws_of_its_own(built_library: Path) -> None:
    assert isinstance(laws_of(CompiledPlan(Library(built_library))), NativeLaws)
    assert laws_of(EagerPlan(torch.device("cpu"))) is None
