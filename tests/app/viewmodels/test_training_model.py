"""A training in words and curves, from its events."""

from __future__ import annotations

import numpy as np

from app.viewmodels.training import POSITIONS, TrainingModel
from engine.training.events import Evaluated, Failed, Preparing, Saved, Stepped


def going(*events: object) -> TrainingModel:
    model = TrainingModel()
    model.begin("mine")
    for event in events:
        model.take(event)  # type: ignore[arg-type]  # they are
    return model


def stepped(step: int, loss: float = 2.0, left: float = 754.0) -> Stepped:
    return Stepped(step, 2000, loss, 1e-3, 2100.0, left)


def test_nothing_is_trained_at_first():
    model = TrainingModel()
    assert not model.under_way
    assert model.words == "Nothing is being trained."
    assert len(model.curves().steps) == 0


def test_text_being_written_is_told_with_its_rate_and_the_time_left():
    model = going(Preparing("writing text", 1000, 7000, 100.0))
    assert model.words == ("Writing text · 1,000 of 7,000 tokens · 100 tokens a second · 60 s left")
    assert model.fraction == 1 / 7


def test_what_nobody_knows_is_not_told():
    model = going(Preparing("Opening the target", 0, 1, 0.0))
    assert model.words == "Opening the target"
    assert going(Preparing("reading", 5, 0, 0.0)).fraction is None


def test_steps_are_told_with_the_time_left():
    assert going(stepped(1280)).words == (
        "Training, step 1,280 of 2,000 · 2,100 tokens a second · 13 min left"
    )
    assert going(stepped(1, left=7300.0)).words.endswith("2 h 2 min left")
    assert going(stepped(1, left=float("inf"))).words.endswith("a second")


def test_the_best_evaluation_is_the_one_that_is_told():
    model = going(
        Evaluated(100, (0.5, 0.3), (0.4,), 3.0, True), Evaluated(200, (0.4,), (0.4,), 3.2, False)
    )
    assert "step 100" in model.accepted
    assert "50, 30 %" in model.accepted
    assert "overlap at temperature 1: 40 %" in model.accepted


def test_phases_have_words():
    model = going(stepped(100))
    model.phase = "paused"
    assert model.words.startswith("Paused. Training, step 100")
    assert (model.under_way, model.working) == (True, False)
    model.phase = "stopping"
    assert "best so far" in model.words
    model.take(Saved("mine.safetensors", 100, (0.62, 0.4), (0.6,)))
    model.phase = "saved"
    assert model.words.startswith("mine is saved. Best, step 100")
    assert "62, 40 %" in model.words
    assert not model.under_way


def test_a_failure_is_its_own_sentence():
    model = going(Failed("There is no such target."))
    model.phase = "failed"
    assert model.words == "There is no such target."
    assert not model.saved


def test_curves_stand_at_their_steps():
    model = going(
        stepped(100, 4.0), stepped(200, 3.0), Evaluated(150, (0.5,), (0.4,), 3.6, True),
        stepped(300, 2.5), Evaluated(300, (0.6, 0.5, 0.4, 0.3, 0.2), (0.5,), 2.9, True),
    )  # fmt: skip
    curves = model.curves()
    assert list(curves.steps) == [100, 150, 200, 300]
    assert list(curves.loss) == [4.0, 3.5, 3.0, 2.5]
    assert np.isnan(curves.held_out_loss[0])
    assert curves.held_out_loss[1] == 3.6
    assert list(curves.evaluated) == [150, 300]
    assert len(curves.greedy) == POSITIONS
    assert list(curves.greedy[0]) == [50, 60]
    assert np.isnan(curves.greedy[1][0])
    assert curves.greedy[1][1] == 50


def test_a_readout_gives_only_what_was_measured():
    curves = going(
        stepped(100, 4.0), Evaluated(100, (0.5,), (0.4,), 3.6, True), stepped(200, 3.0),
        Evaluated(300, (0.6,), (0.5,), 2.9, True),
    ).curves()  # fmt: skip
    assert curves.read_loss(0) == ("4.000", "3.600")
    assert curves.read_loss(1) == ("3.000", "–")
    assert curves.read_accepted(0) == ("50.0", "–", "–", "–", "40.0")


def test_beginning_again_forgets_the_last_one():
    model = going(stepped(100), Evaluated(100, (0.5,), (0.4,), 3.6, True))
    model.begin("other")
    assert model.name == "other"
    assert model.accepted == ""
    assert len(model.curves().steps) == 0
