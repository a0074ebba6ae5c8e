"""Each panel as a picture: it stays in its box, tells no later round, is the same every time."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QRectF

from app.painting.case_panels import CourtPanel
from app.painting.moment import Moment
from app.painting.panel_figure import paint_panel_figure
from app.painting.panels import KEYS, PANELS, Panels
from app.painting.pixel_fonts import ui_pixels
from app.painting.text_panel import TextPanel
from app.theme import DARK, LIGHT, THEMES
from app.viewmodels.document import Document
from app.viewmodels.refs import TokenRef
from engine.trace.events import Probe, Round, RunFinished, SettingsChanged
from tests.app.painting.pictures import colours, pixels, untouched
from tests.traces import make_trace

SIZES = [(735, 420), (320, 480), (300, 150), (150, 90), (1200, 320)]
EVENTS = make_trace(40, k=4, temperature=0.8)


@pytest.fixture(scope="module")
def document():
    return Document(EVENTS)


def painted(moment, name, size, *, scale=1.0, theme=LIGHT, edge=30):
    """Return a panel's picture on a larger canvas."""
    width, height = size
    panels = Panels(moment, theme, scale)
    box = QRectF(edge, edge, width, height)
    return pixels(width + 2 * edge, height + 2 * edge, lambda p: panels.paint(p, box, name))


@pytest.mark.parametrize("theme", THEMES.values(), ids=list(THEMES))
@pytest.mark.parametrize("name", [*PANELS, KEYS])
def test_each_panel_shows_a_run_in_both_themes(qapp, document, name, theme):
    picture = painted(Moment.at(document, 20), name, SIZES[0], theme=theme)
    empty = painted(Moment.at(Document()), name, SIZES[0], theme=theme)
    assert colours(picture) > colours(empty)
    assert (picture != empty).any(axis=2).mean() > 0.02


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("name", [*PANELS, KEYS])
def test_nothing_is_painted_outside_the_box(qapp, document, name, size):
    pinned = TokenRef(17, 0)
    for moment in (Moment.at(document, 17, "verify", pinned=pinned), Moment.at(Document())):
        ground = untouched(painted(moment, name, size))
        ground[30:-30, 30:-30] = True
        assert ground.all()


@pytest.mark.parametrize("name", [name for name in PANELS if name != "timeline"])
@pytest.mark.parametrize("phase", ["draft", "verify", "done"])
def test_no_later_round_shows(qapp, document, name, phase):
    shown = 14
    kept = []
    for event in EVENTS:
        rounds = getattr(event, "index", None) if isinstance(event, Round) else None
        late = isinstance(event, RunFinished) or (rounds is not None and rounds > shown)
        late |= isinstance(event, Probe) and event.after_round > shown
        late |= isinstance(event, SettingsChanged) and event.before_round > shown
        if not late:
            kept.append(event)
    early = Document(kept)
    assert len(early.rounds) == shown + 1
    whole = painted(Moment.at(document, shown, phase), name, SIZES[0])
    assert (whole == painted(Moment.at(early, shown, phase), name, SIZES[0])).all()


@pytest.mark.parametrize("name", [*PANELS, KEYS])
def test_a_frame_does_not_depend_on_the_frames_before(qapp, document, name):
    moment = Moment.at(document, -1)
    panels = Panels(moment, DARK)
    box = QRectF(0, 0, *SIZES[0])
    moving = None
    for index in (-1, 3, 30, 12, 39, 25):
        moment.presentation.seek(index, "verify")
        moving = pixels(*SIZES[0], lambda p: panels.paint(p, box, name))
    fresh = painted(Moment.at(document, 25, "verify"), name, SIZES[0], theme=DARK, edge=0)
    assert (moving == fresh).all()


def test_twice_the_scale_is_twice_the_picture(qapp, document):
    moment = Moment.at(document, 20)
    for name in PANELS:
        once = painted(moment, name, (400, 300)).astype(float)
        twice = painted(moment, name, (800, 600), scale=2.0, edge=60).astype(float)
        halved = twice.reshape(360, 2, 460, 2, 3).mean(axis=(1, 3))
        assert np.abs(once - halved).mean() < 5


def test_the_next_frame_lays_out_no_more_than_its_round(qapp, document):
    moment = Moment.at(document, 30)
    panel = TextPanel(moment, ui_pixels(14))
    box = QRectF(0, 0, 700, 400)
    pixels(700, 400, lambda p: panel.paint(p, box, LIGHT))
    before = panel.layout.laid_out
    moment.presentation.seek(31)
    pixels(700, 400, lambda p: panel.paint(p, box, LIGHT))
    assert 0 < panel.layout.laid_out - before < 60


def test_the_newest_row_is_in_sight(qapp, document):
    end, earlier = (
        painted(Moment.at(document, index), "text", (420, 200), edge=0) for index in (39, 20)
    )
    assert (end != earlier).any(axis=2).mean() > 0.02


def test_hidden_drafts_leave_the_text_shorter(qapp, document):
    moment = Moment.at(document, 20)
    with_drafts = painted(moment, "text", SIZES[0])
    moment.show_drafts = False
    assert (painted(moment, "text", SIZES[0]) != with_drafts).any()


def test_a_pinned_token_comes_before_the_court(qapp, document):
    latest = painted(Moment.at(document, 20), "court", SIZES[0])
    pinned = painted(Moment.at(document, 20, pinned=TokenRef(3, 0)), "court", SIZES[0])
    assert (latest != pinned).any()


def test_what_an_ngram_copied_is_marked_in_the_text(qapp):
    document = Document(make_trace(30, k=4, drafter="ngram"))
    copied = next(
        one for one in document.rounds if one.match is not None and one.drafted and one.index > 5
    )
    plain = painted(Moment.at(document, copied.index), "text", SIZES[0], theme=LIGHT)
    pinned = TokenRef(copied.index, 0)
    told = painted(Moment.at(document, copied.index, pinned=pinned), "text", SIZES[0])
    accent = [int(LIGHT.accent[i : i + 2], 16) for i in (1, 3, 5)]
    arrows = [(picture == accent).all(axis=2).sum() for picture in (plain, told)]
    assert arrows[1] > arrows[0] + 50


def test_a_small_court_keeps_the_verdict_and_leaves_out_the_rest(qapp, document):
    panel = CourtPanel(Moment.at(document, 20), ui_pixels(14))
    case = panel._model.case()
    assert case is not None
    assert case.readings
    assert case.bars
    small = panel._fitted(case, QRectF(0, 0, 300, 150), LIGHT)
    assert small.verdict == case.verdict
    assert not small.readings
    assert len(small.bars) < len(case.bars)
    assert panel._fitted(case, QRectF(0, 0, 500, 900), LIGHT) == case


@pytest.mark.parametrize("name", PANELS)
def test_a_figure_has_its_title_and_caption_besides_the_panel(qapp, document, name):
    moment, size = Moment.at(document), (640, 420)
    bare, framed = (
        pixels(
            *size,
            lambda p, words=words: paint_panel_figure(
                p, size, moment, LIGHT, name, title=words, caption=words * 30
            ),
        )
        for words in ("", "measured on this machine ")
    )
    assert not untouched(bare).any()
    assert not untouched(framed).any()
    top, bottom = framed[10:50], framed[-60:-10]
    assert colours(top) > 5
    assert colours(bottom) > 5
