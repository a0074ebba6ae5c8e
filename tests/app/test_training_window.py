"""Training from the window: asked for, followed, used, gone on with; what a run is told of it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from app.actions import matching
from app.compose import Options, Program
from app.viewmodels.readings import DISTURBED
from app.viewmodels.training import SHARED
from app.viewmodels.training_plan import Place
from engine.drafters.registry import drafters_folder
from engine.trace.events import Round
from tests.app import trainer
from tests.app.waiting import wait_until
from tests.traces import make_trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from PySide6.QtWidgets import QApplication

    from app.views.training import TrainingDialog


@pytest.fixture
def program(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[Program]:
    def stand_in(arguments: list[str]) -> tuple[str, list[str]]:
        return sys.executable, [str(trainer.PROGRAM), *arguments]

    monkeypatch.setattr("app.training.draftscope", stand_in)
    monkeypatch.setattr("app.choosing.Choosing.lacks", lambda self, name: False)
    monkeypatch.setenv("STAND_IN", "wait")
    made = Program(qapp, Options())
    yield made
    assert made.close()
    made.window.deleteLater()


@pytest.fixture
def begin(program: Program) -> Callable[[], TrainingDialog]:
    def start() -> TrainingDialog:
        program.window.actions_["models.train"].trigger()
        dialog = program.training_desk.dialog()
        dialog.start.click()
        wait_until(lambda: bool(len(program.training.model.curves().evaluated)))
        return dialog

    return start


def end(program: Program) -> None:
    wait_until(lambda: not program.training.under_way)


def cancel(program: Program) -> None:
    program.training.cancel()
    end(program)


def buttons(dialog: TrainingDialog) -> set[str]:
    names = ("start", "pause", "go", "stop", "cancel", "use", "offer")
    return {name for name in names if not getattr(dialog, name).isHidden()}


def test_the_palette_finds_it() -> None:
    assert matching("train")[0].id == "models.train"


def test_the_dialog_asks_for_the_target_chosen_under_a_free_name(program: Program) -> None:
    drafters_folder().mkdir(parents=True)
    (drafters_folder() / "my-head.safetensors").write_text("not a drafter")
    program.window.actions_["models.train"].trigger()
    dialog = program.training_desk.dialog()
    assert dialog.isVisible()
    assert not dialog.isModal()
    assert dialog.form.plan.target == program.prompt.state.target
    assert dialog.form.plan.name == "my-head-2"
    assert dialog.shared.text() == SHARED
    assert buttons(dialog) == {"start"}
    dialog.form.own.setValue(0)
    assert not dialog.start.isEnabled()
    assert "nothing to train on" in dialog.form.problem.text()
    dialog.form.own.setValue(5000)
    assert dialog.start.isEnabled()


def test_a_target_that_is_not_here_is_told(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.choosing.Choosing.lacks", lambda self, name: True)
    program.window.actions_["models.train"].trigger()
    assert "fetch it first" in program.training_desk.dialog().form.problem.text()
    assert not program.training_desk.dialog().start.isEnabled()


def test_a_training_is_followed_paused_and_given_up(
    program: Program, begin: Callable[[], TrainingDialog]
) -> None:
    dialog = begin()
    assert buttons(dialog) == {"pause", "stop", "cancel"}
    assert not dialog.form.isEnabled()
    wait_until(lambda: "step 100 of 2,000" in dialog.words.text())
    assert "62, 40, 25 %" in dialog.best.text()
    assert dialog.progress.value() == 50
    dialog.pause.click()
    assert buttons(dialog) == {"go", "stop", "cancel"}
    assert dialog.words.text().startswith("Paused.")
    dialog.go.click()
    assert buttons(dialog) == {"pause", "stop", "cancel"}
    dialog.cancel.click()
    end(program)
    assert buttons(dialog) == {"start"}
    assert list(drafters_folder().iterdir()) == []


def test_what_was_stopped_is_saved_listed_and_used_and_can_go_on(
    program: Program, begin: Callable[[], TrainingDialog]
) -> None:
    dialog = begin()
    dialog.stop.click()
    end(program)
    assert buttons(dialog) == {"start", "use", "offer"}
    assert dialog.form.plan.name == "my-head-2"
    assert dialog.start.isEnabled()
    field = program.prompt.drafter
    assert field.list.findText("trained my-head") >= 0
    dialog.use.click()
    assert program.prompt.state.drafter == "trained:my-head"
    assert not dialog.isVisible()


def test_a_closed_dialog_leaves_a_banner_that_leads_back(
    program: Program, begin: Callable[[], TrainingDialog]
) -> None:
    dialog = begin()
    assert program.window.banners.banner("training") is None
    dialog.close_.click()
    banner = program.window.banners.banner("training")
    assert banner is not None
    assert banner.label.text().startswith("my-head: Training, step 100")
    assert program.training.under_way
    banner.buttons["show"].click()
    assert dialog.isVisible()
    assert program.window.banners.banner("training") is None
    cancel(program)


def test_one_that_was_left_is_offered_and_goes_on_as_it_was_asked_for(
    program: Program, begin: Callable[[], TrainingDialog]
) -> None:
    dialog = begin()
    plan = dialog.form.plan
    program.training.close()
    program.training.blockSignals(False)
    dialog.form.own.setValue(7)
    dialog.close()
    program.window.actions_["models.train"].trigger()
    assert "my-head" in dialog.unfinished.text()
    dialog.resume.click()
    assert program.training.under_way
    assert dialog.form.plan == plan
    wait_until(lambda: bool(len(program.training.model.curves().evaluated)))
    cancel(program)
    assert not Place(drafters_folder(), "my-head").checkpoint.exists()


def test_one_that_was_left_can_be_discarded(program: Program) -> None:
    place = Place(drafters_folder(), "old")
    place.checkpoint.mkdir(parents=True)
    (place.checkpoint / "fit.pt").write_text("weights")
    place.out.write_text("saved before")
    program.window.actions_["models.train"].trigger()
    dialog = program.training_desk.dialog()
    assert buttons(dialog) == {"start", "offer"}
    dialog.discard.click()
    assert buttons(dialog) == {"start"}
    assert place.files() == {place.out}


def test_a_failure_is_told_where_one_looks(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAND_IN", "refuse")
    program.window.actions_["models.train"].trigger()
    dialog = program.training_desk.dialog()
    dialog.start.click()
    end(program)
    assert dialog.words.text() == "There is no target called nobody."
    assert program.window.banners.texts() == []
    dialog.start.click()
    dialog.close()
    end(program)
    assert "There is no target called nobody." in program.window.banners.texts()


def test_rounds_beside_a_training_are_marked_while_it_computes(
    program: Program, begin: Callable[[], TrainingDialog]
) -> None:
    assert not program.desk.disturbed
    begin()
    assert program.desk.disturbed
    program.training.pause()
    assert not program.desk.disturbed
    program.training.go_on()
    assert program.desk.disturbed
    cancel(program)
    assert not program.desk.disturbed


def test_times_that_a_training_disturbed_are_marked_in_the_panel(program: Program) -> None:
    _, throughput, _ = program.charts
    document = program.desk.document
    document.extend(make_trace(rounds=4))
    program.desk.presentation.seek(3)
    throughput.refresh()
    assert throughput.notice.isHidden()
    document.clear()
    document.extend(
        replace(one, disturbed=True) if isinstance(one, Round) else one
        for one in make_trace(rounds=4)
    )
    program.desk.presentation.seek(3)
    throughput.refresh()
    assert throughput.notice.text() == DISTURBED


def test_the_window_closes_at_once_and_the_process_with_it(
    program: Program, begin: Callable[[], TrainingDialog]
) -> None:
    begin()
    process = program.training._process
    assert process is not None
    assert program.close()
    assert process.state() is process.ProcessState.NotRunning
    assert Place(drafters_folder(), "my-head").checkpoint.exists()
