"""The court as a widget: it follows, it pins, it explains, and it repaints only for news."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QGuiApplication, QHelpEvent

from app.theme import DARK, LIGHT
from app.viewmodels.court import EMPTY_COURT
from app.viewmodels.document import Document
from app.viewmodels.presentation import Presentation
from app.viewmodels.refs import CLOSING_SLOT, TokenRef
from app.views.court import CourtCanvas, CourtView
from app.views.hover_note import HoverNote
from app.views.legend import LegendView
from tests.traces import make_trace


@pytest.fixture
def court(qtbot):
    """Return a court in a window, and what it shows."""
    view = CourtView()
    qtbot.addWidget(view)
    view.resize(420, 560)
    document = Document(make_trace(rounds=20, k=4, temperature=1.0))
    presentation = Presentation(document, speed=1.0)
    presentation.seek(10**6)
    view.set_state(document, presentation)
    with qtbot.waitActive(view):
        view.show()
        view.activateWindow()
    return view, document, presentation


def test_it_follows_the_latest_verdict_until_pinned(qtbot, court):
    view, _, presentation = court
    presentation.seek(3)
    view.refresh()
    assert view.case.ref == TokenRef(3, CLOSING_SLOT)
    assert not view.follow_button.isEnabled()
    view.pin(TokenRef(1, 0))
    presentation.seek(5)
    view.refresh()
    assert view.case.ref == TokenRef(1, 0)
    with qtbot.waitSignal(view.unpinned):
        qtbot.mouseClick(view.follow_button, Qt.MouseButton.LeftButton)
    assert view.case.ref == TokenRef(5, CLOSING_SLOT)


def test_raw_law_is_switched_from_the_keyboard(qtbot, court):
    view, _, _ = court
    view.pin(TokenRef(1, 0))
    processed = view.canvas.grab().toImage()
    view.raw_switch.setFocus()
    qtbot.keyClick(view.raw_switch, Qt.Key.Key_Space)
    assert view.case.law == "raw"
    assert view.canvas.grab().toImage() != processed
    view.set_show_raw(False)
    assert not view.raw_switch.isChecked()
    assert view.case.law == "processed"


def test_case_is_told_to_screen_readers(court):
    view, document, _ = court
    view.pin(TokenRef(1, 0))
    described = view.canvas.accessibleDescription()
    assert view.case.verdict in described
    assert "p_target" in described
    document.clear()
    view.refresh()
    assert view.canvas.accessibleDescription() == EMPTY_COURT


def test_same_case_is_not_painted_again(qtbot, court):
    view, _, _ = court
    qtbot.wait(1)
    paints = view.canvas.paints
    for _ in range(20):
        view.refresh()
    qtbot.wait(1)
    assert view.canvas.paints == paints


def test_numbers_explain_themselves_on_hover(court):
    view, _, _ = court
    view.pin(TokenRef(1, 0))
    view.canvas.grab()
    note = view.canvas.findChild(HoverNote)
    told = set()
    for y in range(0, view.canvas.height(), 6):
        at = QPoint(60, y)
        event = QHelpEvent(QHelpEvent.Type.ToolTip, at, view.canvas.mapToGlobal(at))
        QGuiApplication.sendEvent(view.canvas, event)
        if note.isVisible():
            told.add(note.text())
    assert len(told) > 6
    assert note.textFormat() == Qt.TextFormat.PlainText
    assert any("measured" in text for text in told)


def test_low_court_scrolls_instead_of_cutting_off(court):
    view, _, _ = court
    view.pin(TokenRef(1, 0))
    view.resize(420, 200)
    assert view.canvas.height() > 200
    view.resize(420, 900)
    assert view.canvas.height() < 900


def test_focus_is_visible(court):
    view, _, _ = court
    view.canvas.setFocus()
    ringed = view.canvas.grab().toImage()
    view.canvas.clearFocus()
    assert view.canvas.grab().toImage() != ringed


def test_themes_can_be_switched(court):
    view, _, _ = court
    for theme in (LIGHT, DARK):
        view.set_theme(theme)
        assert view.canvas.grab().toImage().pixelColor(1, 1).name() == theme.base


@pytest.mark.parametrize("kind", [CourtView, CourtCanvas, LegendView, HoverNote])
def test_each_widget_can_be_made_alone(qtbot, kind):  # D33
    widget = kind()
    qtbot.addWidget(widget)
    widget.resize(300, 200)
    widget.set_theme(DARK)
    widget.grab()


def test_legend_names_and_explains_every_fate(qtbot):
    legend = LegendView()
    qtbot.addWidget(legend)
    legend.resize(700, legend.heightForWidth(700))
    legend.show()
    assert legend.heightForWidth(200) > legend.heightForWidth(700)
    for fate, style in LIGHT.fates.items():
        assert fate == style.label
        assert fate in legend.accessibleDescription()
    note = legend.findChild(HoverNote)
    at = QPoint(20, legend.height() // 2)
    event = QHelpEvent(QHelpEvent.Type.ToolTip, at, legend.mapToGlobal(at))
    QGuiApplication.sendEvent(legend, event)
    assert note.isVisible()
    assert "prompt" in note.text()


def test_note_stays_on_the_screen(qtbot):
    note = HoverNote()
    qtbot.addWidget(note)
    screen = QGuiApplication.primaryScreen().availableGeometry()
    corner = screen.adjusted(screen.width() - 4, screen.height() - 4, 0, 0)
    note.show_beside(corner, "u 0.5 " * 40)
    assert screen.contains(QRect(note.pos(), note.size()))  # offscreen adds a frame of its own
    note.show_beside(corner, "")
    assert not note.isVisible()
