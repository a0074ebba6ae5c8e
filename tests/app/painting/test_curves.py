"""Curves over rounds: gaps stay gaps, long ones cost their width, ticks are round numbers."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor

from app.painting.curve_axes import Axes
from app.painting.curves import Curve, CurvePlot, Level, finite_runs, paint_curves, thinned
from app.painting.pixel_fonts import ui_pixels
from app.theme import DARK, LIGHT
from tests.app.painting.pictures import pixels, untouched

pytestmark = pytest.mark.usefixtures("qapp")
SIZE = (400, 240)
BOX = QRectF(20, 20, 360, 200)


def painted(plot, theme=LIGHT):
    return pixels(*SIZE, lambda p: paint_curves(p, BOX, plot, theme, ui_pixels(13)))


def points(plot):
    found = []
    pixels(*SIZE, lambda p: found.append(paint_curves(p, BOX, plot, LIGHT, ui_pixels(13))))
    return found[0]


def test_a_hundred_thousand_rounds_are_painted_with_two_points_a_pixel():
    values = np.random.default_rng(0).uniform(0, 100, 100_000)
    plot = CurvePlot("rate", (Curve("all", "accent", values),), top=100)
    assert points(plot) <= 2 * SIZE[0]


def test_thinning_keeps_the_lowest_the_highest_and_the_last():
    values = np.random.default_rng(1).normal(size=100_003)
    values[50_000], values[70_000] = 90.0, -90.0
    rounds, kept = thinned(values, 300)
    assert len(kept) <= 602
    assert np.nanmax(kept) == 90.0
    assert np.nanmin(kept) == -90.0
    assert rounds[-1] == 100_003
    assert kept[-1] == values[-1]
    assert abs(rounds[int(np.argmax(kept))] - 50_001) <= 100_003 / 300
    assert (np.diff(rounds) >= 0).all()


def test_short_curves_are_not_thinned():
    rounds, kept = thinned(np.array([3.0, np.inf, 1.0]), 300)
    assert rounds.tolist() == [1.0, 2.0, 3.0]
    assert np.array_equal(kept, [3.0, np.nan, 1.0], equal_nan=True)


def test_gaps_stay_gaps():
    values = np.array([np.nan, 1.0, 2.0, np.nan, np.nan, 3.0])
    assert finite_runs(values) == [(1, 3), (5, 6)]
    full = np.full(40, 50.0)
    gap = full.copy()
    gap[10:30] = np.nan
    whole, broken, none = (
        painted(CurvePlot("", (Curve("", "accent", one),), top=100))
        for one in (full, gap, np.full(40, np.nan))
    )
    columns = [(one != none)[60:].any(axis=2).any(axis=0).sum() for one in (whole, broken)]
    assert columns[0] > 300
    assert columns[1] < 0.6 * columns[0]


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_note_stands_where_nothing_is_known(theme):
    nothing = (Curve("all", "accent", np.full(5, np.nan)),)
    noted, silent = (
        painted(CurvePlot("rate", nothing, top=1.0, note=note), theme)
        for note in ("no round yet", "")
    )
    assert (noted != silent).any()
    known = (Curve("all", "accent", np.ones(5)),)
    same = [
        painted(CurvePlot("rate", known, top=1.0, note=note), theme)
        for note in ("no round yet", "")
    ]
    assert (same[0] == same[1]).all()


def test_level_and_band_stand_at_their_values():
    curve = (Curve("", "accent", np.full(3, np.nan)),)
    plot = CurvePlot("", curve, top=100, level=Level(50.0, "break-even"), band=(40.0, 60.0))
    picture = painted(plot)
    axes = Axes.of(BOX.adjusted(0, 22, 0, 0), 3, 100, None, "round", ui_pixels(13))
    x = round(axes.box.right()) - 10
    bare = painted(CurvePlot("", curve, top=100))
    changed = np.flatnonzero((picture != bare)[:, x].any(axis=1))
    changed = changed[changed > 40]  # below the legend
    wanted = [axes.y(60.0), axes.y(40.0)]
    assert [changed[0], changed[-1]] == pytest.approx(wanted, abs=4)


def test_ticks_are_round_numbers_inside_the_axis():
    font = ui_pixels(13)
    for top in (0.03, 1.0, 7.5, 100.0, 1250.0, 3e6):
        axes = Axes.of(BOX, 1000, top, 1 / 3, "round", font)
        values = [value for value, _ in axes.left]
        assert values[0] == 0
        assert values[-1] <= top * 1.0001
        assert 2 <= len(values) <= 8
        for value, words in axes.left:
            assert float(words.replace(",", "")) == pytest.approx(value)
        for value, words in axes.right:
            assert float(words.rstrip("×").replace(",", "")) == pytest.approx(value / 3)
        assert all(float(words.replace(",", "")) == at >= 1 for at, words in axes.below)


def test_steps_hold_until_the_next_round():
    values = np.array([0.0, 0.0, 0.0, 0.0, 100.0, 100.0, 100.0, 100.0])
    plots = [
        painted(CurvePlot("", (Curve("", "accent", values, steps=steps),), top=100))
        for steps in (False, True)
    ]
    colour = np.array(QColor(LIGHT.accent).getRgb()[:3])
    # A step goes straight up: in one column of pixels the line is nearly as high as the plot.
    highest = [(one[60:200] == colour).all(axis=2).sum(axis=0).max() for one in plots]
    assert highest[1] > 80 > highest[0]


def test_nothing_is_painted_outside_the_box():
    values = np.linspace(0, 100, 50)
    plot = CurvePlot(
        "a title that is far too long for the box that it stands over, really",
        (Curve("all so far", "accent", values), Curve("last 20", "muted", values, dashed=True)),
        top=100,
        right=0.013,
        level=Level(77.0, "break-even 1.0×"),
    )
    ground = untouched(painted(plot))
    ground[20:221, 20:381] = True
    assert ground.all()
