"""The timeline asks and never moves the cursor; it paints what is on screen and no more."""

from __future__ import annotations

from unittest.mock import MagicMock

import msgspec
import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QWheelEvent
from PySide6.QtTest import QTest

from app.painting.readings import scaled
from app.painting.timeline_frame import Geometry, flags_of, paint_ruler
from app.theme import LIGHT
from app.viewmodels.desk import DeskState
from app.viewmodels.document import Document
from app.viewmodels.presentation import Presentation
from app.views.timeline import TimelineView
from engine.trace.events import Probe, Round
from tests.traces import make_trace


def many_rounds(count: int) -> list:
    events = make_trace(rounds=40, temperature=0.8, settings_changes=False)
    rounds = [event for event in events if isinstance(event, Round)]
    out = [events[0]]
    for index in range(count):
        out.append(msgspec.structs.replace(rounds[index % len(rounds)], index=index))
        out.append(Probe(run=events[0].run, after_round=index, context_length=9, ns=20_000_000))
    return out


def shown(qtbot, events, *, at=0, width=700, height=260):
    document = Document(events)
    presentation = Presentation(document)
    presentation.playing = False
    presentation.seek(at)
    view = TimelineView()
    qtbot.addWidget(view)
    view.set_theme(LIGHT)
    view.resize(width, height)
    view.set_state(document, presentation)
    with qtbot.waitExposed(view):
        view.show()
    return view, document, presentation


@pytest.fixture
def timeline(qtbot):
    return shown(qtbot, make_trace(rounds=30, temperature=0.8), at=4)


def x_of(view, ns):
    return round(view.canvas.geometry_now().left + view.canvas.window_of_time.x_of(ns))


def row(view, index):
    return round(view.canvas.geometry_now().row(index).center().y())


def test_only_what_is_on_screen_is_painted(qtbot, qapp):
    view, _, _ = shown(qtbot, many_rounds(20_000), at=12_345)
    view.canvas.grab()
    rounds_on_screen = view.canvas.width() / view.canvas.window_of_time.comfortable_px
    assert 0 < view.canvas.work.spans <= 5 * (rounds_on_screen + 2)
    assert view.canvas.work.ticks <= rounds_on_screen + 2


def test_all_rounds_at_once_cost_columns_and_not_spans(qtbot, qapp):
    view, _, _ = shown(qtbot, many_rounds(20_000))
    view.canvas.window_of_time.fit()
    view.canvas.grab()
    work = view.canvas.work
    assert work.spans == 0
    assert 0 < work.columns <= 5 * view.canvas.width()
    assert 0 < work.ticks <= view.canvas.width()


def test_every_button_is_a_wish(timeline, qtbot):
    view, _, presentation = timeline
    transport = view.transport
    before = presentation.cursor
    for button, signal, arguments in (
        (transport.start, view.seek_requested, [-1]),
        (transport.end, view.seek_requested, [29]),
        (transport.play, view.play_requested, []),
        (transport.step_phase, view.step_phase_requested, []),
        (transport.step_round, view.step_round_requested, []),
    ):
        with qtbot.waitSignal(signal, timeout=1000) as caught:
            qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        assert caught.args == arguments
    assert presentation.cursor == before


def test_while_playing_the_button_pauses(timeline, qtbot):
    view, _, _ = timeline
    view.apply(DeskState(playing=True, at_end=False))
    assert view.transport.play.accessibleName() == "Pause"
    with qtbot.waitSignal(view.pause_requested, timeout=1000):
        qtbot.mouseClick(view.transport.play, Qt.MouseButton.LeftButton)


def test_with_nothing_left_to_show_the_button_plays(timeline):
    view, _, _ = timeline
    view.apply(DeskState(playing=True, at_end=True, running=True))
    assert view.transport.play.accessibleName() == "Pause"  # more may come
    view.apply(DeskState(playing=True, at_end=True))
    assert view.transport.play.accessibleName() == "Play"


def test_start_and_end_are_offered_where_they_lead_somewhere(timeline):
    view, _, presentation = timeline
    for at, start, end in ((-1, False, True), (4, True, True), (29, True, False)):
        presentation.seek(at)
        view.refresh()
        assert (view.transport.start.isEnabled(), view.transport.end.isEnabled()) == (start, end)


@pytest.mark.parametrize(
    ("key", "wanted"),
    [
        (Qt.Key.Key_Left, 3),
        (Qt.Key.Key_Right, 5),
        (Qt.Key.Key_Home, -1),
        (Qt.Key.Key_End, 29),
    ],
)
def test_keys_seek(timeline, qtbot, key, wanted):
    view, _, _ = timeline
    with qtbot.waitSignal(view.seek_requested, timeout=1000) as caught:
        qtbot.keyClick(view.canvas, key)
    assert caught.args == [wanted]


def test_keys_stop_at_both_ends(timeline, qtbot):
    view, _, presentation = timeline
    for at, key, wanted in ((-1, Qt.Key.Key_Left, -1), (29, Qt.Key.Key_Right, 29)):
        presentation.seek(at)
        view.refresh()
        with qtbot.waitSignal(view.seek_requested, timeout=1000) as caught:
            qtbot.keyClick(view.canvas, key)
        assert caught.args == [wanted]


def test_space_plays(timeline, qtbot):
    view, _, _ = timeline
    with qtbot.waitSignal(view.play_requested, timeout=1000):
        qtbot.keyClick(view.canvas, Qt.Key.Key_Space)


def test_pressing_and_dragging_scrub_to_the_round_under_the_pointer(timeline, qtbot):
    view, _, _ = timeline
    asked = []
    view.seek_requested.connect(asked.append)
    ends = [view._model.round_bounds_ns(i) for i in (2, 9)]
    points = [QPoint(x_of(view, sum(bounds) / 2), row(view, 2)) for bounds in ends]
    QTest.mousePress(view.canvas, Qt.MouseButton.LeftButton, pos=points[0])
    QTest.mouseMove(view.canvas, points[1])
    qtbot.waitUntil(lambda: asked[-1] == 9)
    QTest.mouseRelease(view.canvas, Qt.MouseButton.LeftButton, pos=points[1])
    assert asked[0] == 2
    asked.clear()
    QTest.mouseMove(view.canvas, points[0])
    assert not asked


def turn(view, notches, x, modifiers=Qt.KeyboardModifier.NoModifier):
    at = QPointF(x, row(view, 2))
    view.canvas.wheelEvent(
        QWheelEvent(
            at,
            QPointF(view.canvas.mapToGlobal(at.toPoint())),
            QPoint(),
            QPoint(0, 120 * notches),
            Qt.MouseButton.NoButton,
            modifiers,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
    )


def test_the_wheel_zooms_about_the_pointer_and_shift_moves(timeline):
    view, _, _ = timeline
    window = view.canvas.window_of_time
    left = view.canvas.geometry_now().left
    before, width = window.ns_of(200), window.width_ns
    turn(view, 3, left + 200)
    assert window.width_ns < width
    assert window.ns_of(200) == pytest.approx(before)
    start = window.start_ns
    turn(view, -2, left + 200, Qt.KeyboardModifier.ShiftModifier)
    assert window.start_ns > start
    turn(view, -50, left + 200)
    assert window.width_ns == pytest.approx(window.total_ns)


def test_the_scroll_bar_and_the_window_move_together(timeline):
    view, _, _ = timeline
    window = view.canvas.window_of_time
    for _ in range(12):
        view.canvas.zoom(1.25)
    assert view.bar.isVisible()
    view.bar.setValue(view.bar.maximum())
    assert window.end_ns == pytest.approx(window.total_ns, rel=1e-5)
    view.canvas.window_of_time.move_to(0)
    view.canvas.window_moved.emit()
    assert view.bar.value() == 0


def test_hover_tells_the_phases_milliseconds(timeline, qtbot):
    view, document, _ = timeline
    model, canvas = view._model, view.canvas
    span = next(one for one in model.spans(3, 4) if one.phase == "verify")
    at = QPoint(x_of(view, (span.start_ns + span.end_ns) / 2), row(view, 2))
    QTest.mouseMove(canvas, at)
    ms = f"{document.rounds[3].times.verify / 1e6:.1f}"
    qtbot.waitUntil(lambda: f"round 4: verify {ms}" in view.words.text())
    QTest.mouseMove(canvas, QPoint(x_of(view, model.probe_ns[0]), 4))
    qtbot.waitUntil(lambda: "probe" in view.words.text())
    QTest.mouseMove(canvas, QPoint(x_of(view, model.marks[0].at_ns), 4))
    qtbot.waitUntil(lambda: "k 4 → 0" in view.words.text())


def test_no_instant_is_named_under_a_flag(timeline):
    view, _, _ = timeline
    named: list[QRectF] = []
    metrics = QFontMetricsF(scaled(view.canvas.font(), 0.85))
    geometry = Geometry.of(900, 200, view.canvas.font())
    window, model = view.canvas.window_of_time, view._model
    window.pixels = geometry.plot_width
    flags = flags_of(geometry, model, window, metrics)
    assert flags
    painter = MagicMock()
    painter.drawText.side_effect = lambda at, label: named.append(
        QRectF(at.x(), 1, metrics.horizontalAdvance(label), 8)
    )

    def overlaps() -> int:
        return sum(name.intersects(flag) for name in named for flag, _ in flags)

    paint_ruler(painter, geometry, window, LIGHT, metrics)
    without = len(named)
    crossed = overlaps()
    assert crossed  # this run has such instants
    named.clear()
    paint_ruler(painter, geometry, window, LIGHT, metrics, flags)
    assert overlaps() == 0
    assert 0 < len(named) < without


def test_without_a_pointer_the_words_are_the_cursors_round(timeline):
    view, _, presentation = timeline
    presentation.seek(7)
    view.refresh()
    assert view.words.text().startswith("round 8:")
    assert view.transport.status.text() == "round 8 of 30"


def test_the_cursor_is_kept_on_screen(timeline):
    view, _, presentation = timeline
    for _ in range(14):
        view.canvas.zoom(1.25)
    window = view.canvas.window_of_time
    for at in (29, 0, 15):
        presentation.seek(at)
        view.refresh()
        assert window.start_ns <= view._model.cursor_ns(presentation.cursor) <= window.end_ns
