"""What holds for each of the four panels: any run, any size, any theme, opened and closed."""

from __future__ import annotations

import gc
import itertools

import pytest
from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QAccessible, QFontMetricsF, QImage
from PySide6.QtWidgets import QApplication, QWidget

from app.painting.readings import scaled
from app.painting.timeline_frame import ROWS
from app.theme import DARK, LIGHT
from app.viewmodels.document import Document
from app.viewmodels.presentation import Presentation
from app.views.acceptance import AcceptanceView
from app.views.caches import CachesView
from app.views.plots import Plot
from app.views.readings import ReadingRow
from app.views.throughput import ThroughputView
from app.views.timeline import TimelineView
from app.views.timeline_canvas import TimelineCanvas
from tests.traces import make_trace

PANELS = [AcceptanceView, ThroughputView, TimelineView, CachesView]

RUNS = {
    "empty": lambda: [],
    "only started": lambda: make_trace(rounds=1)[:1],
    "one round": lambda: make_trace(rounds=1, temperature=0.8),
    "no draft": lambda: make_trace(rounds=12, drafter="none", probe_every=0, baseline=False),
    "n-gram": lambda: make_trace(rounds=25, k=12, drafter="ngram", temperature=0.8),
    "paced": lambda: make_trace(rounds=12, paced=True, temperature=0.8),
    "unobserved": lambda: make_trace(rounds=12, top_n=0),
}


def state(events=(), at=10**9):
    document = Document(list(events))
    presentation = Presentation(document)
    presentation.seek(at)
    return document, presentation


@pytest.fixture(params=PANELS, ids=lambda panel: panel.__name__)
def panel(request, qtbot):
    made = request.param()
    qtbot.addWidget(made)
    made.set_theme(LIGHT)
    return made


def test_small_figures_give_way_to_the_plot_in_a_low_panel(qtbot):
    view = ThroughputView()
    qtbot.addWidget(view)
    view.set_state(*state(RUNS["one round"]()))
    view.show()
    view.resize(430, 290)
    view.layout().activate()
    assert view.small.isVisible()
    assert view.small.stacked
    assert view.small.geometry().right() <= view.plot.geometry().left()
    assert view.plot.height() >= 100
    view.resize(300, 290)
    view.layout().activate()
    assert not view.small.stacked
    assert view.small.geometry().bottom() <= view.plot.geometry().top()
    view.resize(430, 220)
    assert not view.small.isVisible()


def test_names_of_rows_stand_clear_of_each_other_in_the_lowest_timeline(qtbot):
    canvas = TimelineCanvas()
    qtbot.addWidget(canvas)
    canvas.resize(canvas.minimumSizeHint())
    middles = [canvas.geometry_now().row(i).center().y() for i in range(len(ROWS))]
    line = QFontMetricsF(scaled(canvas.font(), 0.85)).height()
    assert all(b - a >= line - 0.5 for a, b in itertools.pairwise(middles))


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("size", [QSize(420, 260), QSize(900, 500), QSize(180, 110)])
def test_every_run_is_drawn_at_every_size(panel, run, size):
    panel.set_state(*state(RUNS[run]()))
    panel.resize(size)
    image = panel.grab().toImage()
    colours = {
        image.pixelColor(x, y).name()
        for x in range(0, image.width(), 2)
        for y in range(0, image.height(), 2)
    }
    assert len(colours) > 3


def test_a_panel_that_was_never_shown_can_be_grabbed(panel):
    panel.set_state(*state(make_trace(rounds=5)))
    assert not panel.grab().isNull()


def test_before_it_has_a_document_a_panel_is_quiet(panel):
    panel.refresh()
    panel.resize(420, 260)
    assert not panel.grab().isNull()


def test_another_theme_changes_the_picture_and_changing_back_restores_it(panel, qtbot):
    panel.set_state(*state(make_trace(rounds=12, temperature=0.8)))
    panel.resize(500, 300)
    with qtbot.waitExposed(panel):
        panel.show()

    def picture() -> QImage:
        QApplication.processEvents()
        return panel.grab().toImage()

    light = picture()
    panel.set_theme(DARK)
    dark = picture()
    panel.set_theme(LIGHT)
    assert dark != light
    assert picture() == light


class PaintCount(QWidget):
    """Counts the paint events of a panel's parts."""

    def __init__(self) -> None:
        super().__init__()
        self.paints = 0

    def eventFilter(self, watched, event):
        self.paints += event.type() == QEvent.Type.Paint
        return False


def test_figures_are_painted_again_only_when_they_changed(qtbot):
    document, presentation = state(make_trace(rounds=12, temperature=0.8), at=5)
    view, counter = AcceptanceView(), PaintCount()
    qtbot.addWidget(view)
    qtbot.addWidget(counter)
    view.set_theme(LIGHT)
    view.set_state(document, presentation)
    view.resize(900, 400)
    with qtbot.waitExposed(view):
        view.show()
    QApplication.processEvents()
    for part in (view.readings, view.positions, view.lengths):
        part.installEventFilter(counter)
    view.refresh()
    QApplication.processEvents()
    assert counter.paints == 0
    presentation.seek(6)
    view.refresh()
    QApplication.processEvents()
    assert counter.paints > 0


@pytest.mark.parametrize("make", PANELS)
def test_fifty_panels_open_and_close_with_live_updates(make, qapp):
    """Redraws queued for a panel that is gone find nothing to touch."""
    events = make_trace(rounds=50, temperature=0.8)
    for turn in range(50):
        document = Document()
        presentation = Presentation(document)
        panel = make()
        panel.set_theme(DARK if turn % 2 else LIGHT)
        panel.set_state(document, presentation)
        panel.show()
        for start in range(0, 12, 4):
            document.extend(events[start : start + 4])
            presentation.seek(len(document.rounds))
            panel.refresh()
            if turn % 3:
                qapp.processEvents()
        panel.refresh()  # and close with this still to be painted
        panel.close()
        panel.deleteLater()
        del panel
        if turn % 5 == 0:
            gc.collect()
        qapp.processEvents()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gc.collect()
    qapp.processEvents()


def test_following_a_run_event_by_event_ends_in_the_same_picture(panel, qtbot):
    events = make_trace(rounds=14, temperature=0.8)
    document, presentation = state()
    panel.resize(500, 300)
    panel.set_state(document, presentation)
    for event in events:
        document.extend([event])
        presentation.seek(len(document.rounds))
        panel.refresh()
    followed = panel.grab().toImage()
    whole = type(panel)()
    qtbot.addWidget(whole)
    whole.set_theme(LIGHT)
    whole.resize(500, 300)
    whole.set_state(*state(events))
    assert whole.grab().toImage() == followed


def test_going_back_shows_what_was_shown_then(panel):
    document, presentation = state(make_trace(rounds=14, temperature=0.8), at=4)
    panel.resize(500, 300)
    panel.set_state(document, presentation)
    panel.refresh()
    then = panel.grab().toImage()
    presentation.seek(13)
    panel.refresh()
    assert panel.grab().toImage() != then
    presentation.seek(4)
    panel.refresh()
    assert panel.grab().toImage() == then


def focus_takers(panel):
    return [
        part
        for part in panel.findChildren(QWidget)
        if part.focusPolicy() & Qt.FocusPolicy.TabFocus and part.isVisible() and part.isEnabled()
    ]


def test_everything_that_takes_the_focus_has_a_name(panel, qtbot):
    panel.set_state(*state(make_trace(rounds=14, temperature=0.8)))
    panel.resize(900, 400)
    with qtbot.waitExposed(panel):
        panel.show()
    assert focus_takers(panel)
    for part in focus_takers(panel):
        interface = QAccessible.queryAccessibleInterface(part)
        assert interface.text(QAccessible.Text.Name), part


def test_what_paints_itself_shows_the_focus(panel, qtbot):
    panel.set_state(*state(make_trace(rounds=14, temperature=0.8), at=5))
    panel.resize(900, 400)
    panel.show()
    panel.activateWindow()
    qtbot.waitUntil(panel.isActiveWindow)
    own = (ReadingRow, Plot, TimelineCanvas)
    for part in focus_takers(panel):
        if isinstance(part, own):
            panel.setFocus()
            part.clearFocus()
            without = panel.grab().toImage()
            part.setFocus(Qt.FocusReason.TabFocusReason)
            assert part.hasFocus()
            assert panel.grab().toImage() != without
