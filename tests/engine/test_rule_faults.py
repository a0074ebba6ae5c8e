"""Wrong rules that people met elsewhere: each would be seen here, and the right one is not it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from scipy import stats

import engine.acceptance as acceptance_module
import engine.decoder as decoder_module
from engine import RunRequest, Session, Settings
from engine.acceptance import accept, residual_law
from engine.loading import make_drafter
from engine.sampling import Sampling, one_hot, probabilities
from engine.trace.events import Round, RunStarted
from engine.trace.statistics import statistics
from tests.engine.decoding import decode
from tests.engine.one_token import P, Q, output_law
from tests.engine.table_model import same_everywhere, table_drafter, table_target

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor

    from engine.loading import LoadedModel

JUST_BELOW_ONE = float(np.nextafter(1.0, 0.0))
REJECTED = 2  # the only token of Q that is ever rejected under P


def soft(p_target: Tensor, q_draft: Tensor) -> Tensor:
    return torch.softmax((p_target - q_draft).clamp(min=0.0), dim=0)


def without_the_rejected_one(p_target: Tensor, q_draft: Tensor) -> Tensor:
    law = p_target.clone()
    law[REJECTED] = 0.0
    return law / law.sum()


@pytest.mark.case("A01", "A11")
@pytest.mark.parametrize(
    ("wrong", "law"),
    [(soft, [0.321, 0.390, 0.290]), (without_the_rejected_one, [0.3875, 0.4125, 0.2])],
)
def test_a_wrong_residual_would_give_another_law(
    monkeypatch: pytest.MonkeyPatch, wrong: object, law: list[float]
) -> None:
    assert output_law(P, Q).tolist() == pytest.approx([0.5, 0.3, 0.2], abs=1e-15)
    monkeypatch.setattr(acceptance_module, "residual_law", wrong)
    assert output_law(P, Q).tolist() == pytest.approx(law, abs=5e-4)


@pytest.mark.case("A02")
def test_an_argmax_scored_with_a_soft_law_would_give_another_law() -> None:
    token = int(Q.argmax())
    rows = torch.stack((P, P))
    laws = []
    for q_draft in (None, Q[None]):
        verdict = accept(rows, q_draft, [token], [JUST_BELOW_ONE], [0.5, 0.5])
        assert verdict.residual is not None
        kept = verdict.acceptance_probabilities[0]
        drafted = one_hot(torch.tensor([token]), 3, torch.float64)[0]
        laws.append((kept * drafted + (1.0 - kept) * verdict.residual).tolist())
    assert laws[0] == pytest.approx([0.5, 0.3, 0.2])
    assert laws[1] == pytest.approx([0.6, 0.0, 0.4])


@pytest.mark.case("A02", "A06")
@pytest.mark.parametrize(
    ("own", "acceptance"), [(None, 0.70), (0.0, 0.20)], ids=["sampling", "argmax"]
)
def test_a_trace_says_how_a_model_drafted_and_its_acceptance_follows(
    exact_target: LoadedModel, own: float | None, acceptance: float
) -> None:
    session = Session(table_target(exact_target, same_everywhere(P.tolist())))
    session.add_drafter("model:table", table_drafter(same_everywhere(Q.tolist())))
    settings = Settings(drafter="model:table", k=1, temperature=1.0, drafter_temperature=own)
    request = RunRequest(prompt="!", raw=True, settings=settings, max_new_tokens=3000, probes=False)
    events = list(session.run(request))
    started = events[0]
    assert isinstance(started, RunStarted)
    assert started.settings.drafter_temperature == own
    assert started.drafter is not None
    assert started.drafter.kind == "model"
    rounds = [event for event in events if isinstance(event, Round)]
    for token in (token for one in rounds for token in one.drafted):
        assert token.laws is not None
        law = dict(zip(token.laws.ids, token.laws.q_draft, strict=True))
        expected = Q.tolist() if own is None else [0.0, 0.0, 1.0]
        assert [law[i] for i in range(3)] == pytest.approx(expected)
        assert token.q_draft == pytest.approx(expected[token.id])
    figures = statistics(events)
    assert figures.tested > 1000
    deviation = (acceptance * (1.0 - acceptance) / figures.tested) ** 0.5
    assert figures.acceptance == pytest.approx(acceptance, abs=4 * deviation)
    counts = np.bincount([token for one in rounds for token in one.emitted_ids], minlength=3)
    assert stats.chisquare(counts, counts.sum() * P.numpy()).pvalue > 1e-3


TARGET_LOGITS = [0.30, 0.25, 0.20, 0.15, 0.10, -2.0, -2.2, -3.0]
DRAFT_LOGITS = [0.10, 0.30, 0.20, 0.25, -0.05, -2.0, -3.0, -2.2]


def tokens_at(like: LoadedModel, sampling: Sampling, count: int, k: int) -> np.ndarray:
    """How often each token came in a text of independent draws, drafted from another law."""
    table = torch.tensor([TARGET_LOGITS] * 8, dtype=torch.float64)
    drafts = torch.tensor([DRAFT_LOGITS] * 8, dtype=torch.float64)
    drafter = table_drafter(drafts) if k else None
    tokens, _, _ = decode(
        table_target(like, table), drafter, k=k, sampling=sampling, count=count, prompt=[0]
    )
    return np.bincount(tokens, minlength=8)


@pytest.mark.case("A05")
@pytest.mark.parametrize(("temperature", "kept"), [(0.1, 4), (1.0, 5)])
def test_both_sides_are_shaped_alike(
    exact_target: LoadedModel, monkeypatch: pytest.MonkeyPatch, temperature: float, kept: int
) -> None:
    # 50,000 tokens would take over 5 s. With 3,000 the standard error of a share is below .01; a
    # target's law that was not shaped puts .05 (at 1.0) and .2 (at 0.1) on tokens that are cut.
    monkeypatch.setattr(decoder_module, "Observer", lambda *_: None)
    sampling = Sampling(temperature, top_p=0.9)
    law = probabilities(torch.tensor([TARGET_LOGITS], dtype=torch.float64), sampling)[0].numpy()
    inside = law > 0.0
    assert int(inside.sum()) == kept
    drafted = tokens_at(exact_target, sampling, 3000, k=3)
    plain = tokens_at(exact_target, sampling, 3000, k=0)
    for counts in (drafted, plain):
        assert not counts[~inside].any()
        assert stats.chisquare(counts[inside], counts.sum() * law[inside]).pvalue > 1e-3
    assert stats.chi2_contingency(np.stack((drafted, plain))[:, inside]).pvalue > 1e-3
    # the fault: the target's law as it is, the drafter's shaped
    monkeypatch.setattr(
        decoder_module, "probabilities", lambda logits, _: torch.softmax(logits, dim=-1)
    )
    assert tokens_at(exact_target, sampling, 500, k=3)[~inside].sum() >= 10


@pytest.mark.case("A08")
def test_a_ratio_of_tiny_probabilities_is_the_chance_to_be_kept() -> None:
    # 1e6 uniforms in one proposal, in rising order: the run of kept tokens ends at the threshold
    count = 1_000_000
    uniforms = np.sort(np.random.default_rng(8).random(count))
    p_target = torch.tensor([1e-9, 1 - 1e-9], dtype=torch.float32)
    q_draft = torch.tensor([1e-7, 1 - 1e-7], dtype=torch.float32)
    verdict = accept(
        p_target.expand(count + 1, 2),
        q_draft.expand(count, 2),
        [0] * count,
        uniforms.tolist(),
        [0.5] * (count + 1),
    )
    assert verdict.accepted == int((uniforms < 0.01).sum())
    assert verdict.accepted / count == pytest.approx(0.01, abs=4e-4)
    assert float(p_target.half()[0]) == 0.0  # the fault: a narrow type has no such probability


@pytest.mark.case("A08")
def test_half_precision_logits_give_tiny_probabilities_all_the_same() -> None:
    logits = torch.tensor([[np.log(1e-9), 0.0]], dtype=torch.float16)
    law = probabilities(logits, Sampling(1.0))
    assert law.dtype == torch.float32
    assert float(law[0, 0]) == pytest.approx(1e-9, rel=0.01)


@pytest.mark.case("A10")
def test_drafted_texts_are_sampled(
    exact_target: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = table_target(exact_target, same_everywhere(P.tolist()))
    drafter = table_drafter(same_everywhere(Q.tolist()))

    def firsts() -> list[int]:
        found = np.zeros(3, dtype=int)
        for seed in range(300):
            tokens, rounds, _ = decode(
                target,
                drafter,
                k=1,
                sampling=Sampling(1.0),
                count=2,
                seed=seed,
                prompt=[0],
            )
            assert rounds[0].drafted
            found[tokens[0]] += 1
        return found.tolist()

    counts = firsts()
    assert min(counts) > 0
    assert stats.chisquare(counts, 300 * P.numpy()).pvalue > 1e-3
    greedy = Sampling(0.0)  # the fault: laws are made, then the argmax is taken
    monkeypatch.setattr(
        decoder_module, "probabilities", lambda logits, _: probabilities(logits, greedy)
    )
    assert firsts() == [300, 0, 0]


@pytest.mark.case("A13")
def test_a_rejection_by_rounding_alone_falls_back_to_the_target() -> None:
    for law in (torch.tensor([0.0, 1.0, 0.0]), torch.full((3,), 1 / 3)):
        assert torch.equal(residual_law(law, law), law)
        left = (law - law).clamp(min=0.0)
        assert bool((left / left.sum()).isnan().all())  # the fault: 0 / 0
        lower = law * (1.0 - 2.0**-23)  # p a rounding below q, everywhere
        rows = torch.stack((lower, lower))
        verdict = accept(rows, law[None], [1], [JUST_BELOW_ONE], [0.4, 0.4])
        assert verdict.accepted == 0
        assert verdict.residual is not None
        assert torch.equal(verdict.residual, lower)
        assert verdict.closing == 1


@pytest.mark.case("A13")
@pytest.mark.parametrize("temperature", [1e-4, 1e-30])
def test_laws_near_temperature_0_are_equal_and_never_reject(
    exact_target: LoadedModel, tiny_folder: Path, temperature: float
) -> None:
    drafter = make_drafter(f"model:{tiny_folder}", exact_target)
    _, rounds, _ = decode(exact_target, drafter, sampling=Sampling(temperature), count=30)
    for one in rounds:
        assert one.rejected == 0
        numbers = [token.p_target for token in one.drafted] + [
            token.q_draft for token in one.drafted
        ]
        assert np.isfinite(np.array(numbers, dtype=float)).all()


@pytest.mark.case("A15")
def test_the_residual_is_that_of_the_rejected_position_and_of_no_other() -> None:
    p_target = torch.tensor(
        [[0.1, 0.6, 0.2, 0.1], [0.1, 0.2, 0.6, 0.1], [0.1, 0.3, 0.3, 0.3], [0.7, 0.1, 0.1, 0.1]],
        dtype=torch.float64,
    )
    q_draft = torch.tensor(
        [[0.4, 0.2, 0.2, 0.2], [0.5, 0.2, 0.1, 0.2], [0.7, 0.1, 0.2, 0.0]], dtype=torch.float64
    )
    residuals = [residual_law(p_target[i], q_draft[i]) for i in range(3)]
    expected = [[0, 1, 0, 0], [0, 0, 1, 0], [0, 1 / 3, 1 / 6, 1 / 2]]
    for rejected in range(3):
        tests = [0.0] * rejected + [0.9] * (3 - rejected)
        verdict = accept(p_target, q_draft, [0, 0, 0], tests, [0.5] * 4)
        assert verdict.accepted == rejected  # 0 among them
        assert verdict.residual is not None
        assert verdict.residual.tolist() == pytest.approx(expected[rejected])
        others = [law for i, law in enumerate(residuals) if i != rejected]
        assert not any(torch.allclose(verdict.residual, law) for law in others)


def test_a_law_of_the_drafter_that_is_no_number_is_refused() -> None:
    broken = torch.tensor([[torch.nan, 0.5, 0.5]], dtype=torch.float64)
    with pytest.raises(ValueError, match="no mass in its own law"):
        accept(torch.stack((P, P)), broken, [0], [0.5], [0.5, 0.5])
