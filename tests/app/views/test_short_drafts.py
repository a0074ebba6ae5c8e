"""What the panels show of short drafts and of further settings."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QFontMetricsF, QImage, QPainter

from app.fonts import code_font, ui_font
from app.painting.court import court_fonts, paint_court
from app.painting.timeline_frame import flags_of
from app.theme import LIGHT
from app.viewmodels.court import CourtModel
from app.viewmodels.document import Document
from app.viewmodels.presentation import Presentation
from app.viewmodels.refs import TokenRef
from app.viewmodels.time_window import TimeWindow
from app.viewmodels.timeline import TimelineModel
from app.views.acceptance import AcceptanceView
from app.views.timeline_canvas import TimelineCanvas
from engine.trace.events import DraftEnd, ModelInfo, Round, SettingsChanged
from tests.traces import make_trace


def ended(events, ends):
    """Give the drafts of the first rounds these ends; an exhausted context drafts nothing."""
    first = events[0]
    small = ModelInfo(name="small", kind="model", context_length=64)
    events[0] = msgspec.structs.replace(first, drafter=small)
    waiting = iter(ends)
    for at, event in enumerate(events):
        if isinstance(event, Round) and (end := next(waiting, None)) is not None:
            drafted = () if end is DraftEnd.CONTEXT else event.drafted
            events[at] = msgspec.structs.replace(event, k=8, draft_end=end, drafted=drafted)
    return events


def state(events):
    document = Document(events)
    presentation = Presentation(document)
    presentation.seek(10**6)
    return document, presentation


@pytest.fixture
def view(qtbot):
    made = AcceptanceView()
    qtbot.addWidget(made)
    made.set_theme(LIGHT)
    made.resize(440, 270)
    made.show()
    return made


def test_short_drafts_are_a_quiet_line(view):
    events = make_trace(rounds=6, temperature=0.8, baseline=False)
    view.set_state(*state(ended(events, [DraftEnd.UNSURE, DraftEnd.UNSURE, DraftEnd.LIMIT])))
    assert view.short.isVisible()
    assert view.short.text() == "Short drafts in 3 of 6 rounds: 2 unsure, 1 at the limit."
    assert not view.notice.isVisible()
    assert LIGHT.warning_soft not in view.short.styleSheet()


def test_an_exhausted_context_is_a_notice_and_leaves_the_charts_their_room(view):
    events = make_trace(rounds=6, temperature=0.8, baseline=False, settings_changes=False)
    view.set_state(*state(ended(events, [DraftEnd.CONTEXT] * 6)))
    assert view.notice.isVisible()
    assert view.notice.text().startswith(
        "From round 1 on nothing was drafted: the text is longer than the drafter's context of 64"
    )
    assert not view.short.isVisible()
    assert view.positions.height() > 60


def test_nothing_is_said_where_every_draft_is_whole(view):
    view.set_state(*state(make_trace(rounds=6, temperature=0.8, settings_changes=False)))
    assert not view.short.isVisible()


def test_a_flag_of_many_changes_stays_inside_the_timeline(qtbot):
    events = make_trace(rounds=8, settings_changes=False)
    changed = msgspec.structs.replace(
        events[0].settings,
        drafter=f"model:{'long' * 20}",
        min_p=0.1,
        repetition_penalty=1.2,
        confidence=0.3,
        drafter_temperature=0.5,
    )
    at = next(i for i, event in enumerate(events) if getattr(event, "index", None) == 4)
    events.insert(at, SettingsChanged(run=events[0].run, before_round=4, settings=changed))
    model, canvas = TimelineModel(Document(events)), TimelineCanvas()
    qtbot.addWidget(canvas)
    canvas.resize(420, 160)
    canvas.set_model(model)
    geometry = canvas.geometry_now()
    window = TimeWindow()
    window.set_content(model.duration_ns, len(model), geometry.plot_width)
    window.fit()
    ((box, label),) = flags_of(geometry, model, window, QFontMetricsF(canvas.font()))
    assert box.left() >= geometry.left
    assert box.right() <= geometry.left + geometry.plot_width + 1
    assert label.endswith("…")


def test_the_court_explains_p_target_by_what_is_switched_on(qtbot):
    events = make_trace(rounds=6, temperature=0.8)
    settings = msgspec.structs.replace(events[0].settings, min_p=0.05, presence_penalty=0.5)
    events[0] = msgspec.structs.replace(events[0], settings=settings)
    model = CourtModel(*state(events))
    image = QImage(420, 700, QImage.Format.Format_ARGB32)
    for raw, words in (
        (False, "The target's law after presence penalty 0.5, temperature 0.8, min-p 0.05: what"),
        (True, "at temperature 1, nothing moved and nothing cut"),
    ):
        model.show_raw, model.pinned = raw, TokenRef(0, 0)
        painter = QPainter(image)
        fonts = court_fonts(ui_font(), code_font())
        regions = paint_court(painter, QRectF(0, 0, 420, 700), model.case(), LIGHT, fonts)
        painter.end()
        assert any(words in region.text for region in regions)
