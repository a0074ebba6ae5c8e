"""The compiled plan is built from the window: asked for, followed, given up, failed, done."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtTest import QTest

from app.actions import matching
from app.compose import Options, Program
from app.viewmodels.warm_up import built_words
from engine.errors import DraftscopeError
from engine.models.native import build
from engine.models.native import warm_up as warm_up_module
from engine.trace.events import ModelInfo
from tests.app.building import FASTER, NO_FASTER, Building
from tests.app.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtWidgets import QApplication

    from app.views.banner import Banner
    from app.views.plan_line import PlanLine

HINDRANCE = "There is no C++ compiler, so Draftscope stays on the packed plan."


@pytest.fixture
def building(monkeypatch: pytest.MonkeyPatch) -> Building:
    made = Building()
    monkeypatch.setattr(build, "tried", lambda: made.record)
    monkeypatch.setattr(build, "hindrance", lambda: made.hindrance)
    monkeypatch.setattr(warm_up_module, "warm_up", made.warm_up)
    return made


@pytest.fixture
def program(qapp: QApplication, building: Building) -> Iterator[Program]:
    made = Program(qapp, Options())
    yield made
    assert made.close()
    made.window.deleteLater()


def enabled(program: Program) -> tuple[bool, bool]:
    """Whether the build can be asked for, and whether it can be given up."""
    actions = program.window.actions_
    return actions["models.build_plan"].isEnabled(), actions["models.cancel_build"].isEnabled()


def begin(program: Program) -> None:
    program.window.actions_["models.build_plan"].trigger()
    wait_until(lambda: program.warming.state.waiting is not None)


def end(program: Program, building: Building) -> None:
    building.gate.set()
    wait_until(lambda: not program.warming.state.building)


def shown(line: PlanLine) -> list[str]:
    """Name what stands beside the sentence."""
    parts = {"build": line.build, "cancel": line.cancel, "progress": line.progress}
    return [name for name, widget in parts.items() if not widget.isHidden()]


def banner(program: Program) -> Banner:
    found = program.window.banners.banner("warm-up")
    assert found is not None
    return found


def test_build_is_followed_in_banner_and_dialog_and_ends_with_one_sentence(
    program: Program, building: Building
) -> None:
    line = program.choosing.dialog().plan
    assert enabled(program) == (True, False)
    assert shown(line) == ["build"]
    line.build.click()
    wait_until(lambda: program.warming.state.waiting is not None)
    assert enabled(program) == (False, True)
    assert shown(line) == ["cancel", "progress"]
    assert line.progress.value() == banner(program).progress.value() == 250
    assert "trying it beside the packed plan…" in banner(program).label.text()
    end(program, building)
    assert program.window.banners.texts() == [built_words(FASTER)]
    assert enabled(program) == (False, False)
    assert shown(line) == []
    assert "0.52 of the packed plan's time" in line.label.text()


@pytest.mark.parametrize("where", ["banner", "dialog", "action"])
def test_build_is_given_up_wherever_it_shows(
    program: Program, building: Building, where: str
) -> None:
    line = program.choosing.dialog().plan
    begin(program)
    {
        "banner": banner(program).buttons["cancel"].click,
        "dialog": line.cancel.click,
        "action": program.window.actions_["models.cancel_build"].trigger,
    }[where]()
    wait_until(lambda: not program.warming.state.building)
    assert program.window.banners.texts() == []
    assert enabled(program) == (True, False)
    assert shown(line) == ["build"]


def test_failure_is_said_and_the_build_can_be_tried_again(
    program: Program, building: Building
) -> None:
    line = program.choosing.dialog().plan
    building.outcome = DraftscopeError("g++ could not build the compiled plan (no space).")
    begin(program)
    end(program, building)
    sentence = str(building.outcome)
    assert program.window.banners.texts() == [sentence]
    assert (sentence in line.label.text(), shown(line)) == (True, ["build"])
    building.outcome = FASTER
    line.build.click()
    wait_until(lambda: program.warming.state.record is not None)
    assert building.calls == 2
    assert sentence not in line.label.text()


def test_hindrance_is_said_in_the_dialog_alone(program: Program, building: Building) -> None:
    building.hindrance = HINDRANCE
    line = program.choosing.dialog().plan  # looks again
    assert line.label.text() == HINDRANCE
    assert shown(line) == []
    assert enabled(program) == (False, False)
    program.warming.start()
    assert building.calls == 0
    assert program.window.banners.texts() == []


def test_what_another_program_built_is_found_and_not_built_again(
    program: Program, building: Building
) -> None:
    building.record = NO_FASTER
    program.window.actions_["models.build_plan"].trigger()
    assert not program.warming.state.building
    assert building.calls == 0
    assert enabled(program) == (False, False)
    assert "packed stays the default" in program.choosing.dialog().plan.label.text()


def test_target_on_another_device_needs_no_build(program: Program) -> None:
    line = program.choosing.dialog().plan
    target = ModelInfo(name="tiny", kind="target", plan="eager", device="NVIDIA")
    program.desk.state = replace(program.desk.state, target=target)
    program.desk.state_changed.emit()
    assert line.label.text() == "Plan: eager, on NVIDIA."
    assert shown(line) == []
    assert enabled(program) == (False, False)


def test_dismissed_progress_stays_away_and_the_next_build_shows_its_own(
    program: Program, building: Building
) -> None:
    begin(program)
    banner(program).close_button.click()
    program.warming._set(replace(program.warming.state, waiting=None))
    assert program.window.banners.texts() == []
    program.warming.cancel()
    wait_until(lambda: not program.warming.state.building)
    begin(program)
    assert banner(program).buttons.keys() == {"cancel"}


def test_second_wish_begins_no_second_build(program: Program, building: Building) -> None:
    begin(program)
    program.warming.start()
    end(program, building)
    assert building.calls == 1


def test_close_gives_the_build_up(program: Program, building: Building) -> None:
    begin(program)
    assert program.close()
    assert building.record is None


def test_focus_goes_from_build_to_cancel(program: Program, building: Building) -> None:
    dialog = program.choosing.dialog()
    dialog.show()
    dialog.activateWindow()
    QTest.qWaitForWindowActive(dialog)
    dialog.plan.build.setFocus()
    dialog.plan.build.click()
    assert dialog.focusWidget() is dialog.plan.cancel
    dialog.close()


def test_palette_finds_the_build() -> None:
    assert "models.build_plan" in [action.id for action in matching("faster plan")]
