"""Opening a file of another program: it becomes a session among the journals, and that is shown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from app.theme import LIGHT
from app.views.strip import StripView
from app.views.text import TextView
from engine.trace.journal import journals_folder
from engine.trace.reader import read_trace
from tests.app.importing.imports import told_by
from tests.app.importing.texts import LLAMA_CHAT
from tests.app.opened import write_trace
from tests.app.waiting import wait_until
from tests.traces import make_trace

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from app.desk import Desk


@pytest.fixture
def answer(tmp_path: Path) -> Path:
    path = tmp_path / "answer.json"
    path.write_text(json.dumps(LLAMA_CHAT), "utf-8")
    return path


def open_and_wait(desk: Desk, path: Path) -> None:
    desk.open(path)
    wait_until(lambda: not desk.state.opening, "the file")


def test_opening_a_file_of_another_program_shows_a_session_of_it(desk: Desk, answer: Path) -> None:
    noted: list[str] = []
    opened: list[Path] = []
    desk.noted.connect(noted.append)
    desk.opened.connect(opened.append)
    open_and_wait(desk, answer)
    assert desk.document.imported is not None
    assert noted == [
        "answer.json is no session of Draftscope but holds statistics of llama.cpp: imported."
    ]
    assert opened == [answer]  # what was chosen is what is remembered
    assert desk.source is not None
    assert desk.source.parent == journals_folder()
    assert told_by(read_trace(desk.source)).drafted == 40
    assert desk.state.imported
    assert not desk.state.has_rounds


def test_opening_it_twice_makes_one_session(desk: Desk, answer: Path) -> None:
    for _ in range(2):
        open_and_wait(desk, answer)
    assert len(list(journals_folder().glob("*.jsonl"))) == 1


def test_what_is_saved_of_it_is_a_session(desk: Desk, answer: Path, tmp_path: Path) -> None:
    open_and_wait(desk, answer)
    saved: list[Path] = []
    desk.saved.connect(saved.append)
    out = tmp_path / "saved.jsonl"
    desk.save(out)
    wait_until(lambda: bool(saved), "the file")
    assert told_by(read_trace(out)).program == "llama.cpp"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("no statistics", "is not a Draftscope trace"),
        (json.dumps(LLAMA_CHAT).replace('"draft_n": 40', '"draft_n": 4'), "contradicts itself"),
    ],
)
def test_what_cannot_be_opened_leaves_what_was_on_show(
    desk: Desk, answer: Path, tmp_path: Path, text: str, sentence: str
) -> None:
    open_and_wait(desk, write_trace(tmp_path / "t.jsonl", make_trace(rounds=3, k=2)))
    failed: list[str] = []
    desk.failed.connect(failed.append)
    answer.write_text(text, "utf-8")
    open_and_wait(desk, answer)
    assert len(failed) == 1
    assert sentence in failed[0]
    assert len(desk.document.rounds) == 3


def test_its_text_stands_below_the_strip_until_another_session(
    qtbot: QtBot, desk: Desk, answer: Path, tmp_path: Path
) -> None:
    strip = StripView()
    text = TextView(strip)
    qtbot.addWidget(text)
    text.set_theme(LIGHT)
    strip.set_state(desk.document, desk.presentation)
    desk.picture_changed.connect(strip.refresh)
    text.show()
    assert text.plain.isHidden()
    open_and_wait(desk, answer)
    wait_until(lambda: not text.plain.isHidden(), "the text")
    assert text.plain.toPlainText() == "The sky is blue."
    strip.copy()
    from PySide6.QtGui import QGuiApplication

    assert QGuiApplication.clipboard().text() == "The sky is blue."
    open_and_wait(desk, write_trace(tmp_path / "t.jsonl", make_trace(rounds=3, k=2)))
    wait_until(text.plain.isHidden, "the tokens")
