"""Plots keep their items, draw few points, and leave gaps for what is not finite."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject, QPointF, Qt
from PySide6.QtTest import QTest

from app.theme import LIGHT
from app.views.plot_header import Key, PlotHeader
from app.views.plots import Line, Plot

NOTE = "nothing measured yet"


@pytest.fixture
def plot(qtbot):
    made = Plot("values", [Line("one", "accent"), Line("other", "muted", dashed=True)])
    qtbot.addWidget(made)
    made.set_theme(LIGHT)
    made.resize(500, 250)
    with qtbot.waitExposed(made):
        made.show()
    return made


def test_a_key_that_does_not_fit_is_left_out_whole(qtbot):
    header = PlotHeader()
    qtbot.addWidget(header)
    header.set_theme(LIGHT)
    keys = [Key("first of all", "accent"), Key("last", "muted")]
    header.resize(80, header.sizeHint().height())
    header.set_words("", keys)
    both = header.grab().toImage()
    header.set_words("", keys[1:])
    assert header.grab().toImage() == both


def drawn(curve):
    data = curve.getData()
    return 0 if data[0] is None else len(data[0])


@pytest.mark.parametrize(
    "values",
    [
        np.empty(0),
        np.full(5, np.nan),
        np.full(5, -np.inf),
        np.array([np.inf, np.nan, -np.inf]),
    ],
    ids=["empty", "NaN", "-inf", "mixed"],
)
@pytest.mark.parametrize("top", [1.0, 0.0, float("nan"), float("inf")])
def test_without_a_finite_value_there_is_a_note(plot, values, top, qapp):
    plot.set_values([values, values], top=top, note=NOTE)
    qapp.processEvents()
    assert plot._note.isVisible()
    assert plot._note.text() == NOTE
    (low, high), (bottom, upper) = plot.canvas.viewRange()
    assert np.isfinite([low, high, bottom, upper]).all()


def test_values_that_are_not_finite_are_gaps(plot, qapp):
    holes = np.array([1.0, np.nan, 2.0, np.inf, 3.0, -np.inf])
    plot.set_values([holes, np.ones(6)], top=4, note=NOTE)
    qapp.processEvents()
    assert not plot._note.isVisible()
    _, y = plot.curves[0].getOriginalDataset()
    assert np.isnan(y[[1, 3, 5]]).all()
    assert y[[0, 2, 4]].tolist() == [1, 2, 3]


def test_two_hundred_thousand_rounds_draw_a_bounded_number_of_points(plot, qapp):
    values = np.random.default_rng(0).random(200_000)
    plot.set_values([values, values], top=1)
    qapp.processEvents()
    pixels = plot.canvas.getPlotItem().getViewBox().width()
    for curve in plot.curves:
        assert 0 < drawn(curve) <= 4 * pixels + 16
        assert len(curve.getOriginalDataset()[1]) == 200_000  # all of it stays


def test_peaks_survive_the_downsampling(plot, qapp):
    values = np.full(100_000, 0.5)
    values[[31_337, 70_001]] = 0.99, 0.01
    plot.set_values([values, np.full(100_000, np.nan)], top=1)
    qapp.processEvents()
    y = plot.curves[0].getData()[1]
    assert np.nanmax(y) == 0.99
    assert np.nanmin(y) == 0.01


def test_a_gap_survives_the_downsampling(plot, qapp):
    values = np.full(100_000, np.nan)
    values[:50_000] = 0.5
    plot.set_values([values, values], top=1)
    qapp.processEvents()
    x, y = plot.curves[0].getData()
    assert np.isfinite(y[x < 49_000]).all()
    assert np.isnan(y[x > 51_000]).all()


def test_updates_change_items_and_make_none(plot, qapp):
    items = set(map(id, plot.canvas.scene().items()))
    curves = list(plot.curves)
    for length in (0, 1, 5, 500, 20_000):
        plot.set_values([np.ones(length), np.zeros(length)], top=2)
        qapp.processEvents()
    assert plot.curves == curves
    assert len(plot.canvas.scene().items()) == len(items)


def test_pens_are_one_logical_pixel_wide(plot):
    for curve in plot.curves:
        assert curve.opts["pen"].width() == round(plot.devicePixelRatioF())


def test_the_round_under_the_pointer_is_read_out(plot, qtbot, qapp):
    plot.set_values([np.array([3.0, 1.0, 4.0, 1.0] * 5)] * 2, top=5)
    plot.set_readout(lambda index: (f"<{index}>", f"[{index}]"))
    qapp.processEvents()
    box = plot.canvas.getPlotItem().getViewBox()
    at = plot.canvas.mapFromScene(box.mapViewToScene(QPointF(7, 2)))
    QTest.mouseMove(plot.canvas.viewport(), at)
    qtbot.waitUntil(lambda: plot.header.words == ("round 7", "one <6>", "other [6]"))


def test_the_keyboard_reads_round_by_round(plot, qapp):
    plot.set_values([np.arange(20.0)] * 2, top=20)
    plot.set_readout(lambda index: (str(index), ""))
    plot.activateWindow()
    plot.setFocus(Qt.FocusReason.TabFocusReason)
    keys = {
        Qt.Key.Key_Left: "round 20",
        Qt.Key.Key_Home: "round 1",
        Qt.Key.Key_Right: "round 2",
        Qt.Key.Key_End: "round 20",
        Qt.Key.Key_Escape: "values",
    }
    for key, title in keys.items():
        QTest.keyClick(plot, key)
        assert plot.header.words[0] == title


def test_a_second_scale_is_the_first_times_a_factor(plot, qapp):
    plot.set_values([np.ones(9)] * 2, top=100)
    plot.set_right_scale(1 / 50)
    qapp.processEvents()
    assert plot._scale.isVisible()
    assert plot._scale.scale == pytest.approx(0.02)
    plot.set_right_scale(None)
    assert not plot._scale.isVisible()


def test_new_values_are_painted_once(plot, qapp):
    class Paints(QObject):
        count = 0

        def eventFilter(self, watched, event):
            self.count += event.type() == QEvent.Type.Paint
            return False

    def show(rounds):
        values = np.linspace(1, 20, rounds)
        plot.set_values([values, 0.8 * values], top=25.0, note=NOTE)
        for _ in range(5):
            qapp.processEvents()

    show(20)  # the axis' width settles with its first labels
    paints = Paints()
    plot.canvas.viewport().installEventFilter(paints)
    for rounds in range(21, 31):
        show(rounds)
    assert paints.count == 10
