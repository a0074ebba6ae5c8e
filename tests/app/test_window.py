"""The assembled window, driven by mouse and keys, with a tiny model in the real engine."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import shiboken6
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QAccessible, QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QFileDialog, QTabBar, QToolButton, QWidget

from app.actions import ACTIONS
from app.compose import Options, Program
from app.refreshing import PANEL_MS, is_seen
from app.settings import Settings
from app.viewmodels.prompt import PromptState
from app.viewmodels.refs import TokenRef
from app.viewmodels.speeds import SPEEDS, speed_label
from app.views.banner import Banner
from app.views.roomy import RoomyPanel
from engine.trace.codec import encode
from engine.trace.events import FinishReason, RunFinished
from engine.trace.journal import save_copy, start_journal, unfinished_journals
from engine.trace.packed import is_packed
from engine.trace.reader import read_trace
from tests.app.waiting import wait_until
from tests.tiny_model import write_tiny_folder
from tests.traces import make_trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from PySide6.QtWidgets import QApplication

CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def session_file(tmp_path: Path) -> Path:
    path = tmp_path / "recorded.jsonl"
    path.write_bytes(b"".join(encode(event) for event in make_trace(rounds=9)))
    return path


@pytest.fixture
def open_program(qapp: QApplication) -> Iterator[Callable[..., Program]]:
    made: list[Program] = []

    def build(**options: object) -> Program:
        program = Program(qapp, Options(**options))  # type: ignore[arg-type]  # fields by keyword
        made.append(program)
        program.show()
        QTest.qWaitForWindowExposed(program.window)
        wait_until(lambda: program.window.isVisible())
        return program

    yield build
    for program in made:
        program.window.close()
        assert program.close()
        program.window.deleteLater()


@pytest.fixture
def program(open_program: Callable[..., Program], tiny_model: Path) -> Program:
    """Return the window with the tiny model chosen and nothing on show."""
    made = open_program()
    wait_until(lambda: made.desk.document.finished is not None)  # a first start shows the demo
    made.deeds.clear()
    made.deeds.set_speed(None)
    for banner in made.window.banners.findChildren(Banner):
        banner.close_button.click()
    state = replace(made.prompt.state, prompt="", raw=True, target=str(tiny_model), limit=24)
    made.prompt.set_state(replace(state, drafter="ngram", temperature=0.0))
    made.deeds.refresh()
    return made


def name_of(widget: QWidget) -> str:
    """Return what a screen reader says of a widget."""
    interface = QAccessible.queryAccessibleInterface(widget)
    own = interface.text(QAccessible.Text.Name) if interface is not None else ""
    return own or ("tabs" if isinstance(widget, QTabBar) else "")  # each tab has its own name


def do(program: Program, name: str) -> None:
    program.window.actions_[name].trigger()


def test_run_by_keyboard_then_mouse(program: Program) -> None:
    editor, desk = program.prompt.editor, program.desk
    editor.setFocus()
    QTest.keyClicks(editor, "a b c a b c")
    QTest.keyClick(editor, Qt.Key.Key_Return, CONTROL)
    assert desk.state.running
    wait_until(lambda: not desk.state.busy and desk.presentation.at_end)
    assert desk.document.finished is not None
    first = list(desk.document.events)
    QTest.mouseClick(program.prompt.run, Qt.MouseButton.LeftButton)
    wait_until(lambda: desk.state.has_rounds and not desk.state.busy)
    assert desk.document.events != first
    assert program.window.banners.texts() == []


def test_buttons_follow_the_run(program: Program) -> None:
    assert not program.prompt.run.isEnabled()
    program.prompt.editor.setPlainText("a b c")
    assert program.prompt.run.isEnabled()
    program.prompt.set_state(replace(program.prompt.state, limit=100_000))
    program.prompt.run.click()
    assert not program.prompt.run.isEnabled()
    assert program.prompt.stop.isEnabled()
    wait_until(lambda: program.desk.state.has_rounds)
    QTest.mouseClick(program.prompt.stop, Qt.MouseButton.LeftButton)
    wait_until(lambda: not program.desk.state.busy)
    assert program.prompt.run.isEnabled()
    assert not program.prompt.stop.isEnabled()


def test_pause_step_and_go_on(program: Program) -> None:
    desk = program.desk
    program.prompt.editor.setPlainText("a b c")
    program.prompt.set_state(replace(program.prompt.state, limit=100_000))
    do(program, "run.step_round")  # nothing on show: begins a run, held
    wait_until(lambda: desk.presentation.visible_rounds() == 1)
    do(program, "run.step_round")
    wait_until(lambda: desk.presentation.visible_rounds() == 2)
    assert len(desk.document.rounds) <= 4
    do(program, "speed.live")
    do(program, "run.continue")
    wait_until(lambda: desk.presentation.visible_rounds() > 6)
    do(program, "run.pause")
    shown = desk.presentation.visible_rounds()
    QTest.qWait(120)
    assert desk.presentation.visible_rounds() == shown
    do(program, "run.stop")
    wait_until(lambda: not desk.state.busy)
    do(program, "run.clear")
    assert desk.document.events == []


def test_changed_setting_in_the_panel_reaches_the_run(program: Program) -> None:
    desk = program.desk
    program.prompt.editor.setPlainText("a b c a b c")
    program.prompt.set_state(replace(program.prompt.state, limit=100_000))
    program.prompt.run.click()
    wait_until(lambda: desk.state.has_rounds)
    program.prompt.k.setValue(1)
    wait_until(lambda: desk.document.rounds[-1].k == 1)
    do(program, "run.stop")
    wait_until(lambda: not desk.state.busy)


def test_fault_of_the_engine_is_a_banner_and_the_window_goes_on(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.decoder import Decoder

    through = Decoder.rounds

    def failing(self: Decoder, *args: object, **kwargs: object) -> Iterator[object]:
        for one in through(self, *args, **kwargs):  # type: ignore[arg-type]  # passed on
            if one.index == 7:
                raise RuntimeError("<b>kernel</b> fault")
            yield one

    program.prompt.editor.setPlainText("a b c")
    monkeypatch.setattr(Decoder, "rounds", failing)
    program.prompt.run.click()
    wait_until(lambda: not program.desk.state.busy)
    assert any("<b>kernel</b> fault" in text for text in program.window.banners.texts())
    assert program.prompt.run.isEnabled()
    assert program.desk.document.finished is not None
    assert program.desk.document.finished.reason is FinishReason.ERROR
    monkeypatch.undo()
    program.prompt.run.click()
    assert program.window.banners.texts() == []
    wait_until(lambda: not program.desk.state.busy)
    assert program.desk.document.finished.reason is FinishReason.LIMIT


def test_fault_of_the_window_is_a_banner(program: Program) -> None:
    program.deeds.report(ValueError, ValueError("a\nb"), None)
    assert program.window.banners.texts() == ["Something unexpected went wrong: a b"]


def test_hidden_panel_catches_up_when_shown(
    open_program: Callable[..., Program], session_file: Path
) -> None:
    program = open_program(open_path=session_file)
    program.window.docks["acceptance"].hide()
    wait_until(lambda: len(program.desk.document.rounds) == 9)
    acceptance = program.charts[0]
    refreshed: list[int] = []
    acceptance.refresh = lambda: refreshed.append(1)  # type: ignore[method-assign]  # a count
    program.desk.seek(8)
    wait_until(lambda: not program.desk.ticking)
    assert refreshed == []
    program.window.docks["acceptance"].show()
    program.window.docks["acceptance"].raise_()
    wait_until(lambda: bool(refreshed))


def test_panel_behind_another_ones_tab_does_nothing_until_it_is_raised(
    open_program: Callable[..., Program], session_file: Path
) -> None:
    program = open_program(open_path=session_file)
    wait_until(lambda: len(program.desk.document.rounds) == 9)
    docks, caches = program.window.docks, program.charts[2]
    docks["timeline"].raise_()
    wait_until(lambda: not is_seen(caches))
    assert caches.isVisible()  # as Qt sees it
    refreshed: list[int] = []
    caches.refresh = lambda: refreshed.append(1)  # type: ignore[method-assign]  # a count
    program.desk.seek(3)
    program.desk.seek(8)
    wait_until(lambda: not program.desk.ticking)
    QTest.qWait(2 * PANEL_MS)
    assert refreshed == []
    docks["caches"].raise_()
    wait_until(lambda: bool(refreshed))


def test_every_action_can_be_asked_for_at_any_time(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("getOpenFileName", "getSaveFileName"):
        monkeypatch.setattr(QFileDialog, name, lambda *_: ("", ""))
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: "")
    monkeypatch.setattr(program.desk, "fetch", lambda _: None)
    for name in ACTIONS:
        if name != "app.quit":
            program.deeds.do(name)
    wait_until(lambda: not program.desk.state.busy)
    for dialog in program.window.findChildren(QWidget):
        if dialog.isWindow() and dialog is not program.window:
            dialog.close()
    program.window.showNormal()


def test_clicking_a_token_brings_it_to_court(
    open_program: Callable[..., Program], session_file: Path
) -> None:
    program = open_program(open_path=session_file)
    desk = program.desk
    wait_until(lambda: len(desk.document.rounds) == 9)
    desk.seek(8)
    wait_until(lambda: program.strip.index_of(TokenRef(8, 0)) is not None)
    chip = program.strip.index_of(TokenRef(8, 0))
    assert chip is not None
    program.strip.show_chip(chip)
    at = program.strip.chip_rect(chip).center()
    QTest.mouseClick(program.strip.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert program.court.case is not None
    assert program.court.case.ref == TokenRef(8, 0)


def test_timeline_wishes_move_the_picture(
    open_program: Callable[..., Program], session_file: Path
) -> None:
    program = open_program(open_path=session_file)
    desk = program.desk
    wait_until(lambda: len(desk.document.rounds) == 9)
    program.strip.verticalScrollBar().setMaximum(10**4)
    program.strip.verticalScrollBar().setValue(7)  # read elsewhere by hand
    program.timeline.seek_requested.emit(4)
    assert desk.presentation.visible_rounds() == 5
    bar = program.strip.verticalScrollBar()
    assert bar.value() == bar.maximum()
    assert not desk.presentation.playing
    program.timeline.transport.step_round.click()
    assert desk.presentation.visible_rounds() == 6


def test_an_opened_model_is_offered_once_and_a_broken_one_is_not_kept(
    program: Program, tmp_path: Path
) -> None:
    opened, broken = write_tiny_folder(tmp_path / "opened"), tmp_path / "page.gguf"
    broken.write_text("<html>")
    program.choosing.use(str(opened), "ngram")
    assert program.prompt.state.target == "opened"
    dialog = program.choosing.dialog()
    titles = [dialog.targets.list.item(at).text() for at in range(dialog.targets.list.count())]
    assert sum("opened" in title for title in titles) == 1
    dialog.open()
    dialog.select("drafter", str(broken))
    assert dialog.focusWidget() is dialog.drafters.list
    program.choosing.use("opened", f"model:{broken}")
    assert not any(choice.name.startswith("page") for choice in program.choosing.offer())


@pytest.mark.parametrize(("width", "tabbed"), [(1440, False), (1000, True), (712, True)])
def test_a_narrow_window_has_panels_as_tabs_and_its_whole_toolbar(
    program: Program, width: int, tabbed: bool
) -> None:
    window = program.window
    window.resize(width, 700)
    do(program, "view.restore")
    wait_until(lambda: window.width() == width)
    tabs = window.tabifiedDockWidgets(window.docks["acceptance"])
    assert (window.docks["throughput"] in tabs) is tabbed
    assert window.docks["acceptance"].visibleRegion().isEmpty() is False
    find = window.actions_["help.palette"].associatedObjects()
    buttons = [one for one in find if isinstance(one, QToolButton)]
    for shown in (window.speed, *buttons):
        assert shown.isVisible()
        assert shown.mapTo(window, shown.rect().topRight()).x() <= width


def test_a_low_screen_holds_the_whole_window_and_panels_scroll(program: Program) -> None:
    window = program.window
    window.resize(712, 410)  # 1440 x 900 at 200 %
    window.docks.arrange()
    wait_until(lambda: (window.width(), window.height()) == (712, 410))
    bar = window.docks["timeline"].findChild(RoomyPanel).verticalScrollBar()
    wait_until(lambda: bar.maximum() > 0)
    assert program.timeline.canvas.height() >= program.timeline.canvas.minimumSizeHint().height()
    window.resize(1440, 900)
    window.docks.arrange()
    wait_until(lambda: bar.maximum() == 0)


def test_presentation_speed_has_one_box_and_one_wording(program: Program) -> None:
    boxes = program.window.findChildren(QComboBox)
    speed = [box for box in boxes if box.accessibleName() == "Presentation speed"]
    assert speed == [program.window.speed]
    assert [speed[0].itemText(at) for at in range(speed[0].count())] == [
        speed_label(one) for one in SPEEDS
    ]
    assert ACTIONS["speed.live"].title == speed_label(None)
    speed[0].activated.emit(0)
    assert program.desk.presentation.speed == SPEEDS[0]
    do(program, "speed.faster")
    assert program.desk.presentation.speed == SPEEDS[1]
    assert speed[0].currentText() == speed_label(SPEEDS[1])


def test_nothing_reaches_a_panel_once_the_window_is_closed(
    qapp: QApplication, session_file: Path, tiny_model: Path
) -> None:
    program = Program(qapp, Options(open_path=session_file))
    program.show()
    wait_until(lambda: len(program.desk.document.rounds) == 9)
    state = replace(program.prompt.state, prompt="a b c", target=str(tiny_model))
    program.prompt.set_state(replace(state, drafter="ngram", limit=100_000, raw=True))
    program.deeds.run()
    wait_until(lambda: program.desk.state.has_rounds)
    program.window.close()
    assert not program.desk.ticking
    shiboken6.delete(program.window)
    program.appearance.choose("dark")
    program.desk.play()
    QTest.qWait(50)  # a fault in a slot fails the test
    assert not program.desk.ticking


def test_panels_refresh_only_while_something_changes(
    open_program: Callable[..., Program], session_file: Path
) -> None:
    program = open_program(open_path=session_file)
    wait_until(lambda: len(program.desk.document.rounds) == 9)
    program.desk.seek(8)
    wait_until(lambda: not program.desk.ticking)
    refreshed: list[int] = []
    program.desk.picture_changed.connect(lambda: refreshed.append(1))
    QTest.qWait(80)
    assert refreshed == []


def test_no_panel_paints_what_is_not_on_show_any_more(
    open_program: Callable[..., Program], session_file: Path
) -> None:
    program = open_program(open_path=session_file)
    wait_until(lambda: len(program.desk.document.rounds) == 9)
    program.desk.seek(8)
    wait_until(lambda: not program.desk.ticking)
    banners = program.window.banners.texts()
    program.desk.clear()
    program.window.grab()  # a repaint before the next tick, as when a dialog closes
    assert program.window.banners.texts() == banners
    assert program.timeline.transport.status.text() == "round 0 of 0"


def test_a_file_that_is_no_session_is_not_remembered(
    open_program: Callable[..., Program], session_file: Path, tmp_path: Path
) -> None:
    program = open_program(open_path=session_file)
    wait_until(lambda: len(program.desk.document.rounds) == 9)
    wait_until(lambda: program.settings["files.recent"] == [str(session_file)])
    page = tmp_path / "page.jsonl"
    page.write_text("<html>")
    program.sessions.open(page)
    wait_until(lambda: not program.desk.state.opening)
    assert "page.jsonl" in program.window.banners.texts()[-1]
    assert program.settings["files.recent"] == [str(session_file)]
    assert len(program.desk.document.rounds) == 9


def dropped(path: Path) -> tuple[QMimeData, QDropEvent]:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    where, how = QPointF(300, 300), Qt.DropAction.CopyAction
    button, held = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    return data, QDropEvent(where, how, data, button, held)  # the data has to outlive the event


def test_dropped_packed_session_is_opened_and_saved_packed(
    program: Program, session_file: Path, tmp_path: Path
) -> None:
    packed = tmp_path / "packed.jsonl.zst"
    save_copy(session_file, packed)
    _held, drop = dropped(packed)
    program.window.dropEvent(drop)
    wait_until(lambda: len(program.desk.document.rounds) == 9)
    again = tmp_path / "again.jsonl.zst"
    program.desk.save(again)
    wait_until(again.exists)
    wait_until(lambda: "Saved as again.jsonl.zst." in program.window.banners.texts())
    assert is_packed(again)
    assert read_trace(again) == read_trace(session_file)


def test_dropped_file_is_opened_and_remembered(program: Program, session_file: Path) -> None:
    _held, drop = dropped(session_file)
    program.window.dropEvent(drop)
    wait_until(lambda: len(program.desk.document.rounds) == 9)
    assert program.settings["files.recent"] == [str(session_file)]
    assert [action.text() for action in program.window.recent.actions()] == ["recorded.jsonl"]
    session_file.unlink()
    program.window.recent.actions()[0].trigger()
    assert "is not there any more" in program.window.banners.texts()[-1]
    assert program.settings["files.recent"] == []


def test_save_and_export_ask_where(
    open_program: Callable[..., Program],
    session_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = open_program(open_path=session_file)
    wait_until(lambda: not program.desk.state.opening and program.desk.state.can_save)
    kept, page = tmp_path / "kept.jsonl", tmp_path / "page.html"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(kept), ""))
    do(program, "session.save")
    wait_until(kept.exists)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(page), ""))
    do(program, "export.ask")
    program.export_desk.dialog().start.click()
    assert program.window.actions_["export.cancel"].isEnabled()
    wait_until(page.exists)
    wait_until(lambda: not program.export.running)
    assert kept.read_bytes() == session_file.read_bytes()
    assert page.read_text(encoding="utf-8").startswith("<!")


def test_export_that_fails_is_one_sentence(
    open_program: Callable[..., Program], session_file: Path, tmp_path: Path
) -> None:
    program = open_program(open_path=session_file)
    wait_until(lambda: program.desk.state.can_save)
    page = tmp_path / "no" / "such" / "page.html"
    program.export.start([str(session_file), str(page)], page)
    wait_until(lambda: not program.export.running)
    assert program.window.banners.texts()[-1].startswith("The export failed: ")
    assert "draftscope:" not in program.window.banners.texts()[-1]


def test_cancelled_export_says_nothing(
    open_program: Callable[..., Program], session_file: Path, tmp_path: Path
) -> None:
    program = open_program(open_path=session_file)
    wait_until(lambda: program.desk.state.can_save)
    before = program.window.banners.texts()
    page = tmp_path / "page.html"
    program.export.start([str(session_file), str(page)], page)
    program.export.cancel()
    wait_until(lambda: not program.export.running)
    assert program.window.banners.texts() == before


def test_journal_of_a_crash_is_offered_and_restored(
    open_program: Callable[..., Program],
) -> None:
    events = [event for event in make_trace(rounds=5) if not isinstance(event, RunFinished)]
    crash = (
        "import sys, os\n"
        "from engine.trace.codec import decode\n"
        "from engine.trace.journal import start_journal\n"
        "lines = sys.stdin.buffer.readlines()\n"
        "journal = start_journal(decode(lines[0]))\n"
        "for line in lines[1:]: journal.write(decode(line))\n"
        "os._exit(1)\n"
    )
    lines = b"".join(encode(event) for event in events[:6])
    subprocess.run([sys.executable, "-c", crash], input=lines, check=False)
    assert len(unfinished_journals()) == 1
    program = open_program()
    wait_until(lambda: any("a run" in text for text in program.window.banners.texts()))
    key = next(key for key in program.window.banners._banners if key.startswith("journal:"))
    banner = program.window.banners.banner(key)
    assert banner is not None
    banner.buttons["restore"].click()
    wait_until(lambda: program.desk.document.events == events[:6])
    assert unfinished_journals() == []


def test_journal_being_written_is_not_offered(open_program: Callable[..., Program]) -> None:
    started = make_trace(rounds=1)[0]
    journal = start_journal(started)  # type: ignore[arg-type]  # a RunStarted
    program = open_program()
    wait_until(lambda: bool(program.window.banners.texts()))
    assert not any("a run" in text for text in program.window.banners.texts())
    journal.close()


def test_first_start_offers_the_model(open_program: Callable[..., Program]) -> None:
    program = open_program()
    wait_until(lambda: program.window.banners.banner("fetch") is not None)
    banner = program.window.banners.banner("fetch")
    assert banner is not None
    assert list(banner.buttons) == ["start", "more"]


def test_a_run_without_its_model_offers_to_fetch_it_and_leaves_the_session_on_show(
    open_program: Callable[..., Program],
) -> None:
    program = open_program()
    wait_until(lambda: program.desk.document.finished is not None)
    assert program.prompt.state == PromptState()  # nothing is taken from the program's own session
    program.prompt.editor.setFocus()
    QTest.keyClick(program.prompt.editor, Qt.Key.Key_Return, CONTROL)
    assert not program.desk.state.busy
    assert program.desk.state.has_rounds
    banner = program.window.banners.banner("fetch")
    assert banner is not None
    assert "A run needs SmolLM2 135M Instruct" in banner.label.text()
    assert banner.buttons["start"].hasFocus()


def test_fetch_shows_progress_and_can_be_cancelled(
    open_program: Callable[..., Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    from engine.models import fetch as fetching

    gate = threading.Event()

    def slow(name: str, progress: Callable[..., None], cancelled: Callable[[], bool]) -> Path:
        progress(30, 100, "Downloading it")
        while not cancelled():
            gate.wait(0.01)
        raise fetching.FetchCancelled

    monkeypatch.setattr(fetching, "fetch", slow)
    program = open_program()
    wait_until(lambda: program.window.banners.banner("fetch") is not None)
    first = program.window.banners.banner("fetch")
    assert first is not None
    first.buttons["start"].click()
    wait_until(lambda: program.desk.state.fetch_wait is not None)
    banner = program.window.banners.banner("fetch")
    assert banner is not None
    assert banner.label.text() == "Downloading it…"
    assert banner.progress.value() == 300
    banner.buttons["cancel"].click()
    wait_until(lambda: not program.desk.state.fetching)
    offered = program.window.banners.banner("fetch")
    assert offered is not None
    assert "start" in offered.buttons


def test_theme_follows_the_choice_everywhere(program: Program) -> None:
    for choice in ("dark", "light"):
        do(program, f"theme.{choice}")
        assert program.appearance.theme.name == choice
        image = program.window.grab().toImage()
        corner = image.pixelColor(QPoint(image.width() // 2, 4)).name()
        assert corner == program.appearance.theme.window
        assert program.window.actions_[f"theme.{choice}"].isChecked()
    assert Settings(program.settings.path)["view.theme"] == "system"  # saved when closed
    program.close()
    assert Settings(program.settings.path)["view.theme"] == "light"


def test_theme_follows_the_system_until_chosen(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    hints = QGuiApplication.styleHints()
    do(program, "theme.system")
    for scheme, name in ((Qt.ColorScheme.Dark, "dark"), (Qt.ColorScheme.Light, "light")):
        monkeypatch.setattr(type(hints), "colorScheme", lambda _self, scheme=scheme: scheme)
        hints.colorSchemeChanged.emit(scheme)
        assert program.appearance.theme.name == name
    do(program, "theme.light")
    monkeypatch.setattr(type(hints), "colorScheme", lambda _self: Qt.ColorScheme.Dark)
    hints.colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert program.appearance.theme.name == "light"


def test_panels_hide_show_and_come_back(program: Program) -> None:
    window = program.window
    for name, dock in window.docks.items():
        do(program, f"panel.{name}")
        assert dock.isHidden()
        assert not window.actions_[f"panel.{name}"].isChecked()
    window.docks["court"].setFloating(True)
    do(program, "view.restore")
    for name, dock in window.docks.items():
        assert not dock.isHidden()
        assert not dock.isFloating()
        assert window.actions_[f"panel.{name}"].isChecked()


def test_focus_goes_to_each_panel(program: Program) -> None:
    program.window.activateWindow()
    for name, _ in program.window.docks.items():
        do(program, f"go.{name}")
        focus = program.window.focusWidget()
        assert focus is not None
        assert program.window.docks[name].isAncestorOf(focus), name
    do(program, "go.text")  # nothing is on show: a recorded session can be chosen there
    focus = program.window.focusWidget()
    assert focus is not None
    assert program.text.isAncestorOf(focus)
    do(program, "go.prompt")
    assert program.window.focusWidget() is program.prompt.editor


def test_tab_reaches_the_fields_in_order(program: Program) -> None:
    program.window.activateWindow()
    program.prompt.editor.setFocus()
    seen: list[QWidget] = []
    for _ in range(60):
        focus = program.window.focusWidget()
        if focus is None or focus in seen:
            break
        seen.append(focus)
        QTest.keyClick(focus, Qt.Key.Key_Tab)
    for field in (program.prompt.editor, program.prompt.target, program.prompt.k):
        assert field in seen or field.lineEdit() in seen  # type: ignore[union-attr,operator]  # spin
    assert [widget for widget in seen if not name_of(widget)] == []


def test_place_and_arrangement_survive_a_restart(
    open_program: Callable[..., Program],
) -> None:
    sizes = []
    program = open_program()
    program.window.resize(900, 640)
    program.window.docks["caches"].hide()
    program.window.close()
    for _ in range(4):
        program = open_program()
        sizes.append((program.window.width(), program.window.height()))
        assert program.window.docks["caches"].isHidden()
        program.window.close()
    assert sizes == [sizes[0]] * 4


def test_place_on_a_removed_screen_is_brought_back(
    open_program: Callable[..., Program],
) -> None:
    settings = Settings()
    settings["window.geometry"] = [9999, 9999, 900, 640, 0]
    settings["window.arrangement"] = "no arrangement"
    settings.save()
    program = open_program()
    screen = program.window.screen().availableGeometry()
    assert screen.intersects(program.window.geometry())
    assert not program.window.docks["prompt"].isHidden()


def test_window_imports_no_torch_for_a_recorded_session(session_file: Path) -> None:
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from PySide6.QtWidgets import QApplication\n"
        "from app.compose import Options, Program\n"
        "app = QApplication([])\n"
        "program = Program(app, Options(open_path=Path(sys.argv[1])))\n"
        "program.show()\n"
        "def over():\n"
        "    if program.desk.document.finished is None: return\n"
        "    assert 'torch' not in sys.modules, 'torch'\n"
        "    program.window.close(); app.quit()\n"
        "program.desk.picture_changed.connect(over)\n"
        "app.exec(); assert program.close(); print('ended')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(session_file)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "ended\n", "")
