"""Fitting: it helps, it can be stopped, held and gone on with, and the best is what is kept."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
import torch

from engine.drafters.metadata import HeadShape
from engine.training import fit as module
from engine.training.checkpoint import Checkpoint
from engine.training.events import Evaluated, Stepped
from engine.training.fit import Budget, Fit, Text
from engine.training.head_model import HeadModel
from engine.training.measure import HeldOut
from engine.training.opened import open_target
from engine.training.small_model import SmallModel, usual_shape
from engine.training.vocabulary import Scored, commonest
from tests.engine.training.toys import CPU, states_of, warm_corpus, write_hard_toy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from engine.training.opened import OpenedTarget


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PLACES", 512)


def text_of(target: OpenedTarget) -> Text:
    corpus = warm_corpus(target, 45, 80)
    return Text(corpus, states_of(target.model, corpus, (1,)), 2)


@pytest.fixture(scope="module")
def text(toy: OpenedTarget) -> Text:
    return text_of(toy)


def fit_of(
    toy: OpenedTarget, text: Text, kind: str, steps: int, seed: int = 0, unroll: int = 3
) -> Fit:
    torch.manual_seed(seed)
    drafter: HeadModel | SmallModel
    if kind == "head":
        drafter = HeadModel(toy.model, HeadShape(1, 32, (1,)))
    elif kind == "started head":
        drafter = HeadModel(toy.model, HeadShape(1, 32, (1,)))
        drafter.start([text.corpus.row(row).long() for row in range(1, 20)])
    else:
        drafter = SmallModel(toy.model, usual_shape(1, 24))
        drafter.start(text.corpus.tokens[:2000].long())
    scored = Scored(toy.model, commonest(text.corpus.tokens, text.states.choices, 258, 200))
    budget = Budget(60.0, steps)
    return Fit(drafter, scored, text, budget, unroll=unroll, seed=seed, device=CPU)


def going() -> bool:
    return False


def nothing() -> None:
    pass


def run(fit: Fit, wait: Callable[[], bool] = going) -> list[Stepped | Evaluated]:
    return list(fit.run(wait, nothing))


def after(steps: int) -> Callable[[], bool]:
    """Say stop once so many steps were let through."""
    left = iter(range(steps))
    return lambda: next(left, None) is None


def weights(fit: Fit) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in fit.drafter.module.state_dict().items()}


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(value, other[name]) for name, value in one.items())


@pytest.mark.parametrize("kind", ["small", "head", "started head"])
def test_fitting_lowers_the_held_out_loss_and_raises_acceptance(kind: str, tmp_path: Path) -> None:
    target = open_target(str(write_hard_toy(tmp_path / "hard")), "cpu")
    fit = fit_of(target, text_of(target), kind, 60)
    events = run(fit)
    told = [event for event in events if isinstance(event, Evaluated)]
    first, last = told[0], told[-1]
    assert (first.step, last.step) == (0, 60)
    assert last.loss < first.loss - 1.0
    assert len(last.greedy) == len(last.overlap) == module.POSITIONS
    if kind != "started head":  # least squares alone draft as well as so short a training
        assert last.greedy[0] > first.greedy[0] + 0.15
        assert last.overlap[0] > first.overlap[0] + 0.15
    losses = [event.loss for event in events if isinstance(event, Stepped)]
    assert losses[-1] < losses[0] or len(losses) == 1


def test_one_seed_gives_one_training_and_another_another(toy: OpenedTarget, text: Text) -> None:
    found = []
    for seed in (1, 1, 2):
        fit = fit_of(toy, text, "head", 4, seed)
        told = run(fit)
        found.append((weights(fit), [one for one in told if isinstance(one, Evaluated)]))
    assert same(found[0][0], found[1][0])
    assert found[0][1] == found[1][1]
    assert not same(found[0][0], found[2][0])


@pytest.mark.parametrize("kind", ["head", "small"])
@pytest.mark.parametrize("stop", [1, 7])
def test_a_training_stopped_and_resumed_is_one_that_ran_through(
    toy: OpenedTarget, text: Text, kind: str, stop: int, tmp_path: Path
) -> None:
    through = fit_of(toy, text, kind, 12)
    run(through)
    first = fit_of(toy, text, kind, 12)
    run(first, after(stop))
    assert first.progress.step == stop
    kept = Checkpoint(tmp_path)
    kept.save(first.state())
    second = fit_of(toy, text, kind, 12, seed=9)  # whatever it begins with is not used
    state = kept.load()
    assert state is not None
    second.restore(state)
    told = run(second)
    assert second.progress.step == 12
    assert same(weights(through), weights(second))
    mine, other = second.state(), through.state()
    assert (mine["random"], mine["waiting"]) == (other["random"], other["waiting"])
    assert second.progress.tokens == through.progress.tokens
    evaluated = [one.step for one in told if isinstance(one, Evaluated)]
    assert evaluated == [step for step in range(12 + 1) if step > stop and step in EVALUATED_12]


EVALUATED_12 = {0, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12}


def test_held_out_text_is_looked_at_ten_times_and_before(toy: OpenedTarget, text: Text) -> None:
    saved: list[int] = []
    fit = fit_of(toy, text, "small", 12)
    told = list(fit.run(going, lambda: saved.append(fit.progress.step)))
    assert {one.step for one in told if isinstance(one, Evaluated)} == EVALUATED_12
    assert set(saved) == EVALUATED_12 - {0}


def test_a_training_that_is_over_takes_no_further_step(toy: OpenedTarget, text: Text) -> None:
    fit = fit_of(toy, text, "small", 3)
    run(fit)
    kept = weights(fit)
    again = fit_of(toy, text, "small", 3)
    again.restore(fit.state())
    assert run(again) == []
    assert same(weights(again), kept)


def scripted(fit: Fit, monkeypatch: pytest.MonkeyPatch, shares: list[float]) -> None:
    """Let evaluations find what is told."""
    left = iter(shares)

    def found(rows: list[int]) -> HeldOut:
        share = round(100 * next(left))
        return HeldOut([100], [share], [float(share)], [100], 1.0)

    monkeypatch.setattr(fit, "_measure", found)


def test_the_best_is_kept_and_not_the_last(
    toy: OpenedTarget, text: Text, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit = fit_of(toy, text, "small", 3)
    scripted(fit, monkeypatch, [0.3, 0.5, 0.4, 0.45, 0.6])
    told, seen = [], {}
    for event in fit.run(going, nothing):
        if isinstance(event, Evaluated):
            told.append((event.step, event.best))
            seen[event.step] = weights(fit)
    assert told == [(0, True), (1, True), (2, False), (3, False)]
    assert fit.progress.best_step == 1
    assert fit.progress.best_score == pytest.approx(0.5 + 0.5)  # of acceptance and of overlap
    assert not same(seen[1], seen[3])
    fit.held_out()
    assert same(weights(fit), seen[1])


def test_a_stop_looks_at_what_it_came_to_and_keeps_the_best(
    toy: OpenedTarget, text: Text, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit = fit_of(toy, text, "small", 1000)
    scripted(fit, monkeypatch, [0.3, 0.5])
    told = run(fit, after(5))
    assert [one.step for one in told if isinstance(one, Evaluated)] == [0, 5]
    assert fit.progress.best_step == 5
    assert same(fit.progress.best, weights(fit))


def test_a_training_waits_before_each_step_and_time_spent_waiting_is_not_its_own(
    toy: OpenedTarget, text: Text, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    fit = fit_of(toy, text, "small", 6)
    asked: list[int] = []

    def pause() -> bool:
        nonlocal now
        asked.append(fit.progress.step)
        now += 100.0
        return False

    run(fit, pause)
    assert asked == [0, 1, 2, 3, 4, 5]
    assert fit.progress.seconds == 0.0


def test_later_steps_come_in_as_training_goes_on(toy: OpenedTarget, text: Text) -> None:
    fit = fit_of(toy, text, "head", 10)
    unrolled: list[int] = []
    unroll = fit.drafter.unroll

    def watched(batch: Any, steps: int) -> Any:
        if fit.drafter.module.training:
            unrolled.append(steps)
        return unroll(batch, steps)

    fit.drafter.unroll = watched  # type: ignore[method-assign]  # a spy
    run(fit)
    assert unrolled == [1, 1, 1, 1, 1, 1, 2, 2, 3, 3]


def test_the_more_overlaps_the_less_cross_entropy_counts_at_each_step_of_a_draft(
    toy: OpenedTarget, text: Text, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit = fit_of(toy, text, "head", 10)
    mixed: list[list[float]] = []
    apply, steps_now = module.LawLoss.apply, fit._steps_now

    def told(rows: Any, *rest: Any) -> Any:
        mixed[-1].append(rest[-1])
        total, crossed, _ = apply(rows, *rest)
        return total, crossed, torch.tensor(0.1 * (len(mixed) + len(mixed[-1])))

    def begun() -> int:
        mixed.append([])
        return steps_now()

    monkeypatch.setattr(module.LawLoss, "apply", told)
    monkeypatch.setattr(fit, "_steps_now", begun)
    run(fit)
    expected: list[list[float]] = []
    known: list[float] = []
    for step, steps in enumerate([1, 1, 1, 1, 1, 1, 2, 2, 3, 3], start=1):
        expected.append([])
        for index in range(steps):
            overlap = 0.1 * (step + index + 1)
            expected[-1].append(math.exp(-3.0 * known[index]) if index < len(known) else 1.0)
            if index == len(known):
                known.append(overlap)
            else:
                known[index] = 0.9 * known[index] + 0.1 * overlap
    assert mixed == [pytest.approx(shares, abs=1e-6) for shares in expected]
    assert fit.progress.overlap == pytest.approx(known, abs=1e-6)


def test_rows_kept_for_measuring_are_never_trained_on(
    toy: OpenedTarget, text: Text, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: dict[bool, set[int]] = {True: set(), False: set()}
    made = module.make_batch

    def watched(corpus: Any, states: Any, rows: list[int], *rest: Any) -> Any:
        used[fit.drafter.module.training] |= set(rows)
        return made(corpus, states, rows, *rest)

    monkeypatch.setattr(module, "make_batch", watched)
    fit = fit_of(toy, text, "small", 14)
    fit.drafter.module.eval()
    step = fit._step

    def trained() -> float:
        fit.drafter.module.train()
        return step()

    monkeypatch.setattr(fit, "_step", trained)
    run(fit)
    assert used[True] == set(range(text.corpus.rows)) - text.corpus.validation
    assert used[False] == text.corpus.validation


def test_a_budget_of_time_is_spent_and_told() -> None:
    budget = Budget(120.0)
    assert budget.share(7, 30.0) == 0.25
    assert budget.left(7, 30.0) == 90.0
    assert budget.total(7, 30.0) == 28
    assert budget.left(7, 130.0) == 0.0


def test_a_budget_of_steps_hangs_on_no_clock() -> None:
    budget = Budget(120.0, 40)
    assert budget.share(10, 1e9) == 0.25
    assert budget.total(10, 1e9) == 40
    assert budget.left(10, 5.0) == 15.0
