"""Recorded sessions offered where nothing is on show, and a session's several runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.export.source import open_source
from app.gallery import recorded_sessions
from app.viewmodels.gallery import summary_of
from app.viewmodels.run_words import key_readings
from engine.trace.codec import encode
from engine.trace.events import RunStarted
from engine.trace.markers import Marker, SessionNote
from tests.app.waiting import wait_until
from tests.traces import make_trace

if TYPE_CHECKING:
    from pathlib import Path

    from app.compose import Program


@pytest.fixture
def two_runs(tmp_path: Path) -> Path:
    first, second = make_trace(rounds=5), make_trace(rounds=7, seed=3, drafter="ngram")
    assert first[0].run != second[0].run
    note = SessionNote(run=first[0].run, title="Small against nothing", note="Twice the same.")
    mark = Marker(run=first[0].run, id="m1", round=2)
    path = tmp_path / "two.jsonl"
    path.write_bytes(b"".join(encode(event) for event in [*first, note, mark, *second]))
    return path


def test_a_session_is_told_by_its_own_words_and_figures(two_runs: Path) -> None:
    source = open_source(two_runs)
    summary = summary_of(source)
    assert (summary.title, summary.note) == ("Small against nothing", "Twice the same.")
    assert summary.size == "5 rounds, 2 runs, 1 marker"
    speedup, acceptance, *_ = key_readings(source.document, 5)
    assert summary.figures == (
        f"{acceptance.text} % acceptance",
        f"{speedup.text} speed-up",
    )
    assert summary.pair == "tiny-target with tiny-drafter"


def test_a_session_without_a_title_is_told_by_its_prompt(tmp_path: Path) -> None:
    path = tmp_path / "plain.jsonl"
    events = make_trace(rounds=3, baseline=False, probe_every=0)
    path.write_bytes(b"".join(encode(event) for event in events))
    summary = summary_of(open_source(path))
    started = events[0]
    assert isinstance(started, RunStarted)
    assert summary.title == " ".join(started.prompt.split())
    assert len(summary.figures) == 1  # no speed-up was measured


def test_an_empty_window_offers_every_recorded_session_and_opens_one(program: Program) -> None:
    gallery, text = program.text.gallery, program.text
    assert recorded_sessions()
    program.gallery.begin()
    wait_until(lambda: list(gallery.cards) == recorded_sessions())
    assert not gallery.isHidden()
    assert gallery.back.isHidden()
    path, card = next(iter(gallery.cards.items()))
    assert card.summary == summary_of(open_source(path))
    QTest.keyClick(card, Qt.Key.Key_Return)
    wait_until(lambda: program.desk.document.started is not None)
    assert program.desk.source == path
    assert gallery.isHidden()
    assert not text.strip.isHidden()
    program.window.actions_["help.gallery"].trigger()
    assert not gallery.isHidden()
    gallery.back.click()
    assert gallery.isHidden()
    wait_until(lambda: not program.desk.state.opening)
    program.window.actions_["run.clear"].trigger()
    wait_until(lambda: not gallery.isHidden())


def test_another_run_of_a_session_can_be_shown(program: Program, two_runs: Path) -> None:
    bar = program.text.runs
    program.sessions.open(two_runs)
    wait_until(lambda: bar.box.count() == 2)
    assert not bar.isHidden()
    assert len(program.desk.document.rounds) == 5
    assert [bar.box.itemText(at) for at in range(2)] == ["1 of 2: tiny-drafter", "2 of 2: ngram"]
    bar.run_requested.emit(1)
    wait_until(lambda: len(program.desk.document.rounds) == 7 and bar.box.currentIndex() == 1)
    assert program.desk.document.markers == ()
    assert program.desk.document.rounds[6].index == 6  # read back from its own place
    program.window.actions_["run.clear"].trigger()
    assert bar.isHidden()


def test_arrows_go_from_card_to_card(program: Program) -> None:
    program.gallery.begin()
    gallery = program.text.gallery
    wait_until(lambda: bool(gallery.cards))
    first = next(iter(gallery.cards.values()))
    for name in ("b", "c"):
        gallery.add(recorded_sessions()[0] / name, first.summary)
    gallery._columns = 2
    steps: list[tuple[int, int]] = []
    first.step_requested.connect(lambda *step: steps.append(step))
    QTest.keyClick(first, Qt.Key.Key_Down)
    QTest.keyClick(first, Qt.Key.Key_Right)
    assert steps == [(0, 1), (1, 0)]


def test_the_first_card_gets_the_keyboard_when_it_comes_and_escape_goes_back(
    program: Program, two_runs: Path
) -> None:
    program.sessions.open(two_runs)
    wait_until(lambda: not program.desk.state.opening and program.desk.state.has_rounds)
    program.window.show()
    program.gallery.begin()
    program.window.actions_["help.gallery"].trigger()
    gallery = program.text.gallery
    wait_until(lambda: bool(gallery.cards))
    first = next(iter(gallery.cards.values()))
    wait_until(first.hasFocus)
    assert first.toolTip() == first.summary.spoken  # whole, though a card may cut it
    QTest.keyClick(first, Qt.Key.Key_Escape)
    assert gallery.isHidden()
    assert program.text.strip.hasFocus()


def test_a_captions_words_stand_with_the_text_and_not_above_the_cards(
    program: Program, two_runs: Path
) -> None:
    program.sessions.open(two_runs)
    wait_until(lambda: not program.desk.state.opening and program.desk.state.has_rounds)
    caption = program.text.caption
    caption.say(Marker(run="r", id="m", round=0, title="Said of the text"))
    program.window.show()
    program.gallery.begin()
    assert caption.isVisible()
    program.gallery.ask()
    assert not caption.isVisible()
    program.gallery.leave()
    assert caption.isVisible()


def test_what_a_recorded_session_says_of_a_race_is_true_in_the_window_too() -> None:
    notes = [marker.note for path in recorded_sessions() for marker in open_source(path).markers]
    told = [note for note in notes if "race" in note.split() or "races" in note.split()]
    assert told
    assert all("HTML replay" in note for note in told)  # the window itself has none
