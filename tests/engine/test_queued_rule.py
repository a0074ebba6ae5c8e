"""The rule as tensors: the verdict of `accept`, bit for bit, and no more than was proposed."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.acceptance import Verdict, accept, accept_greedy, residual_law
from engine.queued_rule import (
    QueuedUniforms,
    ReadVerdict,
    accept_greedy_queued,
    accept_queued,
    packet_of,
    read_verdict,
    residual_rows,
)
from engine.sampling import Sampling, draw, drawn_ids, finite_rows, one_hot, probabilities
from tests.engine.host_reads import HostReads
from tests.engine.test_acceptance import laws

UNIFORMS = st.floats(0.0, 1.0, exclude_max=True)


def as_tensors(tests: list[float], closings: list[float], lasts: list[float]) -> QueuedUniforms:
    rows = [torch.tensor(row, dtype=torch.float64) for row in (tests, closings, lasts)]
    return QueuedUniforms(*rows)


def read(
    p_target: torch.Tensor,
    q_draft: torch.Tensor | None,
    ids: list[int],
    sure: list[bool] | None,
    uniforms: QueuedUniforms,
) -> ReadVerdict:
    flags = None if sure is None else torch.tensor(sure, dtype=torch.bool)
    drafted = torch.tensor(ids, dtype=torch.long)
    verdict = accept_queued(p_target, q_draft, drafted, flags, uniforms)
    return read_verdict(packet_of(verdict).read(), verdict.residual)


def assert_same(found: Verdict, expected: Verdict) -> None:
    assert replace(found, residual=None) == replace(expected, residual=None)
    assert (found.residual is None) == (expected.residual is None)
    if found.residual is not None and expected.residual is not None:
        assert torch.equal(found.residual, expected.residual)


@settings(max_examples=300)
@given(st.data())
def test_the_verdict_is_that_of_the_proposal_as_the_host_would_judge_it(
    data: st.DataObject,
) -> None:
    size, k = data.draw(st.integers(2, 5)), data.draw(st.integers(0, 4))
    dtype = data.draw(st.sampled_from([torch.float32, torch.float64]))
    p_target = torch.stack([data.draw(laws(size)) for _ in range(k + 1)]).to(dtype)
    q_draft: torch.Tensor | None = None
    if k and data.draw(st.booleans()):
        q_draft = torch.stack([data.draw(laws(size)) for _ in range(k)]).to(dtype)
        if data.draw(st.booleans()):
            q_draft[0] = p_target[0]
    ids = []
    for i in range(k):
        possible = range(size) if q_draft is None else q_draft[i].nonzero()[:, 0].tolist()
        ids.append(data.draw(st.sampled_from(list(possible))))
    sure = data.draw(st.none() | st.lists(st.booleans(), min_size=k, max_size=k))
    many = st.lists(UNIFORMS, min_size=k, max_size=k)
    tests, corrections = data.draw(many), data.draw(many)
    lasts = [*data.draw(many), data.draw(UNIFORMS)]
    found = read(p_target, q_draft, ids, sure, as_tensors(tests, corrections, lasts))
    count = k if sure is None or all(sure) else sure.index(False)
    assert found.tokens == tuple(ids[:count])
    expected = accept(
        p_target[: count + 1],
        None if q_draft is None else q_draft[:count],
        ids[:count],
        tests[:count],
        [*corrections[:count], lasts[count]],
    )
    assert_same(found.verdict, expected)


@given(st.data())
def test_the_greedy_verdict_is_that_of_the_proposal_too(data: st.DataObject) -> None:
    k = data.draw(st.integers(0, 4))
    ids = st.integers(0, 2)
    target_ids = data.draw(st.lists(ids, min_size=k + 1, max_size=k + 1))
    tokens = data.draw(st.lists(ids, min_size=k, max_size=k))
    sure = data.draw(st.none() | st.lists(st.booleans(), min_size=k, max_size=k))
    soft = torch.rand(k, 3, generator=torch.Generator().manual_seed(k)) + 0.1
    q_draft = soft if k and data.draw(st.booleans()) else None
    verdict = accept_greedy_queued(
        torch.tensor(target_ids),
        q_draft,
        torch.tensor(tokens, dtype=torch.long),
        None if sure is None else torch.tensor(sure, dtype=torch.bool),
    )
    found = read_verdict(packet_of(verdict).read(), verdict.residual)
    count = k if sure is None or all(sure) else sure.index(False)
    assert found.target_ids == tuple(target_ids[: count + 1])
    kept = None if q_draft is None else q_draft[:count]
    assert_same(found.verdict, accept_greedy(target_ids[: count + 1], tokens[:count], kept))


def test_what_was_drawn_past_the_end_of_a_proposal_decides_nothing() -> None:
    p_target = torch.full((4, 3), 1 / 3)
    uniforms = as_tensors([0.0] * 3, [0.9] * 3, [0.1, 0.5, 0.9, 0.1])
    q_draft = torch.full((3, 3), 1 / 3)
    for past in range(3):
        found = read(p_target, q_draft, [2, past, past], [True, False, True], uniforms)
        assert found.tokens == (2,)
        assert (found.verdict.accepted, found.verdict.closing) == (1, 1)
        assert found.verdict.residual is None
    # though it was impossible in its own law, which would end the run if it were proposed
    q_draft[1:] = torch.tensor([1.0, 0.0, 0.0])
    assert read(p_target, q_draft, [2, 1, 1], [True, False, True], uniforms).tokens == (2,)
    with pytest.raises(ValueError, match="drafted token 1 at 1 has no mass in its own law"):
        read(p_target, q_draft, [2, 1, 1], None, uniforms)


def test_a_residual_without_mass_is_the_targets_law() -> None:
    law = torch.tensor([[0.0, 1.0, 0.0], [1 / 3, 1 / 3, 1 / 3], [0.5, 0.3, 0.2]])
    below = law * (1.0 - 2.0**-23)
    other = torch.tensor([[0.0, 1.0, 0.0], [1 / 3, 1 / 3, 1 / 3], [0.2, 0.3, 0.5]])
    found = residual_rows(below, other)
    for row in range(3):
        assert torch.equal(found[row], residual_law(below[row], other[row]))
    assert torch.equal(found[:2], below[:2])


@given(st.data())
def test_rows_are_drawn_from_as_one_law_is(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 6))
    rows = [data.draw(laws(size)) if size > 1 else torch.ones(1) for _ in range(3)]
    edge = st.sampled_from([0.0, math.nextafter(1.0, 0.0)])
    uniforms = data.draw(st.lists(UNIFORMS | edge, min_size=3, max_size=3))
    for dtype in (torch.float32, torch.float64):
        law = torch.stack([row.to(dtype) for row in rows])
        found = drawn_ids(law, torch.tensor(uniforms, dtype=torch.float64)).tolist()
        assert found == [draw(row, u) for row, u in zip(law, uniforms, strict=True)]
        assert all(float(row[i]) > 0.0 for row, i in zip(law, found, strict=True))


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_law_of_no_numbers_gives_an_id_and_says_so(value: float) -> None:
    scores = torch.tensor([[0.1, 0.2, value], [0.3, 0.1, 0.2]])
    for sampling in (Sampling(1.0), Sampling(0.7, top_k=2, top_p=0.9, min_p=0.1)):
        law = probabilities(scores, sampling, queued=True)
        assert finite_rows(law).tolist() == [False, True]
        ids = drawn_ids(law, torch.tensor([0.9, 0.1], dtype=torch.float64))
        assert 0 <= int(ids[0]) < 3


@pytest.mark.parametrize("top_p", [1e-6, 0.3, 0.9, 0.999999])
def test_a_nucleus_that_nobody_looks_into_is_the_same(
    top_p: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = torch.Generator().manual_seed(4)
    for scale in (0.0, 0.01, 1.0, 6.0):
        scores = scale * torch.randn(3, 5_000, generator=generator)
        read = probabilities(scores, Sampling(1.0, top_p=top_p))
        with HostReads(monkeypatch) as counted:
            queued = probabilities(scores, Sampling(1.0, top_p=top_p), queued=True)
        assert counted.reads == []
        assert torch.equal(read, queued)


def test_tokens_of_a_one_hot_draft_are_scored_as_such() -> None:
    p_target = torch.tensor([[0.5, 0.3, 0.2]] * 2, dtype=torch.float64)
    uniforms = as_tensors([0.21], [0.5], [0.5, 0.5])
    soft = one_hot(torch.tensor([2]), 3, torch.float64)
    for q_draft in (None, soft):
        found = read(p_target, q_draft, [2], None, uniforms).verdict
        assert (found.accepted, found.q_draft) == (0, (1.0,))
        assert found.residual is not None
        assert found.residual.tolist() == pytest.approx([0.625, 0.375, 0.0])
