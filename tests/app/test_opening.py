"""A long session in the real desk and strip: a first picture at once, and little held of it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from app.theme import LIGHT
from app.views.strip import StripView
from engine.trace import codec
from tests.app.opened import write_trace
from tests.app.waiting import PATIENCE_S, wait_until
from tests.traces import make_trace

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from app.desk import Desk
    from engine.trace.events import Event

ROUNDS = 2_500
ENOUGH = 40  # rounds for a first picture


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    events = make_trace(rounds=ROUNDS, k=3, temperature=1.0, top_n=3)
    return write_trace(tmp_path_factory.mktemp("sessions") / "long.jsonl", events)


@pytest.fixture
def strip(qtbot: QtBot, desk: Desk) -> StripView:
    view = StripView()
    qtbot.addWidget(view)
    view.set_theme(LIGHT)
    view.set_state(desk.document, desk.presentation)
    desk.picture_changed.connect(view.refresh)
    view.resize(600, 400)
    view.show()
    return view


@pytest.mark.parametrize("speed", [None, 1.0])
def test_the_first_picture_needs_few_rounds(
    desk: Desk,
    strip: StripView,
    session: Path,
    speed: float | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    decoded: list[bytes] = []
    seen = threading.Event()
    really = codec.decode

    def counted(line: bytes, *schema: int) -> Event:
        if threading.current_thread() is not threading.main_thread():
            decoded.append(line)
            if len(decoded) == ENOUGH:
                seen.wait(PATIENCE_S)  # the thread that reads goes on once there is a picture
        return really(line, *schema)

    monkeypatch.setattr(codec, "decode", counted)
    desk.set_speed(speed)
    desk.open(session)
    try:
        wait_until(lambda: bool(desk.document.rounds) and strip.painted_items > 3, "a picture")
        assert len(decoded) <= ENOUGH
    finally:
        seen.set()
    wait_until(lambda: not desk.state.opening, "the rest")
    assert len(desk.document.rounds) == ROUNDS


def test_a_session_that_was_read_holds_little_and_shows_any_place(
    desk: Desk, strip: StripView, session: Path
) -> None:
    desk.set_speed(None)
    desk.open(session)
    wait_until(lambda: not desk.state.opening and desk.presentation.at_end, "the end")
    assert len(desk.document.rounds) == ROUNDS
    assert desk.document.rounds.held < 100
    assert desk.document.rounds.read < 100  # what was shown on the way
    assert strip.placed.laid_out < len(strip.model.chips)  # type: ignore[union-attr]  # it has one
    for index in (ROUNDS // 2, 3, ROUNDS - 1):
        read, laid_out = desk.document.rounds.read, strip.placed.laid_out
        desk.seek(index)
        strip.follow()
        wait_until(lambda: not desk.ticking, "the picture")
        strip.repaint()
        chips = strip.model.chips  # type: ignore[union-attr]  # as above
        assert chips[-1].ref.round == index
        assert strip.painted_items > 20
        assert desk.document.rounds.read - read < 10
        assert strip.placed.laid_out - laid_out < 4_000


def test_scrolling_back_through_a_long_text_keeps_what_is_read_in_sight(
    desk: Desk, strip: StripView, session: Path
) -> None:
    desk.set_speed(None)
    desk.open(session)
    wait_until(lambda: not desk.state.opening and not desk.ticking, "the end")
    bar = strip.verticalScrollBar()
    assert bar.value() == bar.maximum()
    line = round(strip.placed.row_height)
    for _ in range(200):
        top = strip.viewport().rect().center()
        ref = next(
            r for x in range(top.x(), 0, -9) if (r := strip.ref_at(top.__class__(x, top.y())))
        )
        chip = strip.index_of(ref)
        assert chip is not None
        before = strip.chip_rect(chip).top()
        bar.setValue(bar.value() - 3 * line)
        assert strip.chip_rect(chip).top() == before + 3 * line


def test_a_damaged_round_is_named_and_what_came_before_is_shown(
    desk: Desk, tmp_path: Path, session: Path
) -> None:
    lines = session.read_bytes().splitlines(keepends=True)
    lines[1_000] = lines[1_000].replace(b'"fate"', b'"fade"', 1)
    path = tmp_path / "damaged.jsonl"
    path.write_bytes(b"".join(lines))
    failed: list[str] = []
    opened: list[Path] = []
    desk.failed.connect(failed.append)
    desk.opened.connect(opened.append)
    desk.open(path)
    wait_until(lambda: bool(failed), "the sentence")
    assert "Line 1001" in failed[0]
    assert len(desk.document.events) == 1_000
    assert opened == []
