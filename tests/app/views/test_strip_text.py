"""The text by pointer, keys and clipboard where texts go wrong elsewhere."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication, QHelpEvent

from app.viewmodels.document import Document
from app.viewmodels.presentation import Presentation
from app.viewmodels.refs import CLOSING_SLOT, PROMPT_ROUND, TokenRef
from app.views.strip import StripView
from engine.trace.text import text_of
from tests.app.texts import MARKUP, run_of

HEBREW = "\u05e9\u05dc\u05d5\u05dd"
LONG = "".join(chr(0x61 + number % 26) for number in range(20_000))


@pytest.fixture
def strip(qtbot):
    """Show a run's events in a window; return the strip."""

    def show(events):
        view = StripView()
        qtbot.addWidget(view)
        view.resize(520, 300)
        view.set_state(*state(events))
        with qtbot.waitActive(view):
            view.show()
            view.activateWindow()
        return view

    return show


def state(events):
    document = Document(events)
    presentation = Presentation(document)
    presentation.seek(10**6)
    return document, presentation


def middle_of(view, ref):
    view.show_chip(view.index_of(ref))
    return view.chip_rect(view.index_of(ref)).center()


def note_at(qtbot, view, at):
    qtbot.mouseMove(view.viewport(), at)
    event = QHelpEvent(QHelpEvent.Type.ToolTip, at, view.viewport().mapToGlobal(at))
    QGuiApplication.sendEvent(view.viewport(), event)
    return view.note


def copied(view):
    view.copy()
    return QGuiApplication.clipboard().text()


@pytest.mark.case("B17")
@pytest.mark.parametrize("emoji", [1, 100])
def test_pointer_and_clipboard_are_right_after_emoji(qtbot, strip, emoji):
    view = strip(run_of(["a", *["\U0001f60a"] * emoji, "b"]))
    last = TokenRef(0, CLOSING_SLOT)
    at = middle_of(view, last)
    qtbot.mouseMove(view.viewport(), at)
    assert view.hovered == last
    with qtbot.waitSignal(view.token_pinned) as caught:
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert caught.args == [last]
    assert view.placed.parts_of(view.index_of(last))[0][1].text == "b"
    before = TokenRef(0, emoji)
    assert view.ref_at(middle_of(view, before)) == before
    assert copied(view) == "a" + "\U0001f60a" * emoji + "b"
    assert len(copied(view)) == emoji + 2  # code points; Qt counts each emoji twice


@pytest.mark.case("B22")
def test_text_is_copied_up_to_the_stop_and_the_token_is_told_whole(qtbot, strip):
    events = run_of(["A", " dog"], [" Wait", "...", " no", " x"], stops=[".."])
    view = strip(events)
    assert copied(view) == text_of(events) == "A dog Wait"
    note = note_at(qtbot, view, middle_of(view, TokenRef(1, 1)))
    assert note.text().startswith("“...”")
    assert "A stop string cut all of it from the text." in note.text()
    assert "“..”" in view.model.notice


@pytest.mark.case("B23")
def test_directions_leave_the_copy_and_the_keys_in_logical_order(qtbot, strip):
    pieces = [HEBREW, "123", "abc", "\t", HEBREW]
    view = strip(run_of(pieces))
    assert copied(view) == f"{HEBREW}123abc\t{HEBREW}"
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_Home)
    walked = [view.focused]
    for _ in pieces[1:]:
        qtbot.keyClick(view, Qt.Key.Key_Right)
        walked.append(view.focused)
    assert walked == [*(TokenRef(0, slot) for slot in range(4)), TokenRef(0, CLOSING_SLOT)]
    lefts = [view.chip_rect(view.index_of(ref)).left() for ref in walked]
    assert lefts == sorted(lefts)


@pytest.mark.case("B25")
@pytest.mark.parametrize("token", MARKUP)
def test_markup_is_literal_in_text_note_and_description(qtbot, strip, token):
    view = strip(run_of([token, " x"], prompt=[token]))
    for ref in (TokenRef(PROMPT_ROUND, 0), TokenRef(0, 0)):
        assert view.placed.parts_of(view.index_of(ref))[0][1].text == token
        note = note_at(qtbot, view, middle_of(view, ref))
        assert note.textFormat() == Qt.TextFormat.PlainText
        assert note.text().startswith(f"“{token}”")
    assert copied(view) == f"{token} x"
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_Home)
    assert f"“{token}”" in view.accessibleDescription()


@pytest.mark.case("B25")
def test_a_long_token_is_told_without_what_a_screen_must_not_be_sent(qtbot, strip):
    view = strip(run_of([b"<b>\x1b[31m\xff" + b"x" * 500 + "\u202e".encode()]))
    note = note_at(qtbot, view, view.chip_rect(0).topLeft() + QPoint(12, 8))
    (line,) = [line for line in note.text().splitlines() if "characters: " in line]
    assert line.startswith("510 characters: <b>⟨1B⟩[31m⟨FF⟩xxx")


@pytest.mark.case("B27")
def test_a_run_that_ends_at_once_says_so(strip):
    view = strip(run_of(["<|im_end|>"], end="<|im_end|>"))
    assert "ended at once" in view.model.notice
    assert "end token" in view.model.notice
    assert copied(view) == ""
    with_notice = view.grab().toImage()
    assert with_notice != strip(run_of(["<|im_end|>"])).grab().toImage()


@pytest.mark.case("B28")
def test_a_long_token_is_shown_whole_on_request_and_folded_again(qtbot, strip):
    view = strip(run_of([LONG, " and", " on"]))
    ref = TokenRef(0, 0)
    folded = len(view.placed.rows)
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_Home)
    assert "20,000 characters" in view.note.text()
    assert "Shift+Enter" in view.note.text()
    qtbot.keyClick(view, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    parts = view.placed.parts_of(view.index_of(ref))
    assert "".join(placed.text for _, placed in parts) == LONG
    assert view.pinned is None
    assert view.viewport().rect().intersects(view.chip_rect(0))
    assert copied(view) == f"{LONG} and on"
    view.viewport().repaint()
    assert view.painted_items < 40  # the rows in sight
    at = view.chip_rect(0).center()
    assert "only its ends again" in note_at(qtbot, view, at).text()
    shift = Qt.KeyboardModifier.ShiftModifier
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, shift, at)
    assert len(view.placed.rows) == folded
    assert view.pinned is None


@pytest.mark.case("B28")
def test_an_append_to_an_endless_line_is_laid_out_once(strip, monkeypatch):
    events = run_of([LONG], *[[" word"]] * 5_000)
    view = strip(events[:-201])
    presentation, document = view.model._presentation, view.model._document
    updates, laid_out = [], view.placed.laid_out
    assert len(view.model.chips) == 4_801
    update = view.placed.update
    monkeypatch.setattr(view.placed, "update", lambda *a: (updates.append(a), update(*a))[1])
    for event in events[-201:-1]:
        document.extend([event])
        presentation.seek(10**6)
        view.refresh()
        view.viewport().repaint()
        assert view.painted_items < 400  # the rows in sight
    assert len(updates) == 200
    assert view.placed.laid_out - laid_out < 200 * 40
    assert len(view.model.chips) == 5_001


def test_shift_and_click_pins_a_token_that_is_not_long(qtbot, strip):
    view = strip(run_of(["a", " b"]))
    ref = TokenRef(0, 0)
    shift = Qt.KeyboardModifier.ShiftModifier
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, shift, middle_of(view, ref))
    assert view.pinned == ref


def test_a_long_token_that_is_unfolded_stays_in_sight_and_the_end_is_followed_again(strip):
    events = run_of(["a", LONG], *[[" word"]] * 300)
    view = strip(events)
    bar = view.verticalScrollBar()
    assert bar.value() == bar.maximum()
    view.toggle_whole(TokenRef(0, CLOSING_SLOT))
    assert bar.value() < bar.maximum()
    assert view.viewport().rect().intersects(view.chip_rect(1))
    bar.setValue(bar.maximum())
    view.toggle_whole(TokenRef(0, CLOSING_SLOT))
    view.follow()
    assert bar.value() == bar.maximum()


@pytest.mark.parametrize("ref", [TokenRef(PROMPT_ROUND, 0), TokenRef(0, CLOSING_SLOT)])
def test_what_was_unfolded_is_forgotten_with_its_run(strip, ref):
    view = strip(run_of([LONG], prompt=[LONG]))
    document, presentation = state(run_of([LONG], prompt=[LONG]))
    view.set_state(document, presentation)
    assert view.toggle_whole(ref)
    assert [chip.elided for chip in view.model.chips] == [ref.in_prompt ^ True, ref.in_prompt]
    document.clear()
    presentation.advance(0.0)
    view.refresh()
    document.extend(run_of([LONG], prompt=[LONG]))
    presentation.seek(10**6)
    view.refresh()
    assert [chip.elided for chip in view.model.chips] == [True, True]


def test_a_fault_while_painting_leaves_the_program_alive(strip, monkeypatch):
    view = strip(run_of(["a"]))
    monkeypatch.setattr(view, "_paint_notice", lambda painter: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        view.viewport().repaint()
    monkeypatch.undo()
    view.viewport().repaint()
    assert view.painted_items
