"""Exports from the window: asked for, looked at beforehand, followed, cancelled, written."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QDesktopServices, QImage
from PySide6.QtWidgets import QFileDialog, QMessageBox

from app.exporting import Exported
from app.settings import Settings
from app.viewmodels.export_plan import formats_offered
from engine.trace.codec import encode
from engine.trace.markers import Marker, SessionNote
from engine.trace.reader import TraceReader
from tests.app import exporter
from tests.app.endless import begin_without_end
from tests.app.waiting import wait_until
from tests.traces import make_trace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from PySide6.QtCore import QUrl

    from app.compose import Program
    from app.views.export import ExportDialog

NAMES = [made.name for made in formats_offered()]


@pytest.fixture
def session(tmp_path: Path) -> Path:
    events = make_trace(rounds=9)
    run = events[0].run
    more = [
        SessionNote(run=run, title="A talk", note="About drafts."),
        Marker(run=run, id="m1", round=3, title="Here", note="Look."),
    ]
    path = tmp_path / "recorded.jsonl"
    path.write_bytes(b"".join(encode(event) for event in [*events, *more]))
    return path


@pytest.fixture
def dialog(program: Program, session: Path) -> ExportDialog:
    program.sessions.open(session)
    wait_until(lambda: not program.desk.state.opening and program.desk.state.can_save)
    program.window.actions_["export.ask"].trigger()
    return program.export_desk.dialog()


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    def begin(kind: str) -> None:
        monkeypatch.setenv("STAND_IN", kind)
        program = str(exporter.PROGRAM)
        monkeypatch.setattr(
            "app.exporting.draftscope", lambda words: (sys.executable, [program, *words])
        )

    return begin


def choose(dialog: ExportDialog, name: str) -> None:
    dialog.formats.setCurrentRow(NAMES.index(name))


def export_to(program: Program, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    program.export_desk.dialog().start.click()
    assert program.export.running


def test_the_last_choice_is_remembered(program: Program, dialog: ExportDialog) -> None:
    choose(dialog, "gif")
    dialog.form.switches["captions"].setChecked(False)
    dialog.form.fields["begin"].setEditText("3")  # type: ignore[union-attr]  # a list
    dialog.close()
    program.window.actions_["export.ask"].trigger()
    plan = dialog.plan
    assert (plan.format, plan.captions, plan.begin) == ("gif", False, "")
    assert program.close()
    assert Settings()["export.plan"] == plan.kept()


def test_the_first_lines_are_the_commands_own(
    program: Program, dialog: ExportDialog, session: Path, tmp_path: Path
) -> None:
    choose(dialog, "md")
    wait_until(lambda: "A talk" in dialog.preview.lines.toPlainText())
    choose(dialog, "csv")  # the newest wish is what is shown
    choose(dialog, "md")
    dialog.form.switches["withhold_machine"].setChecked(True)
    sample, words = program.export_desk.sample, dialog.preview.words
    wait_until(lambda: not sample.running and "kB" in words.text())
    machine = TraceReader(session)[0].machine  # type: ignore[union-attr]  # a RunStarted
    assert machine
    assert machine not in dialog.preview.lines.toPlainText()
    assert [path.name for path in tmp_path.iterdir()] == ["recorded.jsonl"]


def test_an_export_is_written_by_the_command_and_a_banner_leads_to_it(
    program: Program, dialog: ExportDialog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[tuple[int, int, str]] = []
    program.export.progressed.connect(lambda *step: steps.append(step))
    choose(dialog, "png")
    dialog.form.fields["size"].setEditText("640x400")  # type: ignore[union-attr]  # a list
    out = tmp_path / "moment"
    export_to(program, out, monkeypatch)
    dialog.close()  # it goes on
    assert program.window.banners.banner("exporting") is not None
    wait_until(lambda: not program.export.running)
    written = tmp_path / "moment.png"
    assert QImage(str(written)).size().toTuple() == (640, 400)
    assert steps[-1] == (1, 1, "Written")
    assert program.window.banners.banner("exporting") is None
    banner = program.window.banners.banner("exported")
    assert banner is not None
    assert f"{written.stat().st_size / 1000:,.0f} kB" in banner.label.text()
    opened: list[QUrl] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
    banner.buttons["folder"].click()
    assert [url.toLocalFile() for url in opened] == [str(tmp_path)]


def test_another_session_closes_the_dialog_and_its_preview_lets_the_old_one_go(
    program: Program, dialog: ExportDialog, tmp_path: Path
) -> None:
    choose(dialog, "png")
    dialog.form.fields["at"].setEditText("9")  # type: ignore[union-attr]  # a list
    wait_until(lambda: dialog.preview.picture.shown is not None)
    other = tmp_path / "other.jsonl"
    other.write_bytes(b"".join(encode(event) for event in make_trace(rounds=4, seed=5)))
    program.sessions.open(other)
    wait_until(lambda: not dialog.isVisible())
    assert dialog.preview.picture.shown is None
    wait_until(lambda: not program.desk.state.opening and len(program.desk.document.rounds) == 4)
    program.window.actions_["export.ask"].trigger()
    wait_until(lambda: dialog.preview.picture.shown is not None)
    assert dialog.plan.at == ""
    assert not dialog.preview.picture.grab().toImage().isNull()


def test_an_export_that_fails_says_so_in_the_dialog_and_in_a_banner(
    program: Program, dialog: ExportDialog, session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = session.read_bytes()
    choose(dialog, "jsonl")
    export_to(program, session, monkeypatch)
    wait_until(lambda: not program.export.running)
    assert "is the session itself" in dialog.words.text()
    assert dialog.words.styleSheet() == dialog.problem.styleSheet() != ""  # as loud as a problem
    assert program.window.banners.texts()[-1] == dialog.words.text()
    assert dialog.progress.isHidden()
    assert dialog.start.isEnabled()
    assert session.read_bytes() == before


@pytest.mark.parametrize("kind", ["polite", "deaf"])
def test_a_cancelled_export_leaves_no_half_file(
    program: Program,
    dialog: ExportDialog,
    tmp_path: Path,
    stand_in: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
) -> None:
    stand_in(kind)
    before = program.window.banners.texts()
    export_to(program, tmp_path / "page.html", monkeypatch)
    wait_until(lambda: dialog.words.text() == "Painting…")
    assert dialog.progress.value() == dialog.progress.maximum() / 4
    assert any(name.endswith(".part") for name in os.listdir(tmp_path))
    dialog.cancel.click()
    wait_until(lambda: not program.export.running)
    assert os.listdir(tmp_path) == ["recorded.jsonl"]
    assert program.window.banners.texts() == before
    assert not dialog.cancel.isVisible()


def test_closing_the_window_ends_an_export_without_a_trace(
    program: Program,
    dialog: ExportDialog,
    tmp_path: Path,
    stand_in: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stand_in("polite")
    export_to(program, tmp_path / "page.html", monkeypatch)
    wait_until(lambda: dialog.words.text() == "Painting…")
    assert program.close()
    assert os.listdir(tmp_path) == ["recorded.jsonl"]


def test_during_a_run_an_export_takes_what_is_there(
    program: Program, tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin_without_end(program, tiny_model)
    program.window.actions_["export.ask"].trigger()
    choose(program.export_desk.dialog(), "html")
    page = tmp_path / "page.html"
    export_to(program, page, monkeypatch)
    wait_until(lambda: not program.export.running)
    assert program.desk.state.running  # it went on meanwhile
    program.desk.stop()
    wait_until(lambda: not program.desk.state.busy)
    assert page.read_text(encoding="utf-8").startswith("<!")


def test_no_file_is_replaced_unasked_where_the_name_lacks_its_end(
    program: Program, dialog: ExportDialog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = tmp_path / "talk.md"
    there.write_text("mine", encoding="utf-8")
    asked: list[str] = []
    answers = iter([str(tmp_path / "talk"), ""])

    def refuse(box: QMessageBox) -> int:
        asked.append(box.text())
        return QMessageBox.StandardButton.No

    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (next(answers), ""))
    monkeypatch.setattr(QMessageBox, "exec", refuse)
    choose(dialog, "md")
    dialog.start.click()
    assert len(asked) == 1
    assert "talk.md already exists" in asked[0]
    assert next(answers, None) is None  # another name was asked for
    assert not program.export.running
    assert there.read_text(encoding="utf-8") == "mine"


def test_many_exports_leave_one_banner_and_the_offers_stand(
    program: Program, dialog: ExportDialog, tmp_path: Path
) -> None:
    banners = program.window.banners
    banners.show_banner("fetch", "notice", "An offer.", (("start", "Fetch"),))
    for number in range(5):
        program.export.finished.emit(Exported(tmp_path / f"{number}.md", 2000))
        program.export.failed.emit(f"The export failed: {number}.")
    assert banners.banner("fetch") is not None
    assert "4.md is written (2 kB)." in banners.texts()
    assert "The export failed: 4." in banners.texts()
    assert not any("3" in text for text in banners.texts())
