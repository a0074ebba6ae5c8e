"""The drafters' list: what it says of each, what cannot be chosen, and how it is painted."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QStyleOptionViewItem

from app.theme import THEMES
from app.viewmodels.drafters import TrainedDrafter, drafter_choices
from app.views.drafter_field import DrafterField
from app.views.models import ModelsDialog

HASHES = ("tokens", "sizes", "norms")
OWN = TrainedDrafter(
    "trained:mine", size=8_000_000, parameters=4_000_000, greedy=(0.62,), tokens=9, made_for=HASHES
)


@pytest.fixture
def field(qtbot):
    made = DrafterField()
    qtbot.addWidget(made)
    return made


def offer(field, made_for=()):
    field.set_choices(drafter_choices((OWN,), (), made_for=made_for))


def row(field, spec):
    return field.list.findData(spec)


def test_the_one_chosen_is_told_with_its_numbers(field):
    offer(field)
    field.set_spec("trained:mine")
    assert field.list.currentText() == "trained mine"
    assert field.detail.text() == "62 % accepted · 8.0 MB · 4.0 M parameters"
    assert "held-out text" in field.detail.toolTip()
    assert field.list.toolTip() == field.detail.toolTip()


def test_one_for_another_target_is_pale_and_stays_where_it_was_chosen(field):
    field.set_spec("trained:mine")
    offer(field, made_for=("another",))
    flags = field.list.model().index(row(field, "trained:mine"), 0).flags()
    assert not flags & Qt.ItemFlag.ItemIsEnabled
    assert field.spec == "trained:mine"
    assert field.detail.text().startswith("made for another target")
    offer(field, made_for=HASHES)
    flags = field.list.model().index(row(field, "trained:mine"), 0).flags()
    assert flags & Qt.ItemFlag.ItemIsEnabled


def test_early_exit_is_one_row_whatever_its_layers(field):
    offer(field)
    field.set_spec("early:7")
    assert field.list.currentText() == "early exit"
    assert "cut short" in field.detail.text()
    assert not field.layers.isHidden()
    field.set_spec("ngram")
    assert field.layers.isHidden()


def test_choosing_a_row_says_so_once(field, qtbot):
    offer(field)
    field.set_spec("ngram")
    with qtbot.waitSignal(field.edited):
        field.list.setCurrentIndex(row(field, "trained:mine"))
        field.list.activated.emit(field.list.currentIndex())
    assert field.spec == "trained:mine"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("ratio", [1.0, 2.0])
def test_title_and_numbers_are_painted_in_their_own_colours(field, theme, ratio):
    field.set_theme(THEMES[theme])

    def colours(made_for):
        offer(field, made_for=made_for)
        index = field.list.model().index(row(field, "trained:mine"), 0)
        option = QStyleOptionViewItem()
        option.initFrom(field.list.view())
        size = field.list.itemDelegate().sizeHint(option, index)
        option.rect = QRect(0, 0, size.width(), size.height())
        option.widget = field.list.view()
        image = QImage(size * ratio, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(ratio)
        image.fill(QColor(THEMES[theme].base))
        with QPainter(image) as painter:
            field.list.itemDelegate().paint(painter, option, index)
        return {
            image.pixelColor(x, y).name()
            for x in range(image.width())
            for y in range(image.height())
        }

    sound, other = colours(()), colours(("another",))
    assert {THEMES[theme].text, THEMES[theme].muted} <= sound
    assert THEMES[theme].text not in other
    assert {THEMES[theme].outline, THEMES[theme].muted} <= other


def test_the_dialog_tells_and_forbids_the_same(qtbot):
    dialog = ModelsDialog()
    qtbot.addWidget(dialog)
    dialog.offer([], drafter_choices((OWN,), (), made_for=("another",)), "target", "ngram")
    rows = [dialog.drafters.list.item(i) for i in range(dialog.drafters.list.count())]
    (own,) = (item for item in rows if item.text().startswith("trained mine\n"))
    assert "made for another target" in own.text()
    assert not own.flags() & Qt.ItemFlag.ItemIsEnabled
    assert dialog.drafters.value == "ngram"
