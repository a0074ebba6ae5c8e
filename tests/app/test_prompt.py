"""The prompt panel holds one value, and large numbers survive it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QStyle, QStyleOptionComboBox

from app.fonts import load_fonts, ui_font
from app.settings import Settings
from app.viewmodels.desk import DeskState
from app.viewmodels.prompt import FIRST_PROMPT, PromptState, drafter_label
from app.viewmodels.speeds import SPEEDS, nearest_speed, speed_label
from app.views.prompt import PromptView
from tests.app.further import FULL_MORE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FULL = PromptState(
    prompt="<b>bold?</b> & more",
    raw=True,
    target="/models/tiny",
    drafter="model:/models/smaller.gguf",
    k=7,
    temperature=0.8,
    top_k=40,
    top_p=0.9,
    seed=2**32 + 5,
    limit=77,
    baseline=False,
    more=FULL_MORE,
)


@pytest.fixture
def view(qapp: QApplication) -> Iterator[PromptView]:
    made = PromptView()
    made.set_models(["smollm2-135m"])
    yield made
    made.close()


def test_fields_hold_the_whole_state(view: PromptView) -> None:
    view.set_state(FULL)
    view.editor.insertPlainText("x")
    assert view.state == replace(FULL, prompt="x" + FULL.prompt)


def test_state_survives_a_restart(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "settings.json")
    FULL.remember(settings)
    settings.save()
    assert PromptState.remembered(Settings(tmp_path / "settings.json")) == FULL


def test_request_carries_every_field() -> None:
    request = FULL.request
    assert (request.prompt, request.raw, request.seed) == (FULL.prompt, True, 2**32 + 5)
    assert (request.max_new_tokens, request.baseline) == (77, False)
    settings = request.settings
    assert (settings.drafter, settings.k) == (FULL.drafter, 7)
    assert (settings.temperature, settings.top_k, settings.top_p) == (0.8, 40, 0.9)


@pytest.mark.parametrize("seed", ["0", "2491081031", str(2**63 - 1), str(2**63)])
def test_any_seed_can_be_typed(view: PromptView, seed: str) -> None:
    view.seed.clear()
    QTest.keyClicks(view.seed, seed)
    assert view.state.seed == min(int(seed), 2**63 - 1)


def test_changed_settings_are_told_apart_from_the_rest(view: PromptView) -> None:
    told: list[object] = []
    edited: list[object] = []
    view.settings_edited.connect(told.append)
    view.edited.connect(edited.append)
    view.limit.setValue(9)
    assert told == []
    view.k.setValue(2)
    assert told == [view.state.settings]
    assert len(edited) == 2


def test_filling_the_fields_says_nothing(view: PromptView) -> None:
    told: list[object] = []
    view.edited.connect(told.append)
    view.set_state(FULL)
    assert told == []


def test_greedy_greys_out_what_decides_nothing(view: PromptView) -> None:
    view.temperature.setValue(0.0)
    assert not view.top_p.isEnabled()
    view.temperature.setValue(0.5)
    assert view.top_p.isEnabled()


def test_control_return_runs(view: PromptView) -> None:
    asked: list[bool] = []
    view.run_requested.connect(lambda: asked.append(True))
    QTest.keyClick(view.editor, Qt.Key.Key_Return)
    assert asked == []
    QTest.keyClick(view.editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert asked == [True]


def test_every_field_has_an_accessible_name(view: PromptView) -> None:
    fields = [view.editor, view.chat, view.raw, view.target, view.drafter.list, view.k, view.seed]
    fields += [view.temperature, view.top_k, view.top_p, view.limit, view.baseline, view.run]
    assert [field for field in fields if not field.accessibleName()] == []


def test_speeds_step_up_and_down() -> None:
    assert nearest_speed(1.1) == 1.0
    assert nearest_speed(4.0, 1) is None
    assert nearest_speed(None, 1) is None
    assert nearest_speed(None, -1) == SPEEDS[-2]
    assert nearest_speed(0.25, -3) == 0.25
    assert [speed_label(speed) for speed in (0.25, 1.0, None)] == ["0.25×", "1×", "As it comes"]


def test_a_new_user_finds_a_run_worth_seeing(tmp_path: Path) -> None:
    found = PromptState.remembered(Settings(tmp_path / "settings.json"))
    assert found == PromptState()
    assert (found.drafter, found.k, found.temperature, found.limit) == (
        "ngram+head",
        3,
        0.7,
        128,
    )
    assert found.prompt == FIRST_PROMPT
    assert not found.typed
    assert replace(found, prompt="Why?").typed


def test_drafters_are_named_in_words() -> None:
    assert drafter_label("none") == "none (plain rounds)"
    assert drafter_label("model:/somewhere/deep/small.gguf") == "small model: small.gguf"
    assert drafter_label("model:C:\\models\\small") == "small model: small"


def test_drafters_without_weights_are_whole_in_a_narrow_panel(view: PromptView) -> None:
    load_fonts()
    QApplication.instance().setFont(ui_font())
    view.resize(280, 480)
    view.show()
    option = QStyleOptionComboBox()
    view.drafter.list.initStyleOption(option)
    field = view.drafter.list.style().subControlRect(
        QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField
    )
    for spec in ("ngram", "head", "none"):
        assert (
            view.drafter.list.fontMetrics().horizontalAdvance(drafter_label(spec)) <= field.width()
        )


def test_run_and_stop_hand_the_focus_to_each_other(view: PromptView) -> None:
    view.apply(DeskState(has_prompt=True))
    view.show()
    QTest.qWaitForWindowActive(view)
    view.run.setFocus()
    view.apply(DeskState(has_prompt=True, running=True))
    assert view.stop.hasFocus()
    view.apply(DeskState(has_prompt=True, running=True, stopping=True))
    assert view.editor.hasFocus()
    view.stop.setFocus()
    view.apply(DeskState(has_prompt=True, running=True))
    view.stop.setFocus()
    view.apply(DeskState(has_prompt=True))
    assert view.run.hasFocus()


def test_run_and_stop_stay_in_sight_in_a_low_panel(view: PromptView) -> None:
    view.resize(260, 170)
    view.show()
    for button in (view.run, view.stop):
        assert view.rect().contains(button.geometry())
    view.seed.setFocus()
    QTest.qWait(10)
    assert view.seed.isVisible()


def test_every_sample_can_be_taken(view: PromptView) -> None:
    told: list[object] = []
    view.edited.connect(told.append)
    for action in view.samples.menu().actions():
        action.trigger()
        assert view.state.prompt == action.data().prompt
        assert view.state.raw == action.data().raw
    assert told[-1] == view.state
