"""The folded settings: fields reach the run, a wrong bias is said, the keyboard gets there."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from app.fonts import load_fonts, ui_font
from app.theme import LIGHT
from app.viewmodels.desk import DeskState
from app.viewmodels.more import More
from app.viewmodels.prompt import PromptState, early_layers
from app.views.fields import FieldArea
from app.views.prompt import PromptView
from engine.trace.events import ModelInfo
from tests.app.further import FULL_MORE as FULL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.views.drafter_field import DrafterField
    from app.views.more import MoreView

TARGET = ModelInfo(name="tiny", kind="target", vocabulary=272, layers=24)


@pytest.fixture
def prompt(qapp: QApplication) -> Iterator[PromptView]:
    made = PromptView()
    made.set_models(["smollm2-135m"])
    made.set_theme(LIGHT)
    made.set_state(PromptState(drafter="head", more=FULL))
    yield made
    made.close()


def choose(field: DrafterField, title: str) -> None:
    field.list.setCurrentIndex(field.list.findText(title))
    field.list.activated.emit(field.list.currentIndex())


def inputs(view: MoreView) -> list[QWidget]:
    return [getattr(view, field.name) for field in fields(More)] + [
        view.own_temperature,
        view.button,
    ]


def _place(field: QWidget, panel: QWidget) -> tuple[int, int]:
    """Return a field's row, of about 20 pixels, and where it begins."""
    middle = field.mapTo(panel, field.rect().center())
    return round(middle.y() / 20), field.mapTo(panel, QPoint()).x()


def test_filling_the_fields_says_nothing_and_keeps_every_value(prompt: PromptView) -> None:
    told: list[object] = []
    prompt.edited.connect(told.append)
    prompt.set_state(PromptState(more=More()))
    prompt.set_state(PromptState(more=FULL))
    assert told == []
    prompt.editor.insertPlainText("x")
    assert prompt.state.more == FULL


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("min_p", 0.1),
        ("repetition_penalty", 1.3),
        ("presence_penalty", -1.5),
        ("frequency_penalty", 0.75),
        ("drafter_temperature", 1.1),
        ("k_min", 3),
        ("confidence", 0.55),
    ],
)
def test_each_number_changes_the_settings_of_a_run_at_once(
    prompt: PromptView, name: str, value: float
) -> None:
    told: list[object] = []
    prompt.settings_edited.connect(told.append)
    getattr(prompt.more, name).setValue(value)
    assert prompt.state.more == replace(FULL, **{name: value})
    assert told == [prompt.state.settings]
    assert getattr(told[0], name) == value


def test_a_number_with_more_digits_than_are_shown_stays_until_it_is_edited(
    prompt: PromptView,
) -> None:
    exact = replace(PromptState(temperature=0.123456), more=replace(FULL, confidence=0.333))
    prompt.set_state(exact)
    prompt.limit.setValue(9)
    assert prompt.state == replace(exact, limit=9)
    prompt.more.confidence.setValue(0.5)
    assert prompt.state.more.confidence == 0.5


def test_the_drafter_has_the_targets_temperature_until_it_has_its_own(prompt: PromptView) -> None:
    more = prompt.more
    more.own_temperature.setChecked(False)
    assert prompt.state.settings.drafter_temperature is None
    assert not more.drafter_temperature.isEnabled()
    prompt.temperature.setValue(0.9)
    assert more.drafter_temperature.value() == pytest.approx(0.9)  # what holds is what is shown
    assert prompt.state.settings.drafter_temperature is None
    more.own_temperature.setChecked(True)
    assert more.drafter_temperature.isEnabled()
    prompt.temperature.setValue(0.2)
    assert prompt.state.settings.drafter_temperature == pytest.approx(0.9)


def test_a_fields_name_explains_it_to_the_pointer_as_the_field_does(prompt: PromptView) -> None:
    for field in (*prompt.more.body.findChildren(QLabel), *prompt.findChildren(QLabel, "field")):
        if buddy := field.buddy():
            assert field.toolTip()
            assert field.toolTip() == buddy.accessibleDescription()


def test_a_bias_is_typed_as_text(prompt: PromptView) -> None:
    field = prompt.more.logit_bias
    assert field.text() == "42=-5, 7=2.5"
    field.clear()
    QTest.keyClicks(field, "3=-2.5")
    assert prompt.state.settings.logit_bias == ((3, -2.5),)
    assert prompt.more.fault.text() == ""


def test_a_wrong_bias_is_a_sentence_and_changes_nothing(prompt: PromptView) -> None:
    field, fault = prompt.more.logit_bias, prompt.more.fault
    prompt.more.set_open(True)
    told: list[object] = []
    prompt.settings_edited.connect(told.append)
    QTest.keyClicks(field, ", 9=x")
    assert prompt.state.more == FULL
    assert told == []
    assert fault.text() == (
        "The bias of token 9 is 'x', not a number from -10000 to 10000. Until then the bias stays "
        "42=-5, 7=2.5."
    )
    assert not fault.isHidden()
    for _ in ", 9=x":
        QTest.keyClick(field, Qt.Key.Key_Backspace)
    assert fault.isHidden()


def test_an_id_beyond_the_vocabulary_is_refused_in_a_run_that_it_would_end(
    prompt: PromptView,
) -> None:
    prompt.apply(DeskState(running=True, target=TARGET))
    prompt.more.logit_bias.clear()
    QTest.keyClicks(prompt.more.logit_bias, "272=1")
    assert "the target's last token is 271" in prompt.more.fault.text().replace("The", "the", 1)
    assert all(token < 272 for token, _ in prompt.state.settings.logit_bias)
    prompt.apply(DeskState(target=TARGET))  # the next run may be another target's
    QTest.keyClicks(prompt.more.logit_bias, "0")
    assert prompt.state.settings.logit_bias == ((272, 10.0),)


def test_folded_it_says_what_is_on_and_open_it_shows_it(prompt: PromptView) -> None:
    prompt.show()
    more = prompt.more
    assert not more.open
    assert not more.min_p.isVisible()
    assert more.summary.text().startswith("least draft 2, confidence 0.4, min-p 0.05")
    more.button.setFocus()
    QTest.keyClick(more.button, Qt.Key.Key_Space)
    assert more.open
    assert more.min_p.isVisible()
    assert more.summary.text() == ""
    prompt.set_state(PromptState())
    more.set_open(False)
    assert more.summary.text() == ""


def test_unfolded_fields_come_into_sight(prompt: PromptView, qtbot) -> None:
    load_fonts()
    QApplication.instance().setFont(ui_font())
    prompt.resize(300, 420)
    prompt.show()
    assert prompt.minimumSizeHint().height() < 200  # a low dock is not forced
    prompt.more.button.click()
    area, field = prompt.findChild(FieldArea), prompt.more.logit_bias

    def in_sight() -> bool:
        box = QRect(field.mapTo(area.viewport(), QPoint()), field.size())
        return area.viewport().rect().contains(box)

    qtbot.waitUntil(lambda: area.verticalScrollBar().value() > 0 and in_sight())
    assert prompt.run.isVisible()


def test_opening_asks_for_no_more_width(prompt: PromptView) -> None:
    load_fonts()
    QApplication.instance().setFont(ui_font())
    prompt.show()
    area = prompt.findChild(FieldArea)
    folded = area.minimumSizeHint().width()
    prompt.set_state(PromptState(drafter="early:10", more=FULL))
    prompt.more.set_open(True)
    QApplication.processEvents()
    assert area.minimumSizeHint().width() == folded


def test_every_field_is_named_explained_and_reached_by_tab(prompt: PromptView) -> None:
    prompt.show()
    prompt.more.set_open(True)
    QTest.qWaitForWindowActive(prompt)
    for field in inputs(prompt.more):
        assert field.accessibleName()
        assert field.toolTip() == field.accessibleDescription() != ""
        assert field.focusPolicy() & Qt.FocusPolicy.TabFocus
    labels = {label.buddy() for label in prompt.more.findChildren(QLabel) if label.buddy()}
    beside = {prompt.more.drafter_temperature, prompt.more.button}  # the check box has the label
    assert set(inputs(prompt.more)) - beside == labels
    prompt.more.button.setFocus()
    seen = []
    for _ in range(40):
        focus = prompt.focusWidget()
        if focus in seen:
            break
        seen.append(focus)
        QTest.keyClick(focus, Qt.Key.Key_Tab)
    as_read = sorted(inputs(prompt.more), key=lambda field: _place(field, prompt))
    assert [field for field in seen if field in as_read] == as_read


@pytest.mark.parametrize(
    ("name", "scope"),
    [
        ("repetition_penalty", "prompt and output"),
        ("presence_penalty", "the output holds it, not the prompt"),
        ("frequency_penalty", "the output holds it, not the prompt"),
        ("logit_bias", "target and drafter alike"),
    ],
)
def test_a_tooltip_tells_scope_and_what_is_off(prompt: PromptView, name: str, scope: str) -> None:
    tip = getattr(prompt.more, name).toolTip()
    assert scope in tip
    assert "off" in tip


def test_what_decides_nothing_is_greyed_out(prompt: PromptView) -> None:
    prompt.set_state(PromptState(temperature=0.0, drafter="ngram"))
    more = prompt.more
    assert not any(f.isEnabled() for f in (prompt.top_p, more.min_p, more.confidence, more.k_min))
    assert more.repetition_penalty.isEnabled()  # moves the argmax too
    prompt.set_state(PromptState(temperature=0.0, drafter="head", more=FULL))
    assert all(f.isEnabled() for f in (prompt.top_p, more.min_p, more.confidence, more.k_min))


def test_early_exit_is_offered_with_five_sixths_of_the_layers(prompt: PromptView) -> None:
    prompt.show()
    assert not prompt.drafter.layers.isVisible()
    choose(prompt.drafter, "early exit")
    assert prompt.state.drafter == "early:25"  # of the default target; nothing is loaded
    assert prompt.drafter.layers.isVisible()
    assert prompt.drafter.layers.text() == "first 25 layers"
    assert prompt.drafter.list.toolTip().startswith("early exit: ")
    choose(prompt.drafter, "trained head")
    prompt.apply(DeskState(target=TARGET))
    choose(prompt.drafter, "early exit")
    assert prompt.state.drafter == "early:20"
    prompt.drafter.layers.setValue(5)
    assert prompt.state.drafter == "early:5"
    choose(prompt.drafter, "early exit")
    assert prompt.state.drafter == "early:5"


def test_a_run_offers_no_exit_that_its_target_lacks(prompt: PromptView) -> None:
    prompt.apply(DeskState(running=True, target=TARGET))
    choose(prompt.drafter, "early exit")
    prompt.drafter.layers.setValue(99)
    assert early_layers(prompt.state.drafter) == 23


def test_choosing_a_model_from_elsewhere_leaves_the_drafter(prompt: PromptView) -> None:
    asked: list[bool] = []
    prompt.choose_requested.connect(lambda: asked.append(True))
    choose(prompt.drafter, "Choose or open…")
    assert asked == [True]
    assert prompt.state.drafter == "head"
    assert prompt.drafter.list.currentText() == "trained head"
