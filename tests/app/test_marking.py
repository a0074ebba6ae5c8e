"""Markers set in the window: on show at once, in the file soon, and taken away and back again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest

from app.assets import asset_path
from app.viewmodels.refs import TokenRef
from engine.trace.codec import encode
from engine.trace.events import Round
from engine.trace.journal import journals_folder
from engine.trace.markers import Marker, SessionNote, markers_of
from engine.trace.packed import packed
from engine.trace.reader import TraceReader
from tests.app.endless import begin_without_end
from tests.app.waiting import wait_until
from tests.traces import make_trace

if TYPE_CHECKING:
    from pathlib import Path

    from app.compose import Program


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "recorded.jsonl"
    path.write_bytes(b"".join(encode(event) for event in make_trace(rounds=9)))
    return path


def show(program: Program, path: Path, at: int = 3) -> None:
    program.sessions.open(path)
    wait_until(lambda: not program.desk.state.opening and program.desk.state.can_save)
    program.desk.seek(at)


def do(program: Program, name: str) -> None:
    assert program.window.actions_[name].isEnabled(), name
    program.window.actions_[name].trigger()


def mark(program: Program, title: str, note: str = "") -> None:
    do(program, "marks.add")
    dialog = program.marking.dialog()
    dialog.title.setText(title)
    dialog.note.setPlainText(note)
    dialog.keep_.click()


def settled(program: Program) -> None:
    wait_until(lambda: not program.marking._job and not program.marking._waiting)


def test_a_marker_is_on_show_at_once_and_in_the_file_soon(program: Program, session: Path) -> None:
    before = session.read_bytes()
    show(program, session)
    program.strip.pin(TokenRef(3, 0))
    mark(program, "Look here", "What is to be said.")
    (marker,) = program.desk.document.markers
    assert (marker.round, marker.slot, marker.title) == (3, 0, "Look here")
    assert not program.text.caption.isHidden()
    assert program.text.caption.note.text() == "What is to be said."
    settled(program)
    assert session.read_bytes().startswith(before)  # appended to, as ever
    assert markers_of(TraceReader(session)) == (marker,)
    program.desk.seek(7)
    wait_until(lambda: program.text.caption.isHidden())


def test_a_marker_that_is_removed_can_be_brought_back(program: Program, session: Path) -> None:
    show(program, session)
    mark(program, "One")
    program.desk.seek(5)
    mark(program, "Two")
    dialog = program.marking.dialog()
    dialog.remove.click()
    settled(program)
    assert [one.title for one in markers_of(TraceReader(session))] == ["One"]
    banner = program.window.banners.banner("marker:removed")
    assert banner is not None
    banner.buttons["undo"].click()
    assert program.window.banners.banner("marker:removed") is None
    dialog.list.setCurrentRow(0)
    dialog.remove.click()
    dialog.activateWindow()
    dialog.list.setFocus()
    assert QTest.qWaitForWindowActive(dialog)
    QTest.keyClick(dialog.list, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    settled(program)
    assert [one.title for one in markers_of(TraceReader(session))] == ["One", "Two"]
    assert program.desk.document.markers == markers_of(TraceReader(session))


def test_words_are_kept_when_another_marker_is_chosen(program: Program, session: Path) -> None:
    show(program, session)
    mark(program, "One")
    program.desk.seek(5)
    mark(program, "Two")
    dialog = program.marking.dialog()
    dialog.title.setText("Two, changed")
    dialog.pause.setChecked(False)
    dialog.list.setCurrentRow(0)
    assert (dialog.list.currentRow(), dialog.title.text()) == (0, "One")
    assert program.desk.presentation.cursor.round == 3
    assert dialog.list.item(1).text().startswith("Two, changed\n")
    dialog.note.setPlainText("Kept, too.")
    dialog.close()
    settled(program)
    kept = markers_of(TraceReader(session))
    assert [(one.title, one.note, one.pause) for one in kept] == [
        ("One", "Kept, too.", True),
        ("Two, changed", "", False),
    ]


def test_a_moment_in_the_middle_of_a_phase_is_marked_at_its_end(
    program: Program, session: Path
) -> None:
    show(program, session, at=2)
    program.deeds.set_speed(1.0)
    program.desk.play()
    wait_until(lambda: program.desk.presentation.cursor.phase == "draft")
    do(program, "marks.add")
    cursor = program.desk.presentation.cursor
    assert not program.desk.presentation.playing
    drafted = len(program.desk.document.rounds[cursor.round].drafted)
    assert (cursor.phase, cursor.revealed) == ("draft", drafted)


def test_next_and_previous_go_from_marker_to_marker_with_their_token(
    program: Program, session: Path
) -> None:
    show(program, session, at=1)
    program.strip.pin(TokenRef(1, 0))
    mark(program, "One")
    program.strip.unpin()
    program.desk.seek(6)
    mark(program, "Two")
    program.desk.seek(-1)
    wait_until(lambda: program.strip.pinned is None)
    do(program, "marks.next")
    wait_until(lambda: program.strip.pinned == TokenRef(1, 0))
    assert program.desk.presentation.cursor.round == 1
    do(program, "marks.next")
    assert program.desk.presentation.cursor.round == 6
    wait_until(lambda: program.strip.pinned is None)
    program.timeline.transport.last_marker.click()
    assert program.desk.presentation.cursor.round == 1


def test_a_click_on_a_pennant_goes_to_its_marker(program: Program, session: Path) -> None:
    show(program, session, at=5)
    mark(program, "Here")
    program.desk.seek(-1)
    program.timeline.refresh()
    canvas = program.timeline.canvas
    canvas.resize(700, 200)
    at = canvas.window_of_time.x_of(program.timeline._model.flags[0].at_ns)  # type: ignore[union-attr]  # set
    point = QPointF(canvas.geometry_now().left + at + 3, 5).toPoint()
    canvas._hover(QPointF(point))
    assert "marker: round 6 · Here" in program.timeline.words.text()
    QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=point)
    assert program.desk.presentation.cursor.round == 5


def test_a_replay_pauses_at_a_marker_unless_that_is_switched_off(
    program: Program, session: Path
) -> None:
    show(program, session, at=2)
    mark(program, "Hold")
    program.marking.dialog().close()
    program.deeds.set_speed(16.0)
    program.desk.seek(-1)
    program.desk.play()
    wait_until(lambda: not program.desk.presentation.playing)
    assert program.desk.presentation.cursor.round == 2
    assert "Paused" in program.text.caption.hint.text()
    do(program, "run.continue")
    wait_until(lambda: program.desk.presentation.at_end)
    do(program, "marks.pause")
    assert program.settings["view.pause_at_markers"] is False
    program.desk.play()  # from the start again
    wait_until(lambda: program.desk.presentation.at_end)
    assert program.desk.presentation.playing


def test_a_talk_waits_at_its_prompt_and_a_first_start_does_not(
    program: Program, session: Path
) -> None:
    show(program, session, at=-1)
    mark(program, "The prompt")
    settled(program)
    for at_once in (False, True):
        program.deeds.set_speed(16.0)
        program.desk.open(session, at_once=at_once)
        wait_until(lambda: not program.desk.state.opening and program.desk.presentation.still)
        assert program.desk.presentation.at_end is at_once


def test_during_a_run_markers_go_into_its_journal_and_hold_nothing(
    program: Program, tiny_model: Path
) -> None:
    begin_without_end(program, tiny_model)
    mark(program, "While it runs")
    rounds = len(program.desk.document.rounds)
    wait_until(lambda: len(program.desk.document.rounds) > rounds + 2)
    assert program.desk.presentation.playing
    program.desk.stop()
    wait_until(lambda: not program.desk.state.busy)
    settled(program)
    journal = program.desk.source
    assert journal is not None
    events = list(TraceReader(journal))
    assert [one.title for one in markers_of(events)] == ["While it runs"]
    indices = [event.index for event in events if isinstance(event, Round)]
    assert indices == list(range(len(program.desk.document.rounds)))


@pytest.mark.parametrize("kind", ["demo", "packed", "read-only"])
def test_a_session_that_stays_as_it_is_is_copied_once_and_the_copy_marked(
    program: Program,
    session: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
) -> None:
    source = sorted(asset_path("demos").glob("*.jsonl*"))[0]
    if kind == "read-only":
        source = session
        monkeypatch.setattr("app.adding.os.access", lambda path, mode: path != session)
    if kind == "packed":
        source = tmp_path / "small.jsonl.zst"
        source.write_bytes(b"".join(packed([session.read_bytes()])))
    before = source.read_bytes()
    held = [one.title for one in markers_of(TraceReader(source))]
    show(program, source)
    mark(program, "One")
    program.desk.seek(6)  # where none is
    mark(program, "Two")
    settled(program)
    assert source.read_bytes() == before
    copies = list(journals_folder().glob("*.jsonl"))
    assert copies == [program.desk.source]
    titles = [one.title for one in markers_of(TraceReader(copies[0]))]
    assert sorted(titles) == sorted([*held, "One", "Two"])
    assert sum("stays as it is" in text for text in program.window.banners.texts()) == 1
    kept = tmp_path / "kept.jsonl"
    program.desk.save(kept)
    wait_until(kept.exists)
    assert kept.read_bytes() == copies[0].read_bytes()


def test_words_that_were_typed_go_with_their_session_when_another_comes(
    program: Program, session: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.jsonl"
    other.write_bytes(b"".join(encode(event) for event in make_trace(rounds=4, seed=9)))
    show(program, session)
    do(program, "marks.add")
    settled(program)
    wait_until(lambda: program.marking._file is not None)
    program.marking.dialog().title.setText("Typed")
    show(program, other, at=1)
    wait_until(lambda: [one.title for one in markers_of(TraceReader(session))] == ["Typed"])
    assert not any(isinstance(event, Marker) for event in TraceReader(other))
    assert program.desk.document.markers == ()


def test_a_session_is_named(program: Program, session: Path) -> None:
    show(program, session)
    do(program, "session.name")
    naming = program.marking._naming
    assert naming is not None
    naming.title.setText(" A  talk ")
    naming.note.setPlainText("About drafts.")
    naming.accept()
    settled(program)
    notes = [event for event in TraceReader(session) if isinstance(event, SessionNote)]
    assert [(note.title, note.note) for note in notes] == [("A talk", "About drafts.")]
    assert program.desk.document.session_note == notes[0]
    do(program, "session.name")
    naming.accept()  # nothing new was said
    settled(program)
    assert sum(isinstance(event, SessionNote) for event in TraceReader(session)) == 1


def test_a_marker_goes_and_comes_back_by_keys_alone(program: Program, session: Path) -> None:
    show(program, session)
    mark(program, "Look here")
    dialog = program.marking.dialog()
    dialog.list.setFocus()
    wait_until(dialog.list.hasFocus)
    QTest.keyClick(dialog.list, Qt.Key.Key_Delete)
    assert program.desk.document.markers == ()
    QTest.keyClick(dialog.list, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert [one.title for one in program.desk.document.markers] == ["Look here"]
    settled(program)
