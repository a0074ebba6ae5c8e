"""Pennants of markers: inside the rows, clear of one another and of the flags of settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter

from app.fonts import load_fonts, ui_font
from app.painting.readings import scaled
from app.painting.timeline import paint_timeline
from app.painting.timeline_frame import Geometry, flags_of
from app.painting.timeline_markers import pennants_of
from app.theme import DARK, LIGHT, Theme
from app.viewmodels.document import Document
from app.viewmodels.time_window import TimeWindow
from app.viewmodels.timeline import TimelineModel
from engine.trace.markers import Marker
from tests.traces import make_trace

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

WIDTH, HEIGHT = 720, 200


def modelled(*rounds: int, title: str = "A title of some length") -> TimelineModel:
    events = make_trace(rounds=12)
    run = events[0].run
    marks = [
        Marker(run=run, id=f"m{n}", round=at, title=f"{title} {n}") for n, at in enumerate(rounds)
    ]
    return TimelineModel(Document([*events, *marks]))


def placed(model: TimelineModel) -> tuple[Geometry, TimeWindow, QFontMetricsF]:
    load_fonts()
    geometry = Geometry.of(WIDTH, HEIGHT, ui_font())
    window = TimeWindow()
    window.set_content(model.duration_ns, len(model), geometry.plot_width)
    window.fit()
    return geometry, window, QFontMetricsF(scaled(ui_font(), 0.85))


@pytest.mark.parametrize(
    "rounds", [(), (0,), (11,), (-1, 3, 4, 5, 11), tuple(range(-1, 12)), (4, 4, 4)]
)
def test_pennants_are_clear_of_one_another_and_inside(
    qapp: QApplication, rounds: tuple[int, ...]
) -> None:
    model = modelled(*rounds)
    geometry, window, metrics = placed(model)
    pennants = pennants_of(geometry, model, window, metrics)
    assert len(pennants) == len(rounds)
    right = geometry.left + geometry.plot_width
    labelled = [(box, label) for box, label, _ in pennants if label]
    for box, label in labelled:
        assert geometry.left - 0.5 <= box.left() <= box.right() <= right + 0.5
        assert metrics.horizontalAdvance(label) < box.width()
    for one, (box, _) in enumerate(labelled):
        assert not any(box.intersects(other) for other, _ in labelled[one + 1 :])
    taken = [box for box, _, _ in pennants]
    flags = flags_of(geometry, model, window, metrics, taken)
    assert not any(flag.intersects(box) for flag, _ in flags for box in taken)


def test_a_pennant_at_the_end_flies_back_with_its_whole_title(qapp: QApplication) -> None:
    model = modelled(11, title="The end")
    geometry, window, metrics = placed(model)
    ((box, label, x),) = pennants_of(geometry, model, window, metrics)
    assert label == "The end 0"
    assert box.right() == pytest.approx(x)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_a_marker_is_painted_in_its_own_colour(qapp: QApplication, theme: Theme) -> None:
    colours = []
    for model in (modelled(), modelled(5)):
        geometry, window, _ = placed(model)
        image = QImage(WIDTH, HEIGHT, QImage.Format.Format_RGB32)
        image.fill(QColor(theme.base))
        with QPainter(image) as painter:
            paint_timeline(painter, geometry, model, window, 0.0, theme, ui_font())
        row = [image.pixelColor(x, 4) for x in range(WIDTH)]
        colours.append(row.count(QColor(theme.accent)))
    assert colours[0] == 0
    assert colours[1] > 20
