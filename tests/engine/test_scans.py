"""What is looked for along the vocabulary: by torch and by the compiled plan's library, alike."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from engine.models.native.library import Library
from engine.models.native.scans import NativeScans
from engine.sampling import greedy_ids
from engine.scans import Scans, TorchScans, entropies, softmax_entropies, top_ids

if TYPE_CHECKING:
    from pathlib import Path

INF, NAN = float("inf"), float("nan")


@pytest.fixture(
    scope="module", params=["torch", pytest.param("library", marks=pytest.mark.compiler)]
)
def scans(request: pytest.FixtureRequest) -> Scans:
    if request.param == "torch":
        return TorchScans()
    path: Path = request.getfixturevalue("built_library")
    return NativeScans(Library(path))


def rows(count: int, width: int, seed: int = 3) -> torch.Tensor:
    return 5 * torch.randn(count, width, generator=torch.Generator().manual_seed(seed))


@given(
    st.integers(1, 3),
    st.integers(1, 12),
    st.sampled_from([40, 1000, 3000, 5000]),
    st.integers(0, 99),
)
def test_the_top_by_blocks_is_the_top(rows: int, count: int, vocabulary: int, seed: int) -> None:
    law = torch.rand(rows, vocabulary, generator=torch.Generator().manual_seed(seed))
    ours = law.gather(1, top_ids(law, count)).tolist()
    assert ours == law.topk(count, dim=-1).values.tolist()


def test_entropies_are_right_at_the_ends() -> None:
    flat = torch.full((1, 64), 1 / 64)
    sure = torch.eye(64)[:1]
    assert entropies(flat).tolist() == pytest.approx([math.log(64)], abs=1e-5)
    assert entropies(sure).tolist() == [0.0]
    scores = rows(2, 300)
    law = torch.softmax(scores, dim=-1)
    assert softmax_entropies(scores, law, law.argmax(dim=-1)[:, None]).tolist() == pytest.approx(
        entropies(law).tolist(), abs=1e-4
    )


@pytest.mark.parametrize("width", [1, 7, 16, 40, 1000, 5003])
def test_the_largest_is_the_first_maximum(scans: Scans, width: int) -> None:
    given_rows = rows(4, width)
    given_rows[1] = 2.0  # all alike
    given_rows[2, width // 2 :] = given_rows[2].max() + 1  # alike from the middle on
    values, ids = scans.largest(given_rows)
    assert values == given_rows.amax(dim=-1).tolist()
    assert ids == greedy_ids(given_rows).tolist()
    assert ids[1] == 0
    assert ids[2] == width // 2


@pytest.mark.parametrize("width", [5, 40, 1000])
@pytest.mark.parametrize("place", [0, 3, -1])
def test_what_is_no_number_comes_before_any_number(scans: Scans, width: int, place: int) -> None:
    given_rows = rows(3, width)
    given_rows[0, place] = NAN
    given_rows[1, place] = INF
    given_rows[2, place] = -INF  # a token that can never come
    values, ids = scans.largest(given_rows)
    assert math.isnan(values[0])
    assert ids[0] == place % width
    assert values[1] == INF
    assert ids[1] == place % width
    assert values[2] == float(given_rows[2].max())
    assert ids[2] != place % width


def test_rows_that_are_all_impossible_have_an_infinite_largest(scans: Scans) -> None:
    values, _ = scans.largest(torch.full((1, 50), -INF))
    assert values == [-INF]


@pytest.mark.parametrize("count", [1, 8, 40, 300])
@pytest.mark.parametrize("width", [1, 9, 1000, 5003])
@pytest.mark.parametrize("given_law", [False, True])
def test_a_look_is_softmax_its_top_and_its_entropy(
    scans: Scans, count: int, width: int, given_law: bool
) -> None:
    logits = rows(3, width)
    expected = torch.softmax(logits.double(), dim=-1)
    law = expected.float() if given_law else None
    seen = scans.look(logits, count, law=law)
    torch.testing.assert_close(seen.law.double(), expected, atol=1e-7, rtol=1e-5)
    assert seen.top.shape == (3, min(count, width))
    assert seen.law.gather(1, seen.top).tolist() == seen.law.topk(min(count, width)).values.tolist()
    exact = -(expected * expected.clamp(min=1e-300).log()).sum(dim=-1)
    torch.testing.assert_close(seen.entropies.double(), exact, atol=2e-5, rtol=1e-5)


def test_a_look_writes_where_it_is_told_to_and_leaves_what_it_was_given(scans: Scans) -> None:
    logits = rows(2, 100)
    before, out = logits.clone(), torch.zeros(2, 100)
    seen = scans.look(logits, 4, out=out)
    assert seen.law.data_ptr() == out.data_ptr()
    law = seen.law.clone()
    again = scans.look(logits, 4, law=law)
    assert again.law is law
    assert torch.equal(law, out)
    assert torch.equal(logits, before)


def test_far_logits_have_no_mass_and_spoil_nothing(scans: Scans) -> None:
    logits = torch.tensor([[0.0, -50.0, -200.0, -1e30] * 20])
    seen = scans.look(logits, 3)
    assert torch.isfinite(seen.law).all()
    assert torch.isfinite(seen.entropies).all()
    assert float(seen.law.sum()) == pytest.approx(1.0, abs=1e-6)
    assert not seen.law[0, 3::4].any()


@pytest.mark.compiler
def test_what_the_library_does_not_take_is_left_to_torch(built_library: Path) -> None:
    scans = NativeScans(Library(built_library))
    wide = rows(2, 64).double()
    assert scans.largest(wide)[1] == greedy_ids(wide).tolist()
    assert scans.look(wide, 4).law.dtype == torch.float64
    apart = rows(2, 128)[:, ::2]  # not one after another in memory
    assert scans.largest(apart)[1] == greedy_ids(apart).tolist()
    torch.testing.assert_close(scans.look(apart, 4).law, torch.softmax(apart, dim=-1))


@pytest.mark.parametrize("width", [1, 9, 1000, 5003])
@pytest.mark.parametrize("kept", [1.0, 0.01])
def test_a_law_is_described_by_its_top_and_its_entropy(
    scans: Scans, width: int, kept: float
) -> None:
    law = torch.softmax(rows(3, width), dim=-1)
    law = law * (torch.rand(3, width, generator=torch.Generator().manual_seed(1)) < kept)
    law[:, 0] += 1e-3
    law[2] = 0.0
    law[2, width // 2] = 1.0  # one-hot
    law = law / law.sum(dim=-1, keepdim=True)
    before = law.clone()
    described = scans.describe(law, 8)
    assert torch.equal(law, before)
    wide = law.double()
    exact = -(wide * wide.clamp(min=1e-300).log()).sum(dim=-1)
    torch.testing.assert_close(described.entropies.double(), exact, atol=2e-6, rtol=2e-6)
    assert float(described.entropies[2]) == pytest.approx(0.0, abs=1e-7)
    count = min(8, width)
    assert law.gather(1, described.top).tolist() == law.topk(count).values.tolist()
    assert torch.equal(law.gather(1, scans.top(law, 8)), law.gather(1, described.top))
