"""Readings are painted inside their boxes, explained on hover and by keys, and never markup."""

from __future__ import annotations

import itertools

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF, QHelpEvent
from PySide6.QtWidgets import QApplication, QToolTip

from app.painting.readings import Size, columns, fitting, wrap
from app.theme import LIGHT
from app.viewmodels.readings import DASH, How, Reading, milliseconds, number, percent
from app.views.acceptance import AcceptanceView
from app.views.readings import ReadingRow


def reading(name="acceptance", text="73.5", detail="114/155 tested", definition="What it is."):
    return Reading(name, text, "%", How.MEASURED, detail, definition)


@pytest.fixture
def readings(qtbot):
    made = ReadingRow("Figures")
    qtbot.addWidget(made)
    made.set_theme(LIGHT)
    made.resize(420, made.sizeHint().height())
    made.set_readings([reading(), reading("<b>x</b>", detail="<img src=x>"), reading("third")])
    with qtbot.waitExposed(made):
        made.show()
    return made


@pytest.mark.parametrize("width", [40, 60, 200])
def test_a_number_is_never_wider_than_its_column(width, qapp):
    font = qapp.font()
    font.setPixelSize(30)
    assert fitting(Size.of(font, 1.0), "1,234×", width).width("1,234×") <= width + 1


def test_stacked_readings_stand_below_each_other_and_arrows_walk_them(readings, qtbot):
    readings.set_stacked(True)
    readings.resize(readings.sizeHint())
    boxes = [readings.box(i) for i in range(3)]
    for one, following in itertools.pairwise(boxes):
        assert following.top() >= one.bottom()
    assert boxes[-1].bottom() <= readings.height()
    readings.setFocus()
    qtbot.keyClick(readings, Qt.Key.Key_Down)
    assert readings._current == 1


@pytest.mark.parametrize("width", [160, 420, 900])
@pytest.mark.parametrize("compact", [True, False])
def test_columns_share_the_width_without_overlap(width, compact, qapp):
    shown = [reading(name) for name in ("acceptance", "draft yield", "tokens per pass", "expected")]
    spans = columns(shown, width, qapp.font(), compact=compact)
    for (left, own), (following, _) in itertools.pairwise(spans):
        assert left + own < following
    assert spans[-1][0] + spans[-1][1] <= width + 0.01


def test_wrapped_lines_fit_and_the_last_one_is_elided(qapp):
    metrics = QFontMetricsF(qapp.font())
    text = "this run / plain target, 95\N{NO-BREAK SPACE}%: 1.62–1.65 and much more than fits here"
    lines = wrap(text, metrics, 150, 2)
    assert len(lines) == 2
    assert all(metrics.horizontalAdvance(line) <= 150 for line in lines)
    assert lines[1].endswith("…")
    assert wrap(text, metrics, 1e6, 2) == [text]


@pytest.mark.case("B25")
def test_an_explanation_is_never_markup(readings, qapp):
    box = readings.box(1).center().toPoint()
    event = QHelpEvent(QHelpEvent.Type.ToolTip, box, readings.mapToGlobal(box))
    QApplication.sendEvent(readings, event)
    text = QToolTip.text()
    QToolTip.hideText()
    assert "&lt;b&gt;x&lt;/b&gt;" in text
    assert "&lt;img src=x&gt;" in text


def test_keys_explain_one_reading_after_the_other(readings, qtbot):
    readings.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(readings, Qt.Key.Key_Right)
    assert "&lt;b&gt;" in QToolTip.text()
    qtbot.keyClick(readings, Qt.Key.Key_Right)
    assert "third" in QToolTip.text()
    qtbot.keyClick(readings, Qt.Key.Key_Left)
    qtbot.keyClick(readings, Qt.Key.Key_Left)
    assert "acceptance" in QToolTip.text()
    QToolTip.hideText()


def test_screen_readers_get_number_how_and_divisor(readings):
    words = readings.accessibleDescription()
    assert "acceptance: 73.5 %, measured. 114/155 tested" in words
    dash = Reading("speed-up", DASH, "", How.MEASURED, "no plain round measured yet", "")
    assert dash.spoken == "speed-up: not known, measured. no plain round measured yet"


@pytest.mark.parametrize(
    ("share", "text"), [(1.0, "100"), (0.99999, "99.9"), (0.5, "50.0"), (0.0, "0.0")]
)
def test_a_share_is_100_only_when_it_is_whole(share, text):
    assert percent(share) == text


def test_numbers_have_three_digits():
    assert [number(x) for x in (0.314, 3.14159, 31.4159, 314.159, 31415.9)] == [
        "0.31",
        "3.14",
        "31.4",
        "314",
        "31,416",
    ]
    assert [milliseconds(ns) for ns in (0, 4_000, 300_000, 26_100_000)] == [
        "0.00",
        "0.004",
        "0.30",
        "26.1",
    ]


def test_narrow_panels_show_one_chart_by_tabs_and_wide_ones_all(qtbot):
    view = AcceptanceView()
    qtbot.addWidget(view)
    view.set_theme(LIGHT)
    view.resize(420, 260)
    with qtbot.waitExposed(view):
        view.show()
    charts = (view.positions, view.over_time, view.lengths)
    for chosen in range(3):
        view.tabs.setCurrentIndex(chosen)
        assert [chart.isVisible() for chart in charts] == [i == chosen for i in range(3)]
    view.resize(900, 500)
    assert all(chart.isVisible() for chart in charts)
    assert not view.tabs.isVisible()
