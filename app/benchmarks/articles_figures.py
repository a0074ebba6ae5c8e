"""The figures of `draftscope bench articles`, as SVG and as PNG.

Knows the report and what is plotted over what; `app.painting.figures` paints. No window is opened.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgGenerator

from app.cli.bench_articles_tables import heat_words
from app.painting.figures import MARKS, SIZE, Figure, Point, Series, paint_figure
from app.theme import LIGHT
from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from engine.benchmarks.articles import Report
    from engine.benchmarks.articles_rows import Row

# one a drafter; those after the last begin again, with other marks
ROLES = ("plain_rate", "phase_accept", "drafter", "residual", "target", "text")
LEAST_TESTED = 20  # tokens at a position: below it its share says nothing
_SHARPNESS = 1.5  # pixels of the PNG for one of the figure: 1920 by 1080
_QUALITY = 75  # of Qt's 0 to 100, which for PNG is quickness: every one is lossless
_ASIDE = 0.07  # between two drafters' points at one k


def figures_of(report: Report) -> dict[str, Figure]:
    """Return the figures by the names of their files, without those that have nothing to show."""
    found: dict[str, Figure] = {}
    threads = report.header.threads
    about = (
        f"{report.header.target}, {report.header.plan} plan, {threads} thread{'s'[threads == 1 :]}"
    )
    names = tuple(dict.fromkeys(row.drafter for row in (*report.rows, *report.kinds)))
    for heat in dict.fromkeys(row.temperature for row in (*report.rows, *report.kinds)):
        end = "greedy" if not heat else f"temperature-{heat:g}"
        begun = [row for row in report.rows if row.temperature == heat and not row.confidence]
        asked = [row for row in report.kinds if row.temperature == heat]
        found[f"speedup-by-k-{end}"] = speedup_by_k(begun, names, heat, about)
        found[f"acceptance-by-position-{end}"] = acceptance_by_position(begun, names, heat, about)
        found[f"speedup-by-kind-{end}"] = speedup_by_kind(asked, names, heat, about)
    return {name: figure for name, figure in found.items() if figure.series}


def write_figures(report: Report, folder: Path) -> dict[str, Path]:
    """Write every figure as PNG and SVG; return the PNG of each by its title.

    Raises
    ------
    DraftscopeError
        If a file cannot be written.
    """
    if not os.environ.get("QT_QPA_PLATFORM"):
        os.environ["QT_QPA_PLATFORM"] = "offscreen"  # no screen is needed
    application = QGuiApplication.instance() or QGuiApplication(sys.argv[:1])
    written = {}
    for name, figure in figures_of(report).items():
        png, svg = folder / f"{name}.png", folder / f"{name}.svg"
        _write_svg(figure, svg)
        image = QImage(QSize(*SIZE) * _SHARPNESS, QImage.Format.Format_RGB32)
        with QPainter(image) as painter:
            painter.scale(_SHARPNESS, _SHARPNESS)
            paint_figure(painter, figure, LIGHT)
        if not image.save(str(png), quality=_QUALITY) or not svg.is_file():
            raise DraftscopeError(
                f"The figure {png} cannot be written: choose another folder with --out."
            )
        written[figure.title] = png
    del application
    return written


def speedup_by_k(rows: Sequence[Row], names: Sequence[str], heat: float, about: str) -> Figure:
    """Plot measured speed-up and its interval over k, and the prediction by position as a line."""
    series = []
    some = [name for name in names if any(row.drafter == name for row in rows)]
    for name in some:
        aside = _ASIDE * (some.index(name) - (len(some) - 1) / 2)
        own = [row for row in rows if row.drafter == name]
        points = [
            Point(row.k + aside, row.speedup.value, row.speedup.low, row.speedup.high)
            for row in own
            if row.speedup is not None
        ]
        line = [Point(row.k, row.by_position.speedup) for row in own if row.by_position is not None]
        series.append(_series(name, names, points, line))
    places = sorted({row.k for row in rows})
    return Figure(
        title=f"Speed-up over the plain target, {heat_words(heat)}",
        subtitle=f"{about}. Points: measured, with 95 % interval. Lines: predicted from acceptance "
        "by position and costs.",
        x_label="k: tokens drafted a round",
        y_label="tokens per second over the plain target's, interleaved",
        ticks=tuple((place, str(place)) for place in places),
        series=tuple(series),
        x_range=_around(places),
        level=(1.0, "plain target"),
        from_zero=False,
    )


def acceptance_by_position(
    rows: Sequence[Row], names: Sequence[str], heat: float, about: str
) -> Figure:
    """Plot the share of tested tokens that were accepted, by position in the draft, over all k."""
    series, last = [], 1
    for name in (name for name in names if any(row.drafter == name for row in rows)):
        tested: dict[int, list[int]] = {}
        for row in rows:
            for place, one in enumerate(row.positions if row.drafter == name else (), start=1):
                counts = tested.setdefault(place, [0, 0])
                counts[0] += one.tested
                counts[1] += one.accepted
        points = [
            Point(place, accepted / count)
            for place, (count, accepted) in sorted(tested.items())
            if count >= LEAST_TESTED
        ]
        last = max([last, *(round(point.x) for point in points)])
        if points:
            series.append(_series(name, names, points, points))
    return Figure(
        title=f"Acceptance by position in the draft, {heat_words(heat)}",
        subtitle=f"{about}. Accepted over tested, all before it accepted; {LEAST_TESTED} tested "
        "tokens or more.",
        x_label="position in the draft",
        y_label="acceptance",
        ticks=tuple((place, str(place)) for place in range(1, last + 1)),
        series=tuple(series),
        x_range=_around(range(1, last + 1)),
    )


def speedup_by_kind(rows: Sequence[Row], names: Sequence[str], heat: float, about: str) -> Figure:
    """Plot bars of each drafter's quicker way, kind by kind."""
    kinds = tuple(dict.fromkeys(row.texts for row in rows))
    some = [name for name in names if any(row.drafter == name for row in rows)]
    width = 0.8 / max(1, len(some))
    series = []
    for index, name in enumerate(some):
        own = _quicker([row for row in rows if row.drafter == name])
        offset = width * (index - (len(some) - 1) / 2)
        points = [
            Point(kinds.index(row.texts) + offset, row.speedup.value, row.speedup.low,
                  row.speedup.high)
            for row in own
            if row.speedup is not None
        ]  # fmt: skip
        label = f"{name}, k {'≤ ' if own[0].confidence else ''}{own[0].k}"
        series.append(_series(name, names, points, (), label=label, bar_width=0.9 * width))
    return Figure(
        title=f"Speed-up by kind of prompt, {heat_words(heat)}",
        subtitle=f"{about}. Each drafter at its quickest on running text; 95 % interval over "
        "prompts.",
        x_label="",
        y_label="tokens per second over the plain target's, interleaved",
        ticks=tuple((place, kind) for place, kind in enumerate(kinds)),
        series=tuple(series),
        x_range=(-0.5, len(kinds) - 0.5) if kinds else (0.0, 1.0),
        level=(1.0, "plain target"),
    )


def _quicker(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of the way that is the quickest over all kinds."""
    whole = [row for row in rows if row.texts == "all kinds" and row.speedup is not None]
    if not whole:
        return list(rows)
    best = max(whole, key=lambda row: 0.0 if row.speedup is None else row.speedup.value)
    return [row for row in rows if row.cell == best.cell]


def _series(
    name: str,
    names: Sequence[str],
    points: Iterable[Point],
    line: Iterable[Point],
    *,
    label: str = "",
    bar_width: float = 0.0,
) -> Series:
    index = names.index(name)
    return Series(
        label or name,
        ROLES[index % len(ROLES)],
        MARKS[(index + index // len(ROLES)) % len(MARKS)],
        tuple(points),
        tuple(line),
        bar_width,
    )


def _around(places: Iterable[int]) -> tuple[float, float]:
    every = list(places) or [0]
    return min(every) - 0.4, max(every) + 0.4


def _write_svg(figure: Figure, path: Path) -> None:
    generator = QSvgGenerator()
    generator.setFileName(str(path))
    generator.setSize(QSize(*SIZE))
    generator.setViewBox(QRect(0, 0, *SIZE))
    generator.setTitle(figure.title)
    generator.setDescription(figure.subtitle)
    with QPainter(generator) as painter:
        paint_figure(painter, figure, LIGHT)
