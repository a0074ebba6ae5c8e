"""The strip by pointer and keys: pinning, moving, copying, following, and bounded painting."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QHelpEvent, QWheelEvent

from app.theme import DARK, LIGHT
from app.viewmodels.document import Document
from app.viewmodels.presentation import Presentation
from app.viewmodels.refs import PROMPT_ROUND, TokenRef
from app.viewmodels.strip import EMPTY_NOTICE
from app.views.strip import StripView
from app.views.strip_area import DEFAULT_POINTS, LEAST_POINTS, MOST_POINTS
from tests.traces import make_trace


@pytest.fixture
def strip(qtbot):
    """Return a strip in a window, and what it shows."""

    def show(rounds=40, seek=10**6, size=(520, 300), **keywords):
        view = StripView()
        qtbot.addWidget(view)
        view.resize(*size)
        keywords = {"k": 4, "temperature": 1.0} | keywords
        document = Document(make_trace(rounds=rounds, **keywords))
        presentation = Presentation(document, speed=1.0)
        presentation.seek(seek)
        view.set_state(document, presentation)
        with qtbot.waitActive(view):
            view.show()
            view.activateWindow()
        return view, document, presentation

    return show


def centre(view, ref):
    return view.chip_rect(view.index_of(ref)).center()


def first_emitted(view):
    return next(chip.ref for chip in view.model.chips if not chip.ref.in_prompt)


def key(qtbot, view, which, modifier=Qt.KeyboardModifier.NoModifier):
    qtbot.keyClick(view, which, modifier)


def hover(qtbot, view, at):
    qtbot.mouseMove(view.viewport(), at)
    event = QHelpEvent(QHelpEvent.Type.ToolTip, at, view.viewport().mapToGlobal(at))
    QGuiApplication.sendEvent(view.viewport(), event)


def test_click_pins_and_a_second_click_lets_go(qtbot, strip):
    view, _, _ = strip(rounds=3)
    ref = first_emitted(view)
    with qtbot.waitSignal(view.token_pinned) as caught:
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=centre(view, ref))
    assert caught.args == [ref]
    assert view.pinned == ref
    with qtbot.waitSignal(view.token_unpinned):
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=centre(view, ref))
    assert view.pinned is None


def test_click_beside_the_text_pins_nothing(qtbot, strip):
    view, _, _ = strip(rounds=1)
    with qtbot.assertNotEmitted(view.token_pinned):
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(2, 2))


def test_everything_from_the_keyboard(qtbot, strip):
    view, _, _ = strip(rounds=6)
    view.setFocus()
    refs = [chip.ref for chip in view.model.chips]
    key(qtbot, view, Qt.Key.Key_Home)
    assert view.focused == refs[0]
    key(qtbot, view, Qt.Key.Key_Right)
    key(qtbot, view, Qt.Key.Key_Right)
    assert view.focused == refs[2]
    key(qtbot, view, Qt.Key.Key_Left)
    assert view.focused == refs[1]
    key(qtbot, view, Qt.Key.Key_End)
    assert view.focused == refs[-1]
    with qtbot.waitSignal(view.token_pinned) as caught:
        key(qtbot, view, Qt.Key.Key_Return)
    assert caught.args == [refs[-1]]
    with qtbot.waitSignal(view.token_unpinned):
        key(qtbot, view, Qt.Key.Key_Escape)


def test_up_and_down_change_the_row_and_come_back(qtbot, strip):
    view, _, _ = strip()
    view.setFocus()
    key(qtbot, view, Qt.Key.Key_Home)
    rows = [view.placed.row_of(view.index_of(view.focused))]
    for _ in range(4):
        key(qtbot, view, Qt.Key.Key_Down)
        rows.append(view.placed.row_of(view.index_of(view.focused)))
    assert rows == sorted(rows)
    assert rows[-1] > rows[0]
    for _ in range(6):
        key(qtbot, view, Qt.Key.Key_Up)
    assert view.placed.row_of(view.index_of(view.focused)) == 0


def test_the_focused_token_is_scrolled_into_sight(qtbot, strip):
    view, _, _ = strip(rounds=200)
    view.setFocus()
    for which in (Qt.Key.Key_Home, Qt.Key.Key_PageDown, Qt.Key.Key_End, Qt.Key.Key_PageUp):
        key(qtbot, view, which)
        rect = view.chip_rect(view.index_of(view.focused))
        assert view.viewport().rect().contains(rect.center())


def test_focus_is_visible(qtbot, strip):
    view, _, _ = strip(rounds=3)
    view.setFocus()
    key(qtbot, view, Qt.Key.Key_Home)
    ringed = view.grab().toImage()
    view.clearFocus()
    assert view.grab().toImage() != ringed


def test_copy_takes_the_text_in_logical_order(qtbot, strip):
    view, document, presentation = strip()
    view.setFocus()
    key(qtbot, view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    whole = "".join(text for one in document.rounds for text in one.texts)
    assert QGuiApplication.clipboard().text() == whole + document.finished.tail
    presentation.seek(2, "draft")
    view.refresh()
    view.copy()
    shown = "".join(text for one in document.rounds[:2] for text in one.texts)
    assert QGuiApplication.clipboard().text() == shown


def test_size_changes_by_keys_and_wheel_within_limits(qtbot, strip):
    view, _, _ = strip(rounds=3)
    rows = view.placed.row_height
    with qtbot.waitSignal(view.point_size_changed):
        key(qtbot, view, Qt.Key.Key_Plus, Qt.KeyboardModifier.ControlModifier)
    assert view.placed.row_height > rows
    key(qtbot, view, Qt.Key.Key_Minus, Qt.KeyboardModifier.ControlModifier)
    assert view.point_size == pytest.approx(DEFAULT_POINTS)
    at = QPointF(50, 50)
    wheel = QWheelEvent(
        at,
        view.mapToGlobal(at),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.ControlModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QGuiApplication.sendEvent(view.viewport(), wheel)
    assert view.point_size > DEFAULT_POINTS
    view.set_point_size(1.0)
    assert view.point_size == LEAST_POINTS
    view.set_point_size(1e9)
    assert view.point_size == MOST_POINTS
    view.zoom_reset()
    assert view.point_size == DEFAULT_POINTS


def test_it_follows_the_end_unless_scrolled_up(qtbot, strip):
    view, _, presentation = strip(rounds=200, seek=20)
    bar = view.verticalScrollBar()
    presentation.seek(100)
    view.refresh()
    assert bar.value() == bar.maximum() > 0
    bar.setValue(bar.maximum() // 2)
    where = bar.value()
    presentation.seek(150)
    view.refresh()
    assert bar.value() == where
    bar.setValue(bar.maximum())
    presentation.seek(199)
    view.refresh()
    assert bar.value() == bar.maximum()


def test_note_tells_the_numbers_where_the_pointer_rests(qtbot, strip):
    view, _, _ = strip(rounds=4)
    hover(qtbot, view, centre(view, first_emitted(view)))
    assert view.note.isVisible()
    assert "round 1" in view.note.text()
    hover(qtbot, view, QPoint(1, 1))
    assert not view.note.isVisible()


@pytest.mark.case("B25")
@pytest.mark.parametrize("piece", [b"<b>x</b>", b"&lt;", b"<img src=x>", b"a<b"])
def test_markup_in_a_note_is_plain_text(qtbot, strip, piece):
    view, _, _ = strip(rounds=2, vocabulary=(piece, b" the", b" of"))
    ref = TokenRef(PROMPT_ROUND, 0)
    hover(qtbot, view, centre(view, ref))
    assert view.note.textFormat() == Qt.TextFormat.PlainText
    assert view.describe(ref) == view.note.text()


def test_note_comes_with_the_keys_and_goes_with_the_focus(qtbot, strip):
    view, _, _ = strip(rounds=3)
    view.setFocus()
    key(qtbot, view, Qt.Key.Key_End)
    assert view.note.isVisible()
    assert view.note.text() in view.accessibleDescription()
    view.clearFocus()
    assert not view.note.isVisible()


def test_it_is_named_for_screen_readers(strip):
    view, _, _ = strip(rounds=1)
    assert view.accessibleName() == "Text"
    assert "Enter pins" in view.accessibleDescription()


def test_source_of_a_copy_stands_out_on_hover(qtbot, strip):
    view, document, _ = strip(drafter="ngram", temperature=0.0, rounds=30)
    one = next(r for r in document.rounds if r.match and r.match.start < r.position)
    view.hovered = TokenRef(one.index, 0)
    source = view.index_of(view.model.source(view.hovered))
    shown = view._highlights()
    assert shown.source == source
    copied = view.model.copied(view.hovered)
    assert shown.sources == {view.index_of(ref) for ref in copied.sources}
    assert source in shown.sources


@pytest.mark.parametrize("role", ["hovered", "pinned"])
def test_arrow_comes_with_the_token_told_of_and_goes_with_it(strip, role):
    view, document, _ = strip(drafter="ngram", temperature=0.0, rounds=30)
    view.resize(600, 2000)
    one = next(r for r in document.rounds if r.match and r.match.start < r.position)
    bare = view.grab().toImage()
    view.pinned = TokenRef(PROMPT_ROUND, 0)
    assert view._arrow_ends() is None
    setattr(view, role, TokenRef(one.index, 0))
    few = view.painted_items
    assert view.grab().toImage() != bare
    assert view.painted_items >= few + 6
    assert view._arrow_ends().drafted[-1] == view._arrow_end
    view.hovered = view.pinned = None
    assert view.grab().toImage() == bare
    assert view._arrow_end == -1


def test_pinning_from_outside_marks_without_a_signal(qtbot, strip):
    view, _, _ = strip(rounds=2)
    before = view.grab().toImage()
    with qtbot.assertNotEmitted(view.token_pinned):
        view.set_pinned(first_emitted(view))
    assert view.grab().toImage() != before


def test_hidden_drafts_shorten_the_text(strip):
    view, _, _ = strip(rounds=60)
    rows = len(view.placed.rows)
    view.set_show_drafts(False)
    assert len(view.placed.rows) < rows
    view.set_show_drafts(True)
    assert len(view.placed.rows) == rows


def test_narrow_and_wide_windows_wrap_anew(strip):
    view, _, _ = strip(rounds=60)
    rows = len(view.placed.rows)
    view.resize(260, 300)
    assert len(view.placed.rows) > rows
    view.resize(520, 300)
    assert len(view.placed.rows) == rows


def test_themes_differ_and_can_be_switched(strip):
    view, _, _ = strip(rounds=3)
    view.set_theme(LIGHT)
    light = view.grab().toImage()
    view.set_theme(DARK)
    dark = view.grab().toImage()
    assert light.pixelColor(3, 3).name() == LIGHT.base
    assert dark.pixelColor(3, 3).name() == DARK.base


def test_without_a_run_it_says_what_to_do(qtbot):
    view = StripView()
    qtbot.addWidget(view)
    view.resize(400, 200)
    document = Document()
    view.set_state(document, Presentation(document))
    assert view.model.notice == EMPTY_NOTICE
    view.grab()
    assert view.painted_items == 0


def test_view_alone_can_be_made_shown_and_used(qtbot):  # D33
    view = StripView()
    qtbot.addWidget(view)
    view.refresh()
    view.copy()
    view.set_show_drafts(False)
    view.grab()
    assert view.model is None


def test_cleared_document_leaves_an_empty_strip(strip):
    view, document, presentation = strip()
    document.clear()
    presentation.advance(0.0)
    view.refresh()
    assert view.placed.count == 0
    assert view.verticalScrollBar().maximum() == 0


def test_new_run_lets_the_pinned_token_go(qtbot, strip):
    view, document, presentation = strip()
    view.pin(first_emitted(view))
    document.clear()
    presentation.advance(0.0)
    with qtbot.waitSignal(view.token_unpinned):
        view.refresh()
    assert view.pinned is None


def test_50_000_tokens_are_followed_with_bounded_work(qtbot, strip):  # D16
    view, _, presentation = strip(rounds=12_000, top_n=0, baseline=False, seek=11_990)
    assert len(view.model.chips) > 50_000
    laid_out = view.placed.laid_out
    rows_in_sight = view.viewport().height() / view.placed.row_height + 2
    ticks = 0
    while not presentation.at_end:
        if presentation.advance(1 / 60):
            view.refresh()
            view.viewport().repaint()
            assert 0 < view.painted_items < rows_in_sight * 60
            ticks += 1
    assert ticks > 20
    assert view.placed.laid_out - laid_out < ticks * 120


def test_a_tick_without_news_paints_nothing(qtbot, strip):
    view, _, _ = strip()
    painted = []
    paint = type(view).paintEvent
    view.paintEvent = lambda event: (painted.append(event), paint(view, event))
    qtbot.wait(1)
    painted.clear()
    for _ in range(20):
        view.refresh()
    qtbot.wait(1)
    assert painted == []
