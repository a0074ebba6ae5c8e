"""While rounds stream in, each panel paints as often as it may, and the last state is shown."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject

import app.throttle
import app.ticking
from app.benchmarks.stage import surfaces
from app.compose import Options, Program
from app.messages import EventsArrived
from app.viewmodels.acceptance import AcceptanceModel
from app.viewmodels.caches import CachesModel
from app.viewmodels.prompt import PromptState
from app.viewmodels.refs import CLOSING_SLOT, TokenRef
from app.viewmodels.throughput import ThroughputModel
from engine.trace.events import Round
from tests.app.fake_time import FakeTime
from tests.app.waiting import wait_until
from tests.traces import make_trace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtWidgets import QApplication, QWidget

    from app.messages import Job
    from app.worker import Post

SECONDS = 4
ROUNDS_PER_SECOND = 50
STEP_MS = 10


class Held:
    """Performs nothing until it is let go: the test hands over the rounds."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self.go = threading.Event()

    def __call__(self, job: Job, post: Post) -> str:
        self.jobs.append(job)
        self.go.wait(60)
        return ""


class Counter(QObject):
    """Counts paint events by name."""

    def __init__(self, watched: dict[str, QWidget]) -> None:
        super().__init__()
        self._names = {widget: name for name, widget in watched.items()}
        self.paints = dict.fromkeys(watched, 0)
        for widget in watched.values():
            widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            self.paints[self._names[watched]] += 1  # type: ignore[index]  # widgets alone
        return False


class Stream:
    """The window with every panel open, under fake time, and a run that a test streams into it."""

    def __init__(self, qapp: QApplication, time: FakeTime) -> None:
        self.time, self.engine = time, Held()
        self.program = Program(qapp, Options(), self.engine)
        program = self.program
        program.window.resize(1600, 1000)
        program.window.show()
        program.deeds.do("view.restore")
        program.deeds.set_speed(None)
        program.desk.run("held", PromptState(prompt="x", baseline=False).request)
        wait_until(lambda: bool(self.engine.jobs))
        rounds = SECONDS * ROUNDS_PER_SECOND
        events = make_trace(rounds=rounds, temperature=1.0, baseline=False, settings_changes=False)
        self.events = [event for event in events if isinstance(event, Round)]
        self.put(*[event for event in events[:2] if not isinstance(event, Round)])
        self.rest(1000)
        self.counter = Counter(surfaces(program))

    def put(self, *events: object) -> None:
        desk = self.program.desk
        if desk._lanes.inbox.put(EventsArrived(self.engine.jobs[0].number, events)):  # type: ignore[arg-type]  # events
            desk._wake()

    def rest(self, ms: int) -> None:
        for _ in range(0, ms, STEP_MS):
            self.time.advance(STEP_MS)
            QCoreApplication.processEvents()

    def stream(self) -> None:
        every_ms = 1000 / ROUNDS_PER_SECOND
        for event in self.events:
            self.put(event)
            self.rest(round(every_ms))


@pytest.fixture
def stream(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stream]:
    time = FakeTime()
    monkeypatch.setattr(app.throttle, "QTimer", time.timer)
    monkeypatch.setattr(app.ticking, "QTimer", time.timer)
    monkeypatch.setattr(app.ticking, "QElapsedTimer", time.elapsed)
    made = Stream(qapp, time)
    yield made
    made.engine.go.set()
    made.program.window.close()
    assert made.program.close()
    made.program.window.deleteLater()


def test_panels_paint_no_oftener_than_they_may(stream: Stream) -> None:
    stream.stream()
    paints = stream.counter.paints
    assert 10 * SECONDS < paints.pop("strip") <= 30 * SECONDS + 1
    seen = {name: count for name, count in paints.items() if count}
    assert {"court", "timeline", "throughput plot"} <= seen.keys()
    assert {name: n for name, n in seen.items() if n > 5 * SECONDS + 1} == {}


def test_the_last_round_is_shown_everywhere_in_the_end(stream: Stream) -> None:
    stream.stream()
    stream.rest(1000)
    program, rounds = stream.program, len(stream.events)
    document = program.desk.document
    acceptance, throughput, _ = program.charts
    assert program.desk.presentation.visible_rounds() == rounds
    assert program.strip.index_of(TokenRef(rounds - 2, CLOSING_SLOT)) is not None
    assert program.timeline.transport.status.text() == f"round {rounds} of {rounds}"
    assert program.court.case is not None
    assert program.court.case.ref.round == rounds - 1
    assert acceptance.readings.readings == AcceptanceModel(document, rounds).readings
    assert throughput.readings.readings == ThroughputModel(document, rounds).readings
    program.window.docks["caches"].raise_()
    stream.rest(500)
    assert program.charts[2].readings.readings == CachesModel(document, rounds).readings


def test_nothing_is_painted_once_nothing_comes(stream: Stream) -> None:
    stream.stream()
    stream.rest(1000)
    stream.counter.paints = dict.fromkeys(stream.counter.paints, 0)
    stream.rest(2000)
    assert sum(stream.counter.paints.values()) == 0


def test_hidden_panels_do_nothing(stream: Stream, monkeypatch: pytest.MonkeyPatch) -> None:
    program = stream.program
    refreshed = dict.fromkeys(("court", "acceptance", "caches", "timeline"), 0)
    views = (program.court, program.charts[0], program.charts[2], program.timeline)
    for name, view in zip(refreshed, views, strict=True):

        def refresh(name: str = name) -> None:
            refreshed[name] += 1

        monkeypatch.setattr(view, "refresh", refresh)
    program.window.docks["court"].hide()
    program.window.docks["acceptance"].hide()
    stream.rest(100)
    refreshed.update(dict.fromkeys(refreshed, 0))
    stream.stream()
    stream.rest(500)
    assert refreshed.pop("timeline") > SECONDS
    assert set(refreshed.values()) == {0}  # the caches stand behind the timeline's tab


def test_streaming_changes_no_state(stream: Stream) -> None:
    half = len(stream.events) // 2
    rest, stream.events = stream.events[half:], stream.events[:half]
    stream.stream()  # by now it is known that it runs and has rounds
    changes: list[int] = []
    stream.program.desk.state_changed.connect(lambda: changes.append(1))
    stream.events = rest
    stream.stream()
    assert len(stream.program.desk.document.rounds) == half + len(rest)
    assert changes == []


def test_a_viewer_who_scrubs_has_every_panel_follow_closely(stream: Stream) -> None:
    stream.stream()
    program = stream.program
    program.desk.pause()
    stream.rest(1000)
    stream.counter.paints = dict.fromkeys(stream.counter.paints, 0)
    for index in range(100):  # one second
        program.desk.seek(index)
        stream.rest(STEP_MS)
    paints = stream.counter.paints
    assert paints["timeline"] > 30
    assert paints["throughput figures"] in range(6, 11)
    stream.rest(500)
    assert program.timeline.transport.status.text() == f"round 100 of {len(stream.events)}"
