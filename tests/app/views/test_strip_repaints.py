"""The strip paints again only what changed; it looks as if all had been painted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QImage, QPixmap

from app.theme import LIGHT
from app.viewmodels.document import Document
from app.viewmodels.presentation import Presentation
from app.viewmodels.refs import TokenRef
from app.views.strip import StripView
from app.views.strip_area import MARGIN
from tests.traces import make_trace

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

SIZE = (420, 260)


class Shown:
    """A strip on screen and the presentation that it follows."""

    def __init__(self, qtbot: QtBot, rounds: int, seek: int, **keywords: object) -> None:
        quick = {"temperature": 1.0, "top_n": 0, "baseline": False, "probe_every": 0}
        self.document = Document(make_trace(rounds=rounds, **(quick | keywords)))  # type: ignore[arg-type]  # by name
        self.presentation = Presentation(self.document)
        self.presentation.seek(seek)
        self.view = StripView()
        qtbot.addWidget(self.view)
        self.view.set_theme(LIGHT)
        self.view.set_state(self.document, self.presentation)
        self.view.resize(*SIZE)
        self.view.show()
        qtbot.waitExposed(self.view)
        QCoreApplication.processEvents()

    def on_screen(self) -> QImage:
        """Return the pixels that painting after painting left on the screen."""
        view = self.view
        return self.whole_rows(view.screen().grabWindow(view.winId()))  # type: ignore[arg-type]  # an id

    def afresh(self) -> QImage:
        return self.whole_rows(self.view.grab())

    def whole_rows(self, picture: QPixmap) -> QImage:
        """Leave out a row that the edge cuts: Qt begins a dotted line anew where it is cut."""
        line = round(self.view.placed.row_height)
        cut = max(0, self.view.verticalScrollBar().value() - MARGIN) % line
        return picture.copy(0, line - cut if cut else 0, SIZE[0], SIZE[1]).toImage()


@pytest.fixture
def shown(qtbot: QtBot) -> Callable[..., Shown]:
    return lambda rounds=120, seek=-1, **more: Shown(qtbot, rounds, seek, **more)


def equal(one: QImage, other: QImage) -> bool:
    wanted = QImage.Format.Format_RGB32
    return one.convertToFormat(wanted) == other.convertToFormat(wanted)


@pytest.mark.parametrize("points", [8.0, 14.0, 21.0])
def test_what_is_on_screen_is_what_a_whole_painting_makes(
    shown: Callable[..., Shown], points: float
) -> None:
    strip = shown()
    strip.view.set_point_size(points)
    QCoreApplication.processEvents()
    scrolled = 0
    for round_index in range(0, 100, 3):
        for phase in ("draft", "verify", "done"):
            strip.presentation.seek(round_index, phase)  # type: ignore[arg-type]  # a phase
            before = strip.view.verticalScrollBar().value()
            strip.view.refresh()
            QCoreApplication.processEvents()
            scrolled += strip.view.verticalScrollBar().value() != before
            assert equal(strip.on_screen(), strip.afresh()), (round_index, phase)
    assert scrolled > 3


def test_going_back_leaves_nothing_of_what_was_shown(shown: Callable[..., Shown]) -> None:
    strip = shown(seek=60)
    for round_index in (59, 57, 40, 41, 8, 0, -1):
        strip.presentation.seek(round_index)
        strip.view.refresh()
        QCoreApplication.processEvents()
        assert equal(strip.on_screen(), strip.afresh()), round_index


def test_a_pinned_and_a_focused_token_keep_their_rings(shown: Callable[..., Shown]) -> None:
    strip = shown(seek=2)
    strip.view.setFocus()
    for round_index in range(3, 40):
        strip.presentation.seek(round_index)
        strip.view.focused = strip.view.model.chips[-2].ref  # type: ignore[union-attr]  # it has one
        strip.view.set_pinned(strip.view.model.chips[-9].ref)  # type: ignore[union-attr]  # as above
        strip.view.refresh()
        QCoreApplication.processEvents()
        assert equal(strip.on_screen(), strip.afresh()), round_index


def test_an_arrow_follows_its_ends_while_the_text_grows_and_moves(
    shown: Callable[..., Shown],
) -> None:
    strip = shown(seek=2, drafter="ngram", temperature=0.0)
    arrows = 0
    for round_index in (*range(3, 40, 2), 33, 20, 7):
        for phase in ("draft", "done"):
            strip.presentation.seek(round_index, phase)  # type: ignore[arg-type]  # a phase
            strip.view.set_pinned(TokenRef(round_index - round_index % 4, 0))
            strip.view.refresh()
            QCoreApplication.processEvents()
            assert equal(strip.on_screen(), strip.afresh()), (round_index, phase)
            arrows += strip.view._arrow_end >= 0
    assert arrows > 10
    bar = strip.view.verticalScrollBar()
    for value in (bar.maximum() - 40, bar.maximum() - 41, 60, 10, 0):
        bar.setValue(value)
        QCoreApplication.processEvents()
        assert equal(strip.on_screen(), strip.afresh()), value


def test_an_arrow_goes_with_a_draft_that_is_not_kept_in_place(
    shown: Callable[..., Shown],
) -> None:
    strip = shown(seek=2, drafter="ngram", temperature=0.0)
    strip.view.set_show_drafts(False)
    gone = 0
    for round_index in range(3, 60):
        strip.view.set_pinned(TokenRef(round_index, 0))
        ends = []
        for phase in ("verify", "done"):
            strip.presentation.seek(round_index, phase)  # type: ignore[arg-type]  # a phase
            strip.view.refresh()
            QCoreApplication.processEvents()
            assert equal(strip.on_screen(), strip.afresh()), (round_index, phase)
            ends.append(strip.view._arrow_end)
        gone += ends[0] >= 0 > ends[1]
    assert gone > 3


def test_following_paints_what_came_and_not_the_rows_above(shown: Callable[..., Shown]) -> None:
    strip = shown(seek=80)
    strip.view.viewport().repaint()
    in_sight = strip.view.painted_items
    strip.presentation.speed = 20.0
    work = []
    while strip.presentation.visible_rounds() < 118:  # how it ended is said below
        if strip.presentation.advance(1 / 30):
            strip.view.painted_items = 0
            strip.view.refresh()
            QCoreApplication.processEvents()
            work.append(strip.view.painted_items)
    assert len(work) > 60
    assert sum(work) / len(work) < in_sight / 5
    assert max(work) < in_sight / 2  # scrolled by a row, the others are moved
