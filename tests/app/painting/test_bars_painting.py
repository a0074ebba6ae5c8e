"""Bars and their words stay inside their box and clear of each other, however low it is."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter

from app.painting.bars import lines_below, paint_chart
from app.painting.readings import scaled
from app.theme import LIGHT
from app.viewmodels.charts import Bar, Chart

BOX = QRectF(20, 30, 300, 0)


def painted(height: float) -> QImage:
    """Paint three bars, two of them full, in a box with room around it."""
    bars = tuple(Bar(str(i), share, "100", "3/3") for i, share in ((1, 1.0), (2, 1.0), (3, 0.4)))
    image = QImage(340, int(height) + 60, QImage.Format.Format_ARGB32)
    image.fill(QColor(LIGHT.base))
    painter = QPainter(image)
    box = QRectF(BOX.left(), BOX.top(), BOX.width(), height)
    chart = Chart(bars, top=1.0, axis="draft position", note="none")
    paint_chart(painter, box, chart, LIGHT.accent, LIGHT, painter.font())
    painter.end()
    return image


@pytest.mark.parametrize("height", [58, 75, 90, 140, 300])
def test_nothing_is_painted_outside_the_box(qapp, height):
    image = painted(height)
    outside = [*range(30), *range(30 + height + 1, image.height())]
    ground = QColor(LIGHT.base)
    found = [(x, y) for y in outside for x in range(340) if image.pixelColor(x, y) != ground]
    assert found == []


@pytest.mark.parametrize("counts", [True, False])
def test_words_below_bars_never_share_a_line(qapp, counts):
    line = QFontMetricsF(scaled(qapp.font(), 0.85)).height()
    for height in range(58, 300):
        assert (1 + lines_below(height, line, counts=counts)) * line + 8 <= height
    assert lines_below(300, line, counts=counts) == 2 + counts
