"""What looks like markup is shown as it is written: in the court's table, in tips, in messages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint
from PySide6.QtGui import QGuiApplication, QHelpEvent, Qt, QTextDocument
from PySide6.QtWidgets import QComboBox

import app
from app.viewmodels.court import CourtModel
from app.viewmodels.document import Document
from app.viewmodels.presentation import Presentation
from app.viewmodels.refs import TokenRef
from app.views.court import CourtView
from app.views.fields import select
from app.views.plain_tips import plain_tip
from tests.app.texts import MARKUP
from tests.traces import make_trace

STATIC = "information|warning|critical|question|about"  # boxes whose text Qt may take for markup
pytestmark = [pytest.mark.case("B25"), pytest.mark.usefixtures("qapp")]


@pytest.fixture
def shown():
    """A run over a vocabulary of markup, at its end."""
    pieces = tuple(token.encode() for token in MARKUP)
    document = Document(make_trace(rounds=8, temperature=1.0, vocabulary=(*pieces, b" the")))
    presentation = Presentation(document)
    presentation.seek(10**6)
    return document, presentation


def seen_in(tip):
    """What a tool tip shows of its text."""
    if not Qt.mightBeRichText(tip):
        return tip
    page = QTextDocument()
    page.setHtml(tip)
    return page.toPlainText()


def test_the_courts_table_names_tokens_as_they_are(qtbot, shown):
    document, presentation = shown
    model = CourtModel(document, presentation)
    labels = set()
    for one in document.rounds:
        for slot, token in enumerate(one.drafted):
            model.pinned = TokenRef(one.index, slot)
            case = model.case()
            assert case.label == token.piece.decode().replace(" ", "␣", token.piece[:1] == b" ")
            labels |= {bar.label for bar in case.bars}
            assert case.label in case.in_words()
    assert set(MARKUP) <= labels


def test_the_courts_note_is_plain_text(qtbot, shown):
    view = CourtView()
    qtbot.addWidget(view)
    view.resize(460, 700)
    view.set_state(*shown)
    view.show()
    view.canvas.grab()
    noted = set()
    for y in range(0, view.canvas.height(), 6):
        at = QPoint(30, y)
        event = QHelpEvent(QHelpEvent.Type.ToolTip, at, view.canvas.mapToGlobal(at))
        QGuiApplication.sendEvent(view.canvas, event)
        assert view.canvas._note.textFormat() == Qt.TextFormat.PlainText
        noted |= {token for token in MARKUP if token in view.canvas._note.text()}
    assert noted == set(MARKUP)


@pytest.mark.parametrize("text", [*MARKUP, "/models/<b>x</b>/a  b.gguf", "a & b", "plain"])
def test_a_tip_of_a_name_shows_the_name(text):
    assert seen_in(plain_tip(text)) == text
    box = QComboBox()
    select(box, text, text)
    assert seen_in(box.toolTip()) == box.currentText() == text


@given(st.text("<b>/&;lt x", min_size=1))
def test_any_tip_shows_exactly_its_text(text):
    assert seen_in(plain_tip(text)) == text


def test_every_message_box_is_plain_text():
    boxes = 0
    for path in Path(app.__file__).parent.rglob("*.py"):
        source = path.read_text("utf-8")
        assert not re.search(
            r"QMessageBox\.(information|warning|critical|question|about)\(", source
        )
        boxes += source.count("QMessageBox(")
        if "QMessageBox(" in source:
            assert "setTextFormat(Qt.TextFormat.PlainText)" in source
    assert boxes
