"""The arrow from what was copied to the draft: where it goes, and that it lays nothing out."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QImage, QPainter

from app.fonts import code_font, ui_font
from app.painting.strip_arrow import Ends, paint_arrow, place_arrow
from app.painting.strip_layout import SMALL, StripLayout
from app.theme import THEMES
from app.viewmodels.characters import decode_piece
from app.viewmodels.chips import make_chip
from app.viewmodels.refs import TokenRef

pytestmark = pytest.mark.usefixtures("qapp")
WORDS = "token 3"


def laid_out(count: int, text: str = "word\n", width: float = 380.0) -> StripLayout:
    decoded = decode_piece(b"", text.encode())
    layout = StripLayout(ui_font(1.6), code_font(1.6 * SMALL), width)
    layout.update(
        [make_chip(TokenRef(0, at), "accepted", decoded, False, False) for at in range(count)], 0
    )
    return layout


def centre(layout: StripLayout, chip: int):
    return layout.box(*layout.parts_of(chip)[0]).center()


def test_arrow_goes_from_the_last_row_of_the_source_to_the_first_of_the_draft():
    layout = laid_out(12)
    arrow = place_arrow(layout, Ends((1, 2), (6, 7), WORDS), 0.0, layout.height)
    assert arrow is not None
    assert (arrow.start.x(), arrow.end.x()) == (centre(layout, 2).x(), centre(layout, 6).x())
    assert centre(layout, 2).y() < arrow.start.y() < arrow.end.y() < centre(layout, 6).y()
    assert [len(arrow.sources), len(arrow.drafted)] == [2, 2]
    assert arrow.words == ""
    assert not arrow.level


def test_on_one_row_the_arrow_goes_above_it():
    layout = laid_out(9, " ab")
    arrow = place_arrow(layout, Ends((1, 2), (5, 6), WORDS), 0.0, 200.0)
    assert arrow is not None
    assert arrow.level
    assert arrow.leave.y() < arrow.start.y() == arrow.end.y() < centre(layout, 1).y()
    assert arrow.start.x() < arrow.end.x()


def test_chips_that_stand_between_those_of_the_source_are_left_out():
    layout = laid_out(9, " ab")
    apart = place_arrow(layout, Ends((1, 3), (5, 6), WORDS), 0.0, 200.0)
    assert apart is not None
    assert len(apart.sources) == 2
    assert apart.sources[0].right() < centre(layout, 2).x() < apart.sources[1].left()


def test_a_source_above_what_is_seen_is_named_at_the_upper_edge():
    layout = laid_out(40)
    top = 10 * layout.row_height
    arrow = place_arrow(layout, Ends((1, 2), (15, 16), WORDS), top, 10 * layout.row_height)
    assert arrow is not None
    assert arrow.sources == ()
    assert arrow.words == WORDS
    assert top <= arrow.start.y() < top + 2 * layout.row_height


def test_a_draft_below_what_is_seen_is_named_at_the_lower_edge():
    layout = laid_out(40)
    seen = 10 * layout.row_height
    arrow = place_arrow(layout, Ends((3, 4), (25, 26), WORDS), 0.0, seen)
    assert arrow is not None
    assert arrow.drafted == ()
    assert arrow.words == "draft"
    assert seen - 2 * layout.row_height < arrow.end.y() <= seen


def test_words_at_an_edge_stand_beside_a_span_on_the_same_row():
    layout = laid_out(40)
    top = 10 * layout.row_height
    arrow = place_arrow(layout, Ends((1, 2), (10, 11), WORDS), top, 10 * layout.row_height)
    assert arrow is not None
    assert arrow.start.x() > arrow.drafted[0].right()


@pytest.mark.parametrize("drafted", [(1, 2), (38, 39)])
def test_no_arrow_where_neither_end_is_in_sight(drafted: tuple[int, int]):
    layout = laid_out(40)
    seen = 10 * layout.row_height
    assert place_arrow(layout, Ends((0, 1), drafted, WORDS), 12 * layout.row_height, seen) is None


def test_a_source_out_of_sight_is_not_laid_out():
    layout = laid_out(60_000)
    top = layout.settle(layout.height - 300, 300)
    before = layout.laid_out
    last = layout.count - 1
    assert place_arrow(layout, Ends((9, 10), (last - 1, last), WORDS), top, 300.0) is not None
    assert layout.laid_out == before


@pytest.mark.parametrize("ratio", [1.0, 2.0])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("top_row", [0, 5])
def test_it_is_painted_in_the_accent_and_only_where_asked(theme: str, ratio: float, top_row: int):
    layout = laid_out(12)
    arrow = place_arrow(layout, Ends((1, 2), (8, 9), WORDS), top_row * layout.row_height, 300.0)
    assert arrow is not None

    def painted(part: QRectF | None) -> QImage:
        image = QImage(round(400 * ratio), round(300 * ratio), QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(ratio)
        image.fill(QColor(THEMES[theme].base))
        with QPainter(image) as painter:
            items = paint_arrow(
                painter,
                QRectF(10, 0, 380, 300),
                layout,
                arrow,
                THEMES[theme],
                scroll=top_row * layout.row_height,
                part=part,
            )
        assert items >= 5
        return image

    def accented(image: QImage, rows: range) -> int:
        accent = QColor(THEMES[theme].accent).rgb()
        return sum(image.pixel(x, y) == accent for y in rows for x in range(image.width()))

    whole = painted(None)
    assert accented(whole, range(whole.height())) > 60
    half = painted(QRectF(0, 0, 400, 90))
    cut = round(90 * ratio)
    assert accented(half, range(cut)) == accented(whole, range(cut)) > 10
    assert accented(half, range(cut, half.height())) == 0
