"""Figures for pages and talks: points, lines, bars and words where their numbers say."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QImage, QPainter

from app.painting import figures as figures_module
from app.painting.figures import (
    MARKS,
    SIZE,
    Figure,
    Point,
    Series,
    _Plot,
    paint_figure,
    tick_step,
)
from app.theme import LIGHT


def figure(*series: Series, **changes: object) -> Figure:
    parts = {
        "title": "Title", "subtitle": "Subtitle", "x_label": "k", "y_label": "speed-up",
        "ticks": ((1.0, "1"), (2.0, "2")), "series": series, "x_range": (0.5, 2.5),
    }  # fmt: skip
    return Figure(**parts | changes)  # type: ignore[arg-type]  # of mixed types


def painted(one: Figure) -> QImage:
    image = QImage(*SIZE, QImage.Format.Format_RGB32)
    with QPainter(image) as painter:
        paint_figure(painter, one, LIGHT)
    return image


def colours(image: QImage, box: QRect) -> set[str]:
    return {
        image.pixelColor(x, y).name()
        for x in range(box.left(), box.right() + 1)
        for y in range(box.top(), box.bottom() + 1)
    }


@pytest.mark.parametrize(
    ("span", "step"), [(6.0, 1.0), (7.0, 2.0), (0.5, 0.1), (1.1, 0.2), (30.0, 5.0), (0.0, 1.0)]
)
def test_steps_are_one_two_or_five(span: float, step: float) -> None:
    assert tick_step(span) == pytest.approx(step)


def test_the_axis_holds_every_value_interval_line_and_level() -> None:
    one = Series("a", "target", "circle", (Point(1, 1.2, 0.7, 1.9),), (Point(2, 2.3),))
    plot = _Plot(figure(one, from_zero=False, level=(0.4, "level")))
    assert plot.low <= 0.4
    assert plot.high >= 2.3
    assert _Plot(figure(one)).low == 0.0
    assert plot.y(plot.low) == plot.box.bottom()
    assert plot.y(plot.high) == plot.box.top()
    assert (plot.x(0.5), plot.x(2.5)) == (plot.box.left(), plot.box.right())


@pytest.mark.parametrize("mark", MARKS)
def test_a_point_stands_where_its_numbers_say(qapp: object, mark: str) -> None:
    one = Series("a", "target", mark, (Point(2, 1.0),))  # type: ignore[arg-type]  # of MARKS
    chart = figure(one)
    plot = _Plot(chart)
    image = painted(chart)
    at = round(plot.x(2)), round(plot.y(1.0))
    assert image.pixelColor(*at) == QColor(LIGHT.target)
    elsewhere = round(plot.x(1)), round(plot.y(1.0)) + 3
    assert image.pixelColor(*elsewhere) == QColor(LIGHT.base)


def test_a_line_and_an_interval_are_painted(qapp: object) -> None:
    line = (Point(1, 0.5), Point(2, 0.5))
    chart = figure(Series("a", "drafter", "circle", (Point(1.5, 0.2, 0.1, 0.9),), line))
    plot = _Plot(chart)
    image = painted(chart)
    near = QRect(round(plot.x(1.25)), round(plot.y(0.5)) - 2, 1, 5)
    assert LIGHT.drafter in colours(image, near)
    x = round(plot.x(1.5))
    above, over = (QRect(x - 2, round(plot.y(value)), 5, 1) for value in (0.85, 0.95))
    assert len(colours(image, above)) > 1
    assert colours(image, over) == {LIGHT.base}


def test_a_bar_reaches_from_the_axis_to_its_value(qapp: object) -> None:
    chart = figure(Series("a", "target", "circle", (Point(1, 1.0),), bar_width=0.5))
    plot = _Plot(chart)
    image = painted(chart)
    blue, x = QColor(LIGHT.target), round(plot.x(1.1))
    assert image.pixelColor(x, round(plot.y(0.0)) - 3) == blue
    assert image.pixelColor(x, round(plot.y(1.0)) + 3) == blue
    assert image.pixelColor(round(plot.x(1.3)), round(plot.y(0.5))) != blue


def test_a_bars_interval_is_seen_on_the_bar_and_above_it_whatever_its_colour(qapp: object) -> None:
    chart = figure(Series("a", "text", "circle", (Point(1, 1.0, 0.5, 1.5),), bar_width=0.5))
    plot = _Plot(chart)
    image, x = painted(chart), round(plot.x(1))
    seen = {
        value: len(colours(image, QRect(x - 3, round(plot.y(value)), 7, 1)))
        for value in (0.3, 0.7, 1.3, 1.6)
    }
    assert {value for value, count in seen.items() if count > 1} == {0.7, 1.3}


def test_every_word_is_painted_within_the_figure(
    qapp: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    real = figures_module._say

    def heard(painter: QPainter, words: str, *rest: object, **more: object) -> None:
        said.append(words)
        real(painter, words, *rest, **more)  # type: ignore[arg-type]  # passed on as they are

    monkeypatch.setattr(figures_module, "_say", heard)
    names = ("head", "ngram+trained:a-name, k ≤ 16")
    series = [Series(name, "target", "circle", (Point(1, 1.0),)) for name in names]
    image = painted(figure(*series, level=(1.0, "plain")))
    assert {"Title", "Subtitle", "k", "speed-up", "1", "2", *names, "plain", "0.0"} <= set(said)
    width, height = SIZE
    for edge in (
        QRect(0, 0, width, 8),
        QRect(0, height - 8, width, 8),
        QRect(width - 8, 0, 8, height),
    ):
        assert colours(image, edge) == {LIGHT.base}


def test_a_figure_without_a_value_is_an_empty_frame(qapp: object) -> None:
    assert len(colours(painted(figure()), QRect(400, 100, 1, 600))) > 1
