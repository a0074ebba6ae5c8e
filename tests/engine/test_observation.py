"""Laws of a round: the rows worth showing, with every column right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from engine.acceptance import accept, accept_greedy
from engine.drafters.protocol import Proposal
from engine.judgement import Judged
from engine.observation import Observer
from engine.sampling import Sampling, greedy_ids, probabilities

if TYPE_CHECKING:
    from engine.trace.events import Laws

V = 5_000


def piece(token: int) -> bytes:
    return str(token).encode()


def logits(rows: int, seed: int = 0) -> torch.Tensor:
    return 4 * torch.randn(rows, V, generator=torch.Generator().manual_seed(seed))


def sampled(uniforms: list[float], support: torch.Tensor | None = None) -> tuple[Judged, Sampling]:
    """A judged round of k = 2 with unrelated laws."""
    sampling = Sampling(0.8, top_p=0.95)
    scores = logits(3)
    p_target = probabilities(scores, sampling)
    if support is None:
        q_draft = probabilities(logits(2, 1), sampling)
    else:
        q_draft = torch.zeros(2, V)
        q_draft[:, support] = torch.softmax(logits(2, 1)[:, : len(support)], dim=-1)
    tokens = tuple(q_draft.argmax(dim=-1).tolist())
    verdict = accept(p_target, q_draft, tokens, uniforms, [0.5] * 3)
    return Judged(Proposal(tokens, q_draft, support), 10, 0, scores, p_target, verdict), sampling


def check(laws: Laws, name: str, law: torch.Tensor) -> None:
    values = getattr(laws, name)
    assert values == pytest.approx(law[list(laws.ids)].tolist())
    assert getattr(laws, f"rest_{name}") == pytest.approx(1 - sum(values), abs=1e-6)


@pytest.mark.parametrize("support", [None, torch.arange(7, 1000, 3)])
def test_columns_are_the_laws_that_were_drawn_from(support: torch.Tensor | None) -> None:
    judged, sampling = sampled([0.999, 0.999], support)
    assert judged.p_target is not None
    q_draft = judged.proposal.q_draft
    assert q_draft is not None
    assert judged.verdict.accepted == 0
    laws = Observer(8, piece).observe(judged, sampling)
    assert len(laws) == 3
    for row, one in enumerate(laws):
        check(one, "p_raw", torch.softmax(judged.logits[row], dim=-1))
        check(one, "p_target", judged.p_target[row])
        best = judged.p_target[row].topk(8)
        kept = best.indices[best.values > 0.0].tolist()
        assert kept
        assert set(kept) <= set(one.ids)
        assert len(set(one.ids)) == len(one.ids)
        assert list(one.p_raw) == sorted(one.p_raw, reverse=True)
        assert one.pieces == tuple(map(piece, one.ids))
        expected = -(judged.p_target[row].double().xlogy(judged.p_target[row].double())).sum()
        raw = torch.softmax(judged.logits[row].double(), dim=-1)
        assert one.entropy_raw == pytest.approx(float(-raw.xlogy(raw).sum()), abs=1e-4)
        assert one.entropy_target == pytest.approx(float(expected), abs=1e-4)
    for row in range(2):
        check(laws[row], "q_draft", q_draft[row])
        assert judged.proposal.tokens[row] in laws[row].ids
        overlap = float(torch.minimum(judged.p_target[row], q_draft[row]).sum())
        assert laws[row].overlap == pytest.approx(overlap, abs=1e-6)
        entropy = -q_draft[row].double().xlogy(q_draft[row].double()).sum()
        assert laws[row].entropy_draft == pytest.approx(float(entropy), abs=1e-4)
    assert judged.verdict.residual is not None
    check(laws[0], "residual", judged.verdict.residual)
    assert judged.verdict.closing in laws[0].ids
    assert laws[1].residual == laws[2].residual == ()
    assert laws[2].q_draft == ()
    assert laws[2].overlap is None


def test_greedy_laws_are_one_hot_at_the_argmax_and_the_drafted_token() -> None:
    scores = logits(2)
    ids = greedy_ids(scores).tolist()
    token = (ids[0] + 1) % V
    verdict = accept_greedy(ids, [token])
    judged = Judged(Proposal((token,)), 10, 0, scores, None, verdict, tuple(ids))
    first, second = Observer(4, piece).observe(judged, Sampling(0.0))
    assert dict(zip(first.ids, first.p_target, strict=True))[ids[0]] == 1.0
    assert dict(zip(first.ids, first.q_draft, strict=True))[token] == 1.0
    assert dict(zip(first.ids, first.residual, strict=True))[ids[0]] == 1.0
    assert sum(first.p_target) == sum(first.q_draft) == sum(first.residual) == 1.0
    assert first.overlap == 0.0
    assert first.entropy_target == 0.0
    assert first.entropy_raw > 0.0
    assert second.q_draft == ()


def test_a_rejection_that_the_text_never_reached_leaves_no_residual() -> None:
    # the text ended before it: the token is cut, neither tested nor corrected
    judged, sampling = sampled([0.999, 0.999])
    assert judged.verdict.accepted == 0
    reached = Observer(4, piece).observe(judged, sampling)
    cut = Observer(4, piece).observe(judged, sampling, cut=True)
    assert reached[0].residual
    assert all(row.residual == () and row.rest_residual == 0.0 for row in cut)
    ids = [judged.proposal.tokens[0], *reached[0].ids]
    assert set(cut[0].ids) <= set(ids)
    assert cut[1:] == reached[1:]


def test_rows_stand_in_the_order_of_what_is_recorded_of_them() -> None:
    # ids 1 and 2 differ in the ninth digit of p_target, and the other way round in p_raw
    p_target = torch.tensor([[0.5, 0.2 + 1e-9, 0.2, 0.1]], dtype=torch.float64)
    scores = torch.tensor([[0.4, 0.1, 0.3, 0.2]], dtype=torch.float64).log()
    verdict = accept(p_target, None, (), (), [0.1])
    judged = Judged(Proposal(()), 10, 0, scores, p_target, verdict)
    (laws,) = Observer(4, piece).observe(judged, Sampling(0.7))
    keys = [(-p, -raw) for p, raw in zip(laws.p_target, laws.p_raw, strict=True)]
    assert keys == sorted(keys)
    assert laws.ids == (0, 2, 1, 3)


@pytest.mark.parametrize("cut", [False, True])
def test_a_device_sees_what_the_host_sees(cut: bool) -> None:
    # looked at before the host knows whether the text was cut, and without a number read
    for support in (None, torch.arange(7, 1000, 3)):
        for uniforms in ([0.999, 0.999], [0.0, 0.999], [0.0, 0.0]):
            judged, sampling = sampled(uniforms, support)
            observer = Observer(8, piece)
            expected = observer.observe(judged, sampling, cut=cut)
            assert observer.laws(observer.look(judged, sampling), cut=cut) == expected
            row = expected[judged.verdict.accepted]
            known = [judged.logits[judged.verdict.accepted]]
            if judged.verdict.accepted < 2:
                assert judged.proposal.q_draft is not None
                known.append(judged.proposal.q_draft[judged.verdict.accepted])
            tops = {int(i) for law in known for i in law.topk(8).indices}
            shown = set(row.ids) - tops - set(judged.proposal.tokens)
            assert bool(shown) != cut  # the residual's own, which a text that was cut never met


def test_a_greedy_targets_choice_is_shown_however_improbable_it_was() -> None:
    # a bias made it the argmax
    scores = logits(2)
    last = [int(row.argmin()) for row in scores]
    verdict = accept_greedy(last, [3])
    judged = Judged(Proposal((3,)), 10, 0, scores, None, verdict, tuple(last))
    sampling = Sampling(logit_bias=((last[0], 90.0), (last[1], 90.0)))
    observer = Observer(4, piece)
    seen = observer.observe(judged, sampling)
    for row, token in zip(seen, last, strict=True):
        assert dict(zip(row.ids, row.p_target, strict=True))[token] == 1.0
    assert observer.laws(observer.look(judged, sampling), cut=False) == seen
    cut = observer.observe(judged, sampling, cut=True)  # the second row's is not the closing token
    assert cut[1].ids == seen[1].ids
