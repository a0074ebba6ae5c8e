"""Banners are plain text, few, and can be dismissed."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QVBoxLayout, QWidget

from app.views.banner import MOST_BANNERS, BannerArea

MARKUP = ["<b>x</b>", "&lt;", "<img src=x>", "a<b", "</script>"]


@pytest.fixture
def area(qapp: QApplication) -> BannerArea:
    return BannerArea()


@pytest.mark.case("B25")
@pytest.mark.parametrize("text", MARKUP)
def test_text_never_becomes_markup(area: BannerArea, text: str) -> None:
    banner = area.show_error(text)
    assert banner.label.textFormat() is Qt.TextFormat.PlainText
    assert banner.label.text() == text
    for label in banner.findChildren(QLabel):
        assert label.textFormat() is Qt.TextFormat.PlainText or not label.text()


def test_the_same_error_stands_once(area: BannerArea) -> None:
    area.show_error("It failed.")
    area.show_error("It failed.")
    assert area.texts() == ["It failed."]


def test_oldest_gives_way(area: BannerArea) -> None:
    for number in range(MOST_BANNERS + 2):
        area.show_notice(f"Notice {number}.")
    assert len(area.texts()) == MOST_BANNERS
    assert area.texts()[-1] == f"Notice {MOST_BANNERS + 1}."


def test_dismissing_leaves_the_others(area: BannerArea) -> None:
    area.show_notice("Stays.")
    gone: list[str] = []
    area.dismissed.connect(gone.append)
    area.show_error("Goes.").close_button.click()
    assert area.texts() == ["Stays."]
    assert gone == ["error:Goes."]


def test_what_waits_for_a_choice_outlives_what_is_over(area: BannerArea) -> None:
    area.show_error("It failed.")
    area.show_banner("choice", "notice", "Choose.", (("one", "One"),))
    area.remove_passing()
    assert area.texts() == ["Choose."]


def test_a_banner_that_goes_leaves_the_focus_to_its_heir(qapp: QApplication) -> None:
    window = QWidget()
    heir, other = QPushButton("heir"), QPushButton("other")
    area = BannerArea(heir)
    layout = QVBoxLayout(window)
    for part in (other, area, heir):
        layout.addWidget(part)
    window.show()
    QTest.qWaitForWindowActive(window)
    banner = area.show_banner("fetch", "notice", "Fetch it?", (("start", "Fetch"),))
    banner.buttons["start"].setFocus()
    banner = area.show_banner("fetch", "notice", "Fetching", (("cancel", "Cancel"),))
    assert banner.buttons["cancel"].hasFocus()
    area.remove("fetch")
    assert heir.hasFocus()
    other.setFocus()
    area.show_notice("Done.").close_button.click()
    assert other.hasFocus()
    window.close()


def test_choice_names_banner_and_button(area: BannerArea) -> None:
    chosen: list[tuple[str, str]] = []
    area.chosen.connect(lambda key, name: chosen.append((key, name)))
    banner = area.show_banner("journal", "warning", "A run was kept.", (("restore", "Restore"),))
    banner.buttons["restore"].click()
    assert chosen == [("journal", "restore")]
