"""The court's picture: every kind of case, at any size, light and dark, within its rectangle."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QImage, QPainter

from app.fonts import code_font, ui_font
from app.painting.court import court_fonts, least_height, paint_court
from app.painting.court_bars import BarTable
from app.theme import THEMES
from app.viewmodels.court import CourtModel
from app.viewmodels.document import Document
from app.viewmodels.presentation import Presentation
from app.viewmodels.refs import CLOSING_SLOT, TokenRef
from engine.trace.events import FinishReason
from tests.traces import make_trace

pytestmark = pytest.mark.usefixtures("qapp")


def cases(**keywords):
    """One case of each fate."""
    document = Document(make_trace(rounds=40, temperature=1.0, **keywords))
    presentation = Presentation(document)
    presentation.seek(10**6)
    model = CourtModel(document, presentation)
    found = {}
    for one in document.rounds:
        for slot in (*range(len(one.drafted)), CLOSING_SLOT):
            ref = TokenRef(one.index, slot)
            if document.token(ref) is not None:
                model.pinned = ref
                case = model.case()
                found.setdefault(case.fate, case)
    return found


def painted(case, theme, size=(420, 520), ratio=1.0):
    image = QImage(round(size[0] * ratio), round(size[1] * ratio), QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    image.fill(QColor(theme.base))
    painter = QPainter(image)
    rect = QRectF(10, 10, size[0] - 20.0, size[1] - 20.0)
    regions = paint_court(painter, rect, case, theme, court_fonts(ui_font(), code_font()))
    painter.end()
    return image, regions


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
@pytest.mark.parametrize("ratio", [1.0, 2.0])
def test_every_kind_of_case_is_painted(theme, ratio):
    found = cases(reason=FinishReason.STOP_STRING)
    assert set(found) == {
        *("accepted", "rejected", "discarded", "cut"),
        *("correction", "bonus", "plain"),
    }
    pictures = []
    for case in found.values():
        image, regions = painted(case, theme, ratio=ratio)
        assert regions
        assert all(image != other for other in pictures)
        pictures.append(image)


def test_nothing_is_painted_outside_the_rectangle():
    theme = THEMES["light"]
    for size in ((420, 520), (220, 300), (160, 90)):
        for case in cases().values():
            image, _ = painted(case, theme, size)
            for x in range(0, size[0], 3):
                for y in (2, size[1] - 3):
                    assert image.pixelColor(x, y).name() == theme.base


def test_least_height_holds_everything():
    theme, fonts = THEMES["light"], court_fonts(ui_font(), code_font())
    for width in (300, 420, 800):
        for case in cases(reason=FinishReason.STOP_STRING).values():
            height = least_height(case, width - 20.0, theme, fonts)
            _, regions = painted(case, theme, (width, int(height) + 21))
            assert max(region.box.bottom() for region in regions) <= height + 11
            assert len([r for r in regions if r.text]) >= len(case.readings)


def test_more_height_shows_more_rows():
    theme = THEMES["light"]
    case = cases()["rejected"]
    rows = [
        sum("id " in region.text for region in painted(case, theme, (420, height))[1])
        for height in (380, 480, 700)
    ]
    assert rows == sorted(rows)
    assert rows[0] < rows[-1] == len(case.bars) - 1


def test_every_number_explains_itself():
    case = cases()["accepted"]
    _, regions = painted(case, THEMES["dark"])
    explained = "\n".join(region.text for region in regions)
    for word in ("measured", "derived", "min(1, p_target / q_draft)", "q_draft", "overlap"):
        assert word in explained


def test_no_case_is_said():
    theme = THEMES["light"]
    image, regions = painted(None, theme)
    assert regions == []
    colours = {image.pixelColor(x, 260).name() for x in range(420)}
    assert len(colours) > 1


def test_same_case_is_the_same_picture():
    case = cases()["correction"]
    assert painted(case, THEMES["light"])[0] == painted(case, THEMES["light"])[0]


@pytest.mark.parametrize("width", [200, 236, 300, 392, 900])
def test_bars_have_room_at_any_width(width):
    for case in cases().values():
        if case.bars:
            shape = BarTable(case, THEMES["light"], ui_font(), code_font(), width)._shape
            left, right = shape.area
            assert right - left >= 80
            assert right <= width
            assert shape.label > 20
            assert shape.stacked or left > shape.label
