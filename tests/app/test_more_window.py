"""The folded settings in the assembled window: remembered, and followed by a run under way."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from msgspec import structs
from PySide6.QtTest import QTest

from app.compose import Options, Program
from app.views.banner import Banner
from engine.trace.events import SettingsChanged
from engine.trace.journal import Journal
from tests.app.further import FULL_MORE
from tests.app.waiting import wait_until
from tests.tiny_model import write_tiny_folder
from tests.traces import make_trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from PySide6.QtWidgets import QApplication


@pytest.fixture
def open_program(qapp: QApplication) -> Iterator[Callable[[], Program]]:
    made: list[Program] = []

    def build() -> Program:
        program = Program(qapp, Options())
        made.append(program)
        program.show()
        QTest.qWaitForWindowExposed(program.window)
        wait_until(lambda: program.desk.document.finished is not None)  # the recorded session
        return program

    yield build
    for program in made:
        program.window.close()
        assert program.close()
        program.window.deleteLater()


def test_what_was_unfolded_and_set_is_so_at_the_next_start(
    open_program: Callable[[], Program],
) -> None:
    program = open_program()
    assert not program.prompt.more.open
    program.prompt.set_state(replace(program.prompt.state, drafter="early:7", more=FULL_MORE))
    program.prompt.more.set_open(True)
    program.window.close()
    program = open_program()
    assert program.prompt.more.open
    assert program.prompt.state.more == FULL_MORE
    assert program.prompt.state.drafter == "early:7"
    assert program.prompt.drafter.layers.value() == 7


def test_a_field_that_is_edited_changes_the_run_under_way(
    open_program: Callable[[], Program], tiny_model: Path
) -> None:
    program = open_program()
    program.deeds.clear()
    program.deeds.set_speed(None)
    state = replace(program.prompt.state, prompt="a b c", raw=True, target=str(tiny_model))
    program.prompt.set_state(replace(state, drafter="early:1", limit=100_000))
    program.prompt.run.click()
    wait_until(lambda: program.desk.state.has_rounds)
    program.prompt.more.confidence.setValue(0.9)
    wait_until(
        lambda: any(isinstance(event, SettingsChanged) for event in program.desk.document.events)
    )
    program.prompt.stop.click()
    wait_until(lambda: not program.desk.state.busy)
    assert program.desk.document.settings_at(10**6).confidence == 0.9  # type: ignore[union-attr]  # a run has some
    assert "confidence 0.9" in program.window.status.activity.toolTip()


def test_a_target_with_fewer_layers_is_said_and_shown(
    open_program: Callable[[], Program], tmp_path: Path
) -> None:
    target = write_tiny_folder(tmp_path / "three", layers=3, endless=True)
    program = open_program()
    program.deeds.clear()
    for banner in program.window.banners.findChildren(Banner):
        banner.close_button.click()
    state = replace(program.prompt.state, prompt="a b c", raw=True, target=str(target))
    program.prompt.set_state(replace(state, drafter="early:10", limit=9))
    program.deeds.run()
    wait_until(lambda: not program.desk.state.busy)
    assert program.prompt.state.drafter == "early:2"
    assert any(
        "too few layers to exit after 10, so its first 2 layers draft" in text
        for text in program.window.banners.texts()
    )


def test_a_notice_is_as_small_at_the_start_as_after_a_change_of_colours(
    open_program: Callable[[], Program],
) -> None:
    program = open_program()
    program.prompt.more.fault.say("no bias")
    program.charts[0].short.say("short drafts")
    notices = (program.prompt.more.fault, program.charts[0].short)
    whole = program.window.font().pointSizeF()
    at_start = [one.font().pointSizeF() for one in notices]
    assert all(size < 0.9 * whole for size in at_start)
    program.appearance.choose("dark")
    assert [one.font().pointSizeF() for one in notices] == at_start
    program.appearance.choose("light")
    assert [one.font().pointSizeF() for one in notices] == at_start


def test_the_panel_follows_each_session_that_is_opened_until_a_prompt_is_typed(
    open_program: Callable[[], Program], tmp_path: Path
) -> None:
    program = open_program()
    paths = [tmp_path / f"{name}.jsonl" for name in ("first", "second", "third")]
    for at, path in enumerate(paths):
        started, *rest = make_trace(rounds=3 + at)
        settings = structs.replace(started.settings, repetition_penalty=1.1 + 0.1 * at)  # type: ignore[union-attr]  # the run's start
        with Journal(path) as journal:
            for event in (structs.replace(started, prompt=path.stem, settings=settings), *rest):
                journal.write(event)

    def opened(path: Path) -> tuple[str, float]:
        program.sessions.open(path)
        wait_until(lambda: program.desk.document.started.prompt == path.stem)  # type: ignore[union-attr]  # one is on show
        wait_until(lambda: not program.desk.state.opening)  # the whole file is read
        state = program.prompt.state
        return state.prompt, round(state.more.repetition_penalty, 6)

    assert opened(paths[0]) == ("first", 1.1)
    assert opened(paths[1]) == ("second", 1.2)
    program.prompt.set_state(replace(program.prompt.state, prompt="my own"))
    assert opened(paths[2]) == ("my own", 1.2)
