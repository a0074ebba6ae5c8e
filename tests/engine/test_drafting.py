"""How a draft grows: its own temperature, when it stops, and what is recorded of both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from scipy.stats import chisquare

from engine import RunRequest, Session, Settings
from engine.drafters.drafting import Draft
from engine.drafters.protocol import Context, DraftRequest
from engine.loading import make_drafter
from engine.sampling import Sampling, probabilities
from engine.sequence import Sequence
from engine.trace.events import DraftEnd, Fate, FinishReason, Round, RunFinished
from tests.engine.decoding import PROMPT, Scripted, decode

if TYPE_CHECKING:
    from pathlib import Path

    from engine.drafters.protocol import Drafter
    from engine.loading import LoadedModel

CONTEXT = Context([1, 2], torch.empty(1, 1))


@pytest.fixture
def near(exact_target: LoadedModel, near_folder: Path) -> Drafter:
    made = make_drafter(f"model:{near_folder}", exact_target)
    assert made is not None
    return made


@pytest.mark.case("A09")
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_what_is_scored_is_what_was_drawn_from(
    monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype
) -> None:
    # one tensor: drawn from, and handed over as q_draft; never in a type narrower than float32
    drawn: list[torch.Tensor] = []

    def spy(law: torch.Tensor, uniform: float) -> int:
        drawn.append(law)
        return int(law.argmax())

    monkeypatch.setattr("engine.drafters.drafting.draw", spy)
    logits = torch.randn(1, 50, generator=torch.Generator().manual_seed(3)).to(dtype)
    draft = Draft(CONTEXT, DraftRequest(1, Sampling(0.9), [0.5]), 50)
    draft.extend(logits)
    scored = draft.proposal().q_draft
    assert scored is not None
    assert scored.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    assert torch.equal(scored[0], drawn[0])


@pytest.mark.case("A09")
def test_tokens_of_half_precision_logits_follow_their_law() -> None:
    logits = torch.tensor([[0.3, 1.1, -0.4, 0.9]], dtype=torch.bfloat16)
    uniforms = np.random.default_rng(5).random(20_000)
    drawn = []
    law = None
    for uniform in uniforms:
        draft = Draft(CONTEXT, DraftRequest(1, Sampling(0.7), [float(uniform)]), 4)
        drawn.append(draft.extend(logits))
        law = draft.proposal().q_draft if law is None else law
    assert law is not None
    counts = np.bincount(drawn, minlength=4)
    exact = law[0].double()
    assert chisquare(counts, (exact / exact.sum()).numpy() * len(uniforms)).pvalue > 0.001


@pytest.mark.case("A52")
def test_a_greedy_drafter_drafts_and_its_law_is_one_hot(
    exact_target: LoadedModel, near: Drafter
) -> None:
    _, rounds, _ = decode(exact_target, near, k=3)
    assert all(len(one.drafted) == 3 for one in rounds if one.draft_end is None)
    assert sum(len(one.drafted) for one in rounds) > 20
    assert all(token.q_draft == 1.0 for one in rounds for token in one.drafted)
    # and under a target that samples
    _, rounds, _ = decode(
        exact_target, near, k=3, sampling=Sampling(1.0), drafter_sampling=Sampling(0.0), seed=1
    )
    drafted = [token for one in rounds for token in one.drafted]
    assert len(drafted) > 20
    assert all(token.q_draft == 1.0 for token in drafted)
    assert {token.fate for token in drafted} >= {Fate.ACCEPTED, Fate.REJECTED}


@pytest.mark.parametrize("own", [0.0, 0.3, 1.0, 3.0])
def test_a_drafters_own_temperature_changes_no_greedy_text(
    exact_target: LoadedModel, near: Drafter, own: float
) -> None:
    plain = decode(exact_target, None, k=0, count=40)[0]
    tokens, rounds, _ = decode(
        exact_target, near, k=4, count=40, drafter_sampling=Sampling(own), seed=3
    )
    assert tokens == plain
    for one in rounds:
        for token in one.drafted:
            assert token.laws is not None
            assert token.u is None  # a one-hot target leaves nothing to the uniform
            assert token.p_target in (0.0, 1.0)
            best = token.laws.ids[token.laws.p_target.index(1.0)]
            at_best = token.laws.q_draft[token.laws.ids.index(best)]
            assert token.laws.overlap == pytest.approx(at_best, abs=1e-6)
            if token.fate is Fate.ACCEPTED:
                assert token.acceptance_probability == 1.0
            if own:
                shown = token.laws.q_draft[token.laws.ids.index(token.id)]
                assert token.q_draft == pytest.approx(shown, abs=1e-6)
                assert token.laws.entropy_draft > 0.0
    soft = [token.q_draft for one in rounds for token in one.drafted]
    assert all(q == 1.0 for q in soft) == (own == 0.0)


def test_a_drafters_own_temperature_keeps_the_targets_law(
    exact_target: LoadedModel, near: Drafter
) -> None:
    # real rounds from one context; the first token of each against the target's own law
    target = exact_target.transformer
    sampling = Sampling(0.35)
    sequence = Sequence(target, target.new_pool(), PROMPT)
    sequence.prefill()
    with torch.inference_mode():
        logits = target.logits(target.forward(PROMPT[-1:], sequence.cache))
    law = probabilities(logits, sampling)[0].numpy()
    draws = 600
    first = [
        decode(
            exact_target, near, k=2, count=2, sampling=sampling, seed=seed,
            drafter_sampling=Sampling(1.2),
        )[0][0]
        for seed in range(draws)
    ]  # fmt: skip
    expected = law * draws
    large = np.flatnonzero(expected >= 5)
    counts = np.bincount(first, minlength=len(law))
    observed = np.append(counts[large], draws - counts[large].sum())
    wanted = np.append(expected[large], draws - expected[large].sum())
    assert len(large) >= 2
    assert chisquare(observed, wanted).pvalue > 0.001


def test_a_draft_stops_before_it_draws_a_token_that_it_is_unsure_of(
    exact_target: LoadedModel, near: Drafter
) -> None:
    free, _, _ = decode(exact_target, near, k=6, count=40)
    tokens, rounds, _ = decode(exact_target, near, k=6, count=40, confidence=0.25)
    assert tokens == free  # greedy: the length of a draft decides nothing
    lengths = {len(one.drafted) for one in rounds}
    assert len(lengths) > 2
    for one in rounds:
        room = len(PROMPT) + 40 - one.position - 1
        assert (one.draft_end is DraftEnd.UNSURE) == (len(one.drafted) < min(6, room))
        assert one.k == 6


@pytest.mark.parametrize("k_min", [0, 2, 6])
def test_the_least_length_is_drafted_however_unsure(
    exact_target: LoadedModel, near: Drafter, k_min: int
) -> None:
    _, rounds, _ = decode(
        exact_target, near, k=6, count=60, sampling=Sampling(1.0), confidence=1.0, k_min=k_min
    )
    for one in rounds:
        assert len(one.drafted) == min(k_min, len(PROMPT) + 60 - one.position - 1)
    if k_min == 0:
        assert all(one.closing is not None and one.closing.kind == "plain" for one in rounds)


def test_whether_to_draw_depends_on_the_law_and_never_on_the_draw() -> None:
    # a token once drawn is in the proposal: the same law ends a draft whatever the uniforms
    sure, unsure = torch.tensor([[9.0, 0.0, 0.0]]), torch.tensor([[1.0, 1.0, 0.9]])
    for uniform in (0.0, 0.4, 0.999999):
        request = DraftRequest(3, Sampling(2.0), [uniform] * 3, 0, 0.6)
        draft = Draft(CONTEXT, request, 3)
        assert draft.extend(sure) is not None
        assert draft.extend(unsure) is None
        proposal = draft.proposal()
        assert len(proposal.tokens) == 1
        assert proposal.end is DraftEnd.UNSURE


def test_confidence_keeps_the_targets_law(exact_target: LoadedModel, near: Drafter) -> None:
    # 600 runs of three tokens: the law of the third, where drafts end early or not by the context
    def third(**choice: float) -> np.ndarray:
        draws = [
            decode(
                exact_target, near if choice else None, k=3, count=3, sampling=Sampling(0.25),
                seed=seed + (0 if choice else 10_000), **choice,
            )[0][2]
            for seed in range(500)
        ]  # fmt: skip
        return np.bincount(draws, minlength=272)

    early, plain = third(confidence=0.3), third()
    from scipy.stats import chi2_contingency

    common = (early + plain) >= 10
    table = np.array(
        [np.append(counts[common], counts[~common].sum()) for counts in (early, plain)]
    )
    table = table[:, table.sum(axis=0) > 0]
    assert table.shape[1] >= 3
    assert chi2_contingency(table).pvalue > 0.001


def test_drafts_say_why_they_are_short(exact_target: LoadedModel, near: Drafter) -> None:
    _, rounds, _ = decode(exact_target, near, k=6, count=20)
    for one in rounds:
        assert one.draft_end is (None if len(one.drafted) == 6 else DraftEnd.LIMIT)
    assert len({one.draft_end for one in rounds}) == 2
    _, rounds, _ = decode(exact_target, near, k=6, count=1)
    assert rounds[0].draft_end is DraftEnd.LIMIT
    assert not rounds[0].drafted
    _, rounds, _ = decode(
        exact_target, make_drafter("ngram", exact_target), k=4, count=8, prompt=[7, 8, 9]
    )
    assert rounds[0].draft_end is DraftEnd.NO_MATCH
    _, rounds, _ = decode(exact_target, None, k=4, count=4)
    assert all(one.draft_end is None for one in rounds)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("broken", [float("nan"), float("inf")])
def test_a_drafters_logits_that_are_no_numbers_end_the_run_with_its_side_named(
    exact_target: LoadedModel, near_folder: Path, monkeypatch: pytest.MonkeyPatch,
    temperature: float, broken: float,
) -> None:  # fmt: skip
    session = Session(exact_target)
    spec = f"model:{near_folder}"
    drafter = session.drafter(spec)
    model = drafter._model  # type: ignore[union-attr]  # a small model
    logits = model.logits

    def spoilt(hidden: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = logits(hidden)
        found[0, 5] = broken
        return found

    monkeypatch.setattr(model, "logits", spoilt)
    settings = Settings(drafter=spec, k=3, temperature=temperature)
    events = list(session.run(RunRequest(prompt="hello", settings=settings)))
    assert isinstance(events[-1], RunFinished)
    assert events[-1].reason is FinishReason.ERROR
    assert "drafter's logits are not finite" in events[-1].message
    assert session.pool.pages_held == 0


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_infinite_logits_of_the_target_end_the_run_with_its_side_named(
    exact_target: LoadedModel, monkeypatch: pytest.MonkeyPatch, temperature: float
) -> None:
    model = exact_target.transformer
    logits = model.logits

    def spoilt(hidden: torch.Tensor) -> torch.Tensor:
        found = logits(hidden)
        found[-1, 7] = float("inf")
        return found

    monkeypatch.setattr(model, "logits", spoilt)
    settings = Settings(drafter="none", k=0, temperature=temperature)
    events = list(Session(exact_target).run(RunRequest(prompt="hello", settings=settings)))
    assert isinstance(events[-1], RunFinished)
    assert "target's logits are not finite" in events[-1].message
    assert not any(isinstance(event, Round) for event in events)


@pytest.mark.parametrize("temperature", [1e-45, 5e-324, 1e-40, 1e-20, 1e-3, 1e6])
def test_every_temperature_gives_a_law(temperature: float) -> None:
    logits = torch.tensor([[1.0, 3.0, -2.0, 2.999], [50.0, -50.0, 0.0, 49.0], [0.0, 0.0, 0.0, 0.0]])
    for wide in (logits, logits.double(), logits.bfloat16()):
        law = probabilities(wide, Sampling(temperature))
        assert torch.isfinite(law).all()
        torch.testing.assert_close(law.sum(dim=-1), torch.ones(3, dtype=law.dtype))
        if temperature <= 1e-20 and wide.dtype != torch.bfloat16:
            assert law[0].tolist() == [0.0, 1.0, 0.0, 0.0]
            assert law[1].tolist() == [1.0, 0.0, 0.0, 0.0]
        assert law[2].tolist() == [0.25] * 4


@pytest.mark.parametrize("temperature", [1e-45, 1e-30, 1e-4])
def test_the_coldest_sampled_text_is_the_greedy_one(
    exact_target: LoadedModel, near: Drafter, temperature: float
) -> None:
    plain = decode(exact_target, None, k=0, count=30)[0]
    assert decode(exact_target, near, k=3, sampling=Sampling(temperature), count=30)[0] == plain
    scripted = Scripted(plain)
    assert decode(exact_target, scripted, k=3, sampling=Sampling(temperature), count=30)[0] == plain


def test_min_p_keeps_what_has_its_share_of_the_largest() -> None:
    logits = torch.tensor([[0.5, 0.3, 0.1, 0.06, 0.04]]).log()
    law = probabilities(logits, Sampling(1.0, min_p=0.15))[0]
    torch.testing.assert_close(law, torch.tensor([0.5, 0.3, 0.1, 0.0, 0.0]) / 0.9)
    assert probabilities(logits, Sampling(1.0, min_p=1.0))[0].tolist() == [1.0, 0.0, 0.0, 0.0, 0.0]
    assert torch.equal(probabilities(logits, Sampling(1.0, min_p=0.0)), torch.softmax(logits, -1))
    # after top-p, as the field applies them; a ratio does not care about the mass that is left
    both = probabilities(logits, Sampling(1.0, top_p=0.75, min_p=0.2))[0]
    torch.testing.assert_close(both, torch.tensor([0.5, 0.3, 0.0, 0.0, 0.0]) / 0.8)
