"""Whole frames: nothing overlaps and nothing is lost at any size, and text stays text."""

from __future__ import annotations

import io

import pypdf
import pytest
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QRectF, QSizeF
from PySide6.QtGui import QPageSize, QPainter, QPdfWriter

from app.painting.captions import Caption
from app.painting.moment import Moment
from app.painting.panels import KEYS, PANELS
from app.painting.scene import SCENE, Scene
from app.painting.scene_layout import arranged
from app.painting.scene_scale import scene_scale
from app.painting.title_card import TitleCard, paint_title_card
from app.theme import LIGHT, THEMES
from app.viewmodels.document import Document
from app.viewmodels.run_words import RunWords, caption_words, run_words
from engine.trace.events import ModelInfo
from tests.app.painting.pictures import colours, pixels, untouched
from tests.traces import make_trace

SIZES = [(960, 540), (1004, 650), (540, 960), (600, 600), (320, 180), (2000, 300)]
CAPTION = Caption("A marker", "What it is about, in a sentence that is somewhat longer. " * 3)


@pytest.fixture(scope="module")
def document():
    return Document(make_trace(30, k=4, temperature=0.8))


def frame(scene, moment, caption=None):
    return pixels(*scene.size, lambda p: scene.paint(p, moment, caption))


@pytest.mark.parametrize("theme", THEMES.values(), ids=list(THEMES))
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_frame_fills_its_size_and_shows_the_run(qapp, document, size, theme):
    picture = frame(Scene(theme, size, title="A talk"), Moment.at(document, 15), CAPTION)
    assert not untouched(picture).any()
    empty = frame(Scene(theme, size), Moment.at(Document()))
    assert not untouched(empty).any()
    assert colours(picture) > colours(empty)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_nothing_is_painted_outside_the_size(qapp, document, size):
    scene = Scene(LIGHT, size, 1.4, title="A title that is long " * 8)
    width, height = size
    larger = pixels(
        width + 40, height + 40, lambda p: scene.paint(p, Moment.at(document, 15), CAPTION)
    )
    ground = untouched(larger)
    ground[:height, :width] = True
    assert ground.all()


@pytest.mark.parametrize("names", [SCENE[1:], PANELS, ("court",), ("timeline", "caches"), ()])
@pytest.mark.parametrize("size", [(1240, 560), (560, 900), (500, 130), (900, 900)], ids=str)
def test_panels_stand_in_their_room_and_clear_of_each_other(names, size):
    room = QRectF(10, 20, *size)
    boxes = arranged(room, names)
    assert set(boxes) <= set(names)
    assert bool(boxes) == bool(names)
    for name, box in boxes.items():
        assert room.adjusted(-0.1, -0.1, 0.1, 0.1).contains(box)
        others = [other for key, other in boxes.items() if key != name]
        assert not any(box.intersects(other) for other in others)
        assert box.width() > 100
        assert box.height() > 60


def test_frames_are_the_same_for_the_same_moment(qapp, document):
    scene = Scene(LIGHT, (960, 540))
    moment = Moment.at(document, 3)
    for index in (4, 20, 29, 11):
        moment.presentation.seek(index)
        last = frame(scene, moment, CAPTION)
    fresh = frame(Scene(LIGHT, (960, 540)), Moment.at(document, 11), CAPTION)
    assert (last == fresh).all()


def test_kept_room_keeps_the_panels_in_place_when_a_caption_comes(qapp, document):
    moment, short = Moment.at(document, 15), Caption("A marker", "A note.")
    for keep, same in ((True, True), (False, False)):
        scene = Scene(LIGHT, (960, 540), keep_caption_room=keep)
        without, told = frame(scene, moment), frame(scene, moment, short)
        assert (without != told).any()
        assert bool((without[:400] == told[:400]).all()) is same


def test_another_moment_is_shown_by_the_same_scene(qapp, document):
    scene = Scene(LIGHT, (960, 540))
    other = Document(make_trace(12, seed=5, k=3))
    first, second = frame(scene, Moment.at(document, 5)), frame(scene, Moment.at(other, 5))
    assert (second == frame(Scene(LIGHT, (960, 540)), Moment.at(other, 5))).all()
    assert (first != second).any()


def test_a_larger_picture_of_the_same_shape_is_the_same_scene_larger():
    assert scene_scale((3840, 2160)) == pytest.approx(2 * scene_scale((1920, 1080)))
    assert scene_scale((1280, 720)) == pytest.approx(1.0)
    assert scene_scale((1080, 1920)) > scene_scale((1920, 1080))


def pdf_text(size, paint):
    """Return the text that a reader finds in a PDF of one page."""
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setPageSize(QPageSize(QSizeF(*size), QPageSize.Unit.Point))
    writer.setPageMargins(QMarginsF(0, 0, 0, 0))
    writer.setResolution(72)
    painter = QPainter(writer)
    paint(painter)
    painter.end()
    buffer.close()
    text = pypdf.PdfReader(io.BytesIO(data.data())).pages[0].extract_text()
    return "".join(text.split())


def test_words_and_numbers_can_be_read_from_a_pdf(qapp, document):
    scene = Scene(LIGHT, (960, 540), title="A talk 2026", panels=(KEYS, "text", "court"))
    moment = Moment.at(document, 15)
    text = pdf_text((960, 540), lambda p: scene.paint(p, moment, CAPTION))
    assert "Atalk2026" in text
    assert "round16of30" in text
    assert "Whatitisabout" in text
    words = run_words(document, 15)
    for part in (words.target, words.drafter, words.settings):
        assert "".join(part.split()) in text
    speed = document.figures_at(16).speedup
    assert speed is not None
    assert f"{speed:.2f}×" in text


def test_a_picture_asks_nobody_to_click(qapp, document):
    scene, moment = Scene(LIGHT, (960, 540)), Moment.at(document, -1)
    text = pdf_text((960, 540), lambda p: scene.paint(p, moment))
    assert "Notokenhasbeenjudgedyet." in text
    assert "Click" not in text


def test_a_title_card_says_what_is_known_and_nothing_of_what_is_not(qapp, document):
    size, card = (960, 540), TitleCard("A talk 2026", "With a note.")
    words = run_words(document)
    text = pdf_text(size, lambda p: paint_title_card(p, size, card, words, LIGHT))
    for part in ("A talk 2026", "With a note.", words.target, words.drafter, words.prompt):
        assert "".join(part.split()) in text
    bare = RunWords(target="some-target")
    text = pdf_text(size, lambda p: paint_title_card(p, size, card, bare, LIGHT))
    assert "some-target" in text
    assert not any(label in text for label in ("drafter", "prompt", "settings"))


@pytest.mark.parametrize("size", [(960, 540), (300, 300), (270, 480)], ids=str)
def test_a_title_card_stays_inside_its_size(qapp, document, size):
    card = TitleCard("A title with a great many words in it " * 4, "And a note, too. " * 30)
    width, height = size
    picture = pixels(
        width + 40,
        height + 40,
        lambda p: paint_title_card(p, size, card, run_words(document), LIGHT),
    )
    ground = untouched(picture)
    ground[:height, :width] = True
    assert ground.all()


def test_words_of_a_run_without_a_drafter_or_a_machine():
    events = make_trace(4, k=0, drafter="none")
    words = run_words(Document(events))
    assert words.target
    assert words.settings.startswith("k 0")
    assert run_words(Document()) == RunWords()
    assert caption_words(Document(), "text", 0) == ""


def test_a_caption_names_the_run_the_rounds_and_the_definitions(document):
    started = document.started
    assert started is not None
    assert isinstance(started.target, ModelInfo)
    said = caption_words(document, "acceptance", 10, 9)
    assert started.target.name in said
    assert f"seed {started.seed}" in said
    assert "The first 10 rounds of 30." in said
    assert "Accepted / tested." in said
    assert "All 30 rounds." in caption_words(document, "throughput", 30, 29)
