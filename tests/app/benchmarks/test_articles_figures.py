"""What the figures of `bench articles` plot, and the files that they become."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from PySide6.QtGui import QImage

from app.benchmarks.articles_figures import figures_of, write_figures
from engine.errors import DraftscopeError
from tests.app.articles_report import place, report

if TYPE_CHECKING:
    from pathlib import Path


def test_there_is_a_figure_for_all_that_was_measured() -> None:
    made = figures_of(report())
    assert set(made) == {
        "speedup-by-k-greedy",
        "acceptance-by-position-greedy",
        "speedup-by-kind-greedy",
        "speedup-by-k-temperature-1",
        "acceptance-by-position-temperature-1",
    }
    assert len({figure.title for figure in made.values()}) == len(made)
    assert figures_of(msgspec.structs.replace(report(), rows=(), kinds=())) == {}


def test_measured_points_have_their_interval_and_the_prediction_is_a_line() -> None:
    head, ngram = figures_of(report())["speedup-by-k-greedy"].series
    assert [(one.y, one.low, one.high) for one in head.points] == [
        pytest.approx((1.3, 1.2, 1.4)),
        pytest.approx((1.5, 1.4, 1.6)),
        pytest.approx((1.2, 1.1, 1.3)),
    ]
    assert [(one.x, one.y) for one in head.line] == [(1, 1.47), (2, 1.47), (4, 1.47)]
    assert [round(one.x) for one in ngram.points] == [1, 2, 4]
    assert head.points[0].x < ngram.points[0].x  # side by side, each with its interval
    assert (head.role, head.mark) != (ngram.role, ngram.mark)


def test_a_drafter_looks_the_same_in_every_figure() -> None:
    made = figures_of(report())
    looks = {
        (one.label.split(",")[0], one.role, one.mark)
        for figure in made.values()
        for one in figure.series
    }
    assert len(looks) == 2


def test_no_two_drafters_look_alike() -> None:
    made = report()
    names = [f"drafter {number}" for number in range(14)]
    rows = tuple(msgspec.structs.replace(made.rows[0], drafter=name) for name in names)
    figure = figures_of(msgspec.structs.replace(made, rows=rows))["speedup-by-k-greedy"]
    assert [one.label for one in figure.series] == names
    assert len({(one.role, one.mark) for one in figure.series}) == 14
    assert len({one.role for one in figure.series[:6]}) == 6  # as many as are measured by default


def test_acceptance_is_of_all_k_together_where_enough_was_tested() -> None:
    made = report()
    few = tuple(
        msgspec.structs.replace(row, positions=(place(100, 10 * row.k), place(6, 3)))
        for row in made.rows
        if row.drafter == "head"
    )
    figure = figures_of(msgspec.structs.replace(made, rows=few))["acceptance-by-position-greedy"]
    (head,) = figure.series
    assert [(one.x, one.y) for one in head.points] == [(1, pytest.approx(70 / 300))]  # not 18


def test_bars_are_of_the_way_that_is_the_quickest_over_all_kinds() -> None:
    figure = figures_of(report())["speedup-by-kind-greedy"]
    head, ngram = figure.series
    assert head.label == "head, k ≤ 4"
    assert [one.y for one in head.points] == [1.7] * 3
    assert [round(one.x) for one in ngram.points] == [0, 1, 2]
    assert [words for _, words in figure.ticks] == ["story", "summary", "all kinds"]
    width = head.bar_width
    assert ngram.points[0].x - head.points[0].x >= width


def test_figures_are_written_twice(qapp: object, tmp_path: Path) -> None:
    written = write_figures(report(), tmp_path)
    assert len(written) == 5
    for path in written.values():
        image = QImage(str(path))
        assert (image.width(), image.height()) == (1920, 1080)
        drawn = path.with_suffix(".svg").read_text(encoding="utf-8")
        assert "<path" in drawn
        assert "<text" not in drawn  # outlines: no font is needed


def test_a_folder_that_takes_no_file_is_said_in_a_sentence(qapp: object, tmp_path: Path) -> None:
    for name in figures_of(report()):
        (tmp_path / f"{name}.png").mkdir()
    with pytest.raises(DraftscopeError, match="cannot be written"):
        write_figures(report(), tmp_path)
