"""The strip's picture: bounded work, every fate with its own mark, light and dark, any scale."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QImage, QPainter

from app.fonts import code_font, ui_font
from app.painting.legend import legend_height, paint_legend
from app.painting.strip import Highlights, paint_strip
from app.painting.strip_layout import SMALL, StripLayout
from app.theme import THEMES
from app.viewmodels.characters import decode_piece
from app.viewmodels.chips import make_chip
from app.viewmodels.document import Document
from app.viewmodels.presentation import Presentation
from app.viewmodels.refs import TokenRef
from app.viewmodels.strip import StripModel
from tests.traces import make_trace

pytestmark = pytest.mark.usefixtures("qapp")
FATES = list(THEMES["light"].fates)


def picture(chips, theme, *, scroll=0.0, ratio=1.0, highlights=None, size=(400, 120)):
    layout = StripLayout(ui_font(1.6), code_font(1.6 * SMALL), size[0] - 20.0)
    layout.update(chips, 0)
    image = QImage(round(size[0] * ratio), round(size[1] * ratio), QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    image.fill(QColor(theme.base))
    painter = QPainter(image)
    rect = QRectF(10, 10, size[0] - 20.0, size[1] - 20.0)
    items = paint_strip(
        painter, rect, layout, chips, theme, scroll=scroll, highlights=highlights or Highlights()
    )
    painter.end()
    return image, items


def chip(fate, text=" word", starts=False):
    decoded = decode_piece(b"", text.encode())
    return make_chip(TokenRef(0, 0), fate, decoded, False, starts)


def grey(image):
    """The picture without its colours: what is left tells the marks."""
    return image.convertToFormat(QImage.Format.Format_Grayscale8)


def test_50_000_tokens_paint_a_bounded_number_of_items():
    document = Document(make_trace(rounds=12_000, k=4, temperature=1.0, top_n=0, baseline=False))
    presentation = Presentation(document)
    presentation.seek(10**6)
    model = StripModel(document, presentation)
    model.refresh()
    assert len(model.chips) > 50_000
    layout = StripLayout(ui_font(1.6), code_font(1.6 * SMALL), 780.0)
    layout.update(model.chips, 0)
    image = QImage(800, 600, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    visible_rows = 600 / layout.row_height + 2
    for share in (0.0, 0.5, 1.0):
        scroll = layout.settle(share * (layout.height - 600), 600)
        items = paint_strip(
            painter,
            QRectF(10, 0, 780, 600),
            layout,
            model.chips,
            THEMES["light"],
            scroll=scroll,
        )
        assert 20 < items < visible_rows * 80
    painter.end()


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_each_fate_is_told_without_colour(theme):
    """In grey, with one text colour for all, no two fates look alike."""
    from dataclasses import replace

    plain = {
        fate: replace(style, colour=theme.text, fill=theme.base)
        for fate, style in theme.fates.items()
    }
    pictures = {
        fate: picture([chip(fate, "word")], replace(theme, fates=plain))[0] for fate in FATES
    }
    for fate in FATES:
        for other in FATES:
            if fate < other:
                assert grey(pictures[fate]) != grey(pictures[other]), (fate, other)


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
@pytest.mark.parametrize("ratio", [1.0, 1.25, 2.0])
def test_picture_is_made_at_any_ratio(theme, ratio):
    chips = [chip(fate) for fate in FATES]
    image, items = picture(chips, theme, ratio=ratio)
    assert items >= len(FATES)
    assert image.width() == round(400 * ratio)
    colours = {image.pixelColor(x, y).name() for x in range(image.width()) for y in (20, 30)}
    assert len(colours) > 3


def test_highlights_change_the_picture_and_nothing_else_does():
    chips = [chip("accepted"), chip("rejected"), chip("correction")]
    theme = THEMES["light"]
    plain, items = picture(chips, theme)
    assert picture(chips, theme) == (plain, items)
    seen = [plain]
    for highlights in (
        Highlights(hovered=1),
        Highlights(pinned=1),
        Highlights(focused=1),
        Highlights(sources=frozenset((1,))),
    ):
        image, more = picture(chips, theme, highlights=highlights)
        assert more > items
        assert all(image != other for other in seen)
        seen.append(image)


def test_round_boundary_is_a_tick():
    theme = THEMES["light"]
    without, items = picture([chip("accepted"), chip("accepted")], theme)
    ticked, more = picture([chip("accepted"), chip("accepted", starts=True)], theme)
    assert more == items + 1
    assert ticked != without


def test_only_rows_in_sight_are_painted():
    chips = [chip("accepted", "a\n")] * 100
    _, items = picture(chips, THEMES["light"], scroll=500.0)
    assert 0 < items <= 2 * 6


@pytest.mark.case("B25")
@pytest.mark.parametrize("text", ["<b>x</b>", "&lt;", "<img src=x>", "a<b", "a&b"])
def test_markup_is_painted_literally(text):
    theme = THEMES["light"]
    image, _ = picture([chip("plain", text)], theme)
    layout = StripLayout(ui_font(1.6), code_font(1.6 * SMALL), 380.0)
    layout.update([chip("plain", text)], 0)
    assert layout.rows[0][0].text == text
    assert image != picture([chip("plain", "x")], theme)[0]


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_legend_wraps_and_shows_every_fate(theme):
    font = ui_font()
    wide, narrow = (legend_height(width, theme, font) for width in (2_000.0, 160.0))
    assert narrow > 3 * wide
    image = QImage(700, 40, QImage.Format.Format_RGB32)
    image.fill(QColor(theme.base))
    painter = QPainter(image)
    paint_legend(painter, QRectF(0, 0, 700, 40), theme, font)
    painter.end()
    colours = {image.pixelColor(x, y).name() for x in range(700) for y in range(40)}
    assert {style.fill for style in theme.fates.values()} <= colours
