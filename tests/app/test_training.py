"""The process of a training: read, steered, given up, ended with the window; and what it leaves."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

import pytest

from app.training import Training
from app.viewmodels.training_plan import Place, TrainingPlan
from tests.app import trainer
from tests.app.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from PySide6.QtWidgets import QApplication

PLAN = TrainingPlan(target="smollm2-135m", name="mine")


def stand_in(arguments: list[str]) -> tuple[str, list[str]]:
    return sys.executable, [str(trainer.PROGRAM), *arguments]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "drafters", "mine")


@pytest.fixture
def training(qapp: QApplication) -> Iterator[Training]:
    made = Training(stand_in)
    yield made
    made.close()


@pytest.fixture
def begin(
    training: Training, place: Place, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Training]:
    def start(how: str, *, resume: bool = False) -> Training:
        monkeypatch.setenv("STAND_IN", how)
        training.start(PLAN, place, resume=resume)
        return training

    return start


def heard(place: Place) -> list[list[str]]:
    try:
        found: list[list[str]] = json.loads(place.out.with_suffix(".heard.json").read_text())
    except (OSError, ValueError):
        return []
    return found


def evaluated(training: Training) -> bool:
    return bool(len(training.model.curves().evaluated))


def left(place: Place) -> set[str]:
    return {path.name for path in place.folder.iterdir()}


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return True
    return False


def pid_of(training: Training) -> int:
    assert training._process is not None
    return int(training._process.processId())


def test_what_the_program_says_reaches_the_model_and_the_end_is_told(begin, place):
    training = begin("finish")
    said: list[str] = []
    training.saved.connect(said.append)
    assert training.under_way
    wait_until(lambda: not training.under_way)
    assert said == ["mine"]
    assert training.model.phase == "saved"
    assert "62, 40, 25 %" in training.model.words
    assert list(training.model.curves().loss) == [3.5]
    assert left(place) == {"mine.safetensors"}


def test_it_is_called_with_the_plan(begin, place):
    training = begin("wait")
    wait_until(lambda: evaluated(training))
    assert heard(place)[0] == PLAN.arguments(place.out)
    training.cancel()
    wait_until(lambda: not training.under_way)


def test_pause_and_go_are_told_to_the_program_and_it_goes_on(begin, place):
    training = begin("wait")
    wait_until(lambda: evaluated(training))
    training.go_on()  # nothing to go on with: it is going
    training.pause()
    assert training.model.phase == "paused"
    assert not training.model.working
    training.pause()
    training.go_on()
    assert training.model.phase == "going"
    wait_until(lambda: len(training.model.curves().steps) == 2)
    assert heard(place)[1] == ["go", "pause", "go"]


def test_stop_keeps_the_best(begin, place):
    training = begin("wait")
    wait_until(lambda: evaluated(training))
    training.pause()
    training.stop()
    assert training.model.phase == "stopping"
    wait_until(lambda: not training.under_way)
    assert training.model.phase == "saved"
    assert left(place) == {"mine.safetensors", "mine.checkpoint", "mine.plan.json"}


def test_cancel_ends_the_process_at_once_and_leaves_nothing(begin, place):
    training = begin("wait")
    wait_until(lambda: evaluated(training))
    pid = pid_of(training)
    assert len(left(place)) == 3  # checkpoint, plan, and what tests look at
    training.cancel()
    wait_until(lambda: not training.under_way)
    assert gone(pid)
    assert training.model.phase == "cancelled"
    assert left(place) == set()


def test_cancel_leaves_what_was_there_before(begin, place):
    place.folder.mkdir()
    kept = {"mine.txt", "mine-2.safetensors", "other.safetensors"}
    for name in kept:
        (place.folder / name).write_text("kept")
    training = begin("wait")
    wait_until(lambda: evaluated(training))
    training.cancel()
    wait_until(lambda: not training.under_way)
    assert left(place) == kept


def test_cancel_of_one_that_went_on_keeps_the_drafter_that_was_saved_before(begin, place):
    place.folder.mkdir()
    place.out.write_text("saved before")
    place.checkpoint.mkdir()
    training = begin("wait", resume=True)
    wait_until(lambda: evaluated(training))
    assert heard(place)[0][-1] == "--resume"
    training.cancel()
    wait_until(lambda: not training.under_way)
    assert left(place) == {"mine.safetensors"}


def test_closing_ends_the_process_and_what_it_can_go_on_from_stays(begin, place):
    training = begin("wait")
    wait_until(lambda: evaluated(training))
    pid = pid_of(training)
    training.close()
    assert gone(pid)
    assert {"mine.checkpoint", "mine.plan.json"} <= left(place)
    assert json.loads(place.plan.read_text())["name"] == "mine"


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ("refuse", "There is no target called nobody."),
        ("stumble", "The training failed: The target cannot be read."),
        ("silent", "The training failed: its process ended and said nothing."),
    ],
)
def test_a_failure_is_one_sentence(begin, place, how, sentence):
    training = begin(how)
    said: list[str] = []
    training.failed.connect(said.append)
    wait_until(lambda: not training.under_way)
    assert said == [sentence]
    assert training.model.words == sentence
    assert "mine.plan.json" not in left(place)


def test_a_program_that_is_not_there_is_told(qapp, place):
    training = Training(lambda arguments: (str(place.folder / "nothing"), arguments))
    said: list[str] = []
    training.failed.connect(said.append)
    training.start(PLAN, place)
    wait_until(lambda: bool(said))
    assert said == ["The training could not be started; install Draftscope again."]
    assert not training.under_way


def test_a_folder_that_cannot_be_written_is_told(training, tmp_path):
    (tmp_path / "drafters").write_text("a file")
    said: list[str] = []
    training.failed.connect(said.append)
    training.start(PLAN, Place(tmp_path / "drafters", "mine"))
    assert len(said) == 1
    assert "drafters" in said[0]
    assert not training.under_way


def test_runs_in_the_window_go_first(begin):
    training = begin("wait")
    wait_until(lambda: evaluated(training))
    theirs = os.getpriority(os.PRIO_PROCESS, pid_of(training))
    assert theirs == min(19, os.getpriority(os.PRIO_PROCESS, 0) + 10)
