"""Native charts, whose numbers can be edited: bars of laws, figures and times.

Knows python-pptx's charts and the theme's roles. A name that a workbook would take for a formula is
never written bare. Knows no run and computes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pptx.chart.data import CategoryChartData
from pptx.enum.chart import (
    XL_CHART_TYPE,
    XL_LABEL_POSITION,
    XL_LEGEND_POSITION,
    XL_TICK_LABEL_POSITION,
    XL_TICK_MARK,
)
from pptx.util import Pt

from app.export.slide_deck import Box, describe, rgb
from app.export.slide_text import CODE_FACE, FACE, LEAST, clean
from app.export.slide_xml import child, element, qn, solid

if TYPE_CHECKING:
    from app.export.slide_deck import Page

_KINDS = {
    "bars": XL_CHART_TYPE.BAR_CLUSTERED,
    "columns": XL_CHART_TYPE.COLUMN_CLUSTERED,
    "stacked": XL_CHART_TYPE.BAR_STACKED,
}


PROBABILITY = '[=0]0;[<0.0005]"<0.001";0.000'
_NUMBER = 3.3  # width of a number over its size
_SLIVER = 0.07  # of a stacked bar: too narrow for its number


@dataclass(frozen=True)
class Series:
    """One colour of a chart; None where there is nothing to show.

    Attributes
    ----------
    low, high
        How far below and above each value its interval reaches, or nothing.
    """

    name: str
    colour: str
    values: tuple[float | None, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


@dataclass(frozen=True)
class Picture:
    """What a chart shows and how it is drawn.

    Attributes
    ----------
    categories
        Words beside the bars.
    top
        End of the axis; None: the program's own.
    numbers
        Excel's format of the values beside the bars.
    code
        Whether the categories are tokens.
    inside
        One bar a category: numbers stand at its foot, clear of its interval.
    bare
        No axis and no words, the bars across the whole box: what they mean stands around it.
    titled
        A title inside the chart, or "".
    gap
        Between bars, percent of their width.
    size
        Of the words, points.
    """

    kind: Literal["bars", "columns", "stacked"]
    categories: tuple[str, ...]
    series: tuple[Series, ...]
    top: float | None = None
    numbers: str = PROBABILITY
    code: bool = False
    bare: bool = False
    titled: str = ""
    inside: bool = False
    gap: int = 45
    size: float = 12.0


def add_chart(page: Page, box: Box, picture: Picture, name: str, alt: str) -> Any:
    """Add a chart with its own workbook inside and return its frame."""
    data: Any = CategoryChartData()  # type: ignore[no-untyped-call]  # python-pptx's own
    data.categories = [_harmless(one) for one in picture.categories]
    for one in picture.series:
        data.add_series(_harmless(one.name), one.values)
    frame = page.slide.shapes.add_chart(
        _KINDS[picture.kind], Pt(box.left), Pt(box.top), Pt(box.width), Pt(box.height), data
    )
    frame.name = name
    describe(frame, alt)
    _style(page, box, frame.chart, picture)
    return frame


def _harmless(name: str) -> str:
    """Return a name that no spreadsheet takes for a formula, a link or a number."""
    shown = clean(name)
    return f"“{shown}”" if shown[:1] in tuple("=+-@{") else shown


def letters(page: Page, box: Box, picture: Picture) -> float:
    """Return the size of a chart's words, points: numbers above columns do not touch."""
    size = picture.size * min(page.deck.scale, 1.4)
    if picture.kind == "columns":
        slot = box.width / len(picture.categories) / len(picture.series)
        size = min(size, slot / _NUMBER)
    return max(LEAST, size)


def _style(page: Page, box: Box, chart: Any, picture: Picture) -> None:
    theme, size = page.theme, letters(page, box, picture)
    chart.font.size, chart.font.name = Pt(size), FACE
    chart.font.color.rgb = rgb(theme.text)
    chart.has_title = bool(picture.titled)
    if picture.titled:
        _title(chart, picture.titled, 14.0 * max(1.0, min(page.deck.scale, 1.4)))
    named = picture.code or len(picture.series) > 1  # a title says what one series is
    chart.has_legend = named and not (picture.bare or picture.inside)
    if chart.has_legend:
        chart.legend.position = XL_LEGEND_POSITION.TOP
        chart.legend.include_in_layout = False
        chart.legend.font.size = Pt(size)
    plot = chart.plots[0]
    plot.gap_width = picture.gap
    plot.overlap = 100 if picture.kind == "stacked" or picture.inside else -8
    _axes(page, chart, picture, size)
    for made, given in zip(plot.series, picture.series, strict=True):
        made.format.fill.solid()
        made.format.fill.fore_color.rgb = rgb(given.colour)
        made.invert_if_negative = False
        if given.low or given.high:
            _interval(made, given, theme.text)
    _labels(page, plot, picture, size)
    if picture.bare:
        _whole_width(chart)


def _title(chart: Any, text: str, size: float) -> None:
    frame = chart.chart_title.text_frame
    frame.text = clean(text)
    letters = frame.paragraphs[0].runs[0].font
    letters.size, letters.bold = Pt(size), True
    chart.chart_title.include_in_layout = False


def _axes(page: Page, chart: Any, picture: Picture, size: float) -> None:
    values, names = chart.value_axis, chart.category_axis
    values.has_major_gridlines = values.has_minor_gridlines = False
    values.minimum_scale = 0
    if picture.top is not None:
        values.maximum_scale = picture.top
    values.visible = False
    names.has_major_gridlines = False
    names.major_tick_mark = names.minor_tick_mark = XL_TICK_MARK.NONE
    names.tick_labels.font.size = Pt(size)
    names.tick_labels.font.color.rgb = rgb(page.theme.text)
    names.format.line.color.rgb = rgb(page.theme.outline)
    if picture.code:
        names.tick_labels.font.name, names.tick_labels.font.bold = CODE_FACE, True
    if picture.kind != "columns":
        names.reverse_order = True  # the first one on top
    if picture.bare:
        names.tick_label_position = XL_TICK_LABEL_POSITION.NONE


def _labels(page: Page, plot: Any, picture: Picture, size: float) -> None:
    plot.has_data_labels = True
    labels = plot.data_labels
    labels.show_value = True
    labels.number_format, labels.number_format_is_linked = picture.numbers, False
    labels.font.size = Pt(max(LEAST, size - 1))
    stacked = picture.kind == "stacked"
    inside = stacked or picture.inside
    labels.font.color.rgb = rgb(page.theme.base if inside else page.theme.text)
    labels.font.bold = inside
    labels.position = XL_LABEL_POSITION.OUTSIDE_END
    if inside:
        labels.position = XL_LABEL_POSITION.CENTER if stacked else XL_LABEL_POSITION.INSIDE_BASE
    whole = sum(one.values[0] or 0.0 for one in picture.series)
    for made, given in zip(plot.series, picture.series, strict=True):
        if stacked and (given.values[0] or 0.0) < _SLIVER * whole:
            _unlabelled(made)


def _unlabelled(series: Any) -> None:
    labels = element("c:dLbls")
    child(labels, "c:delete", val="1")
    series._element.find(qn("c:cat")).addprevious(labels)


def _interval(series: Any, given: Series, colour: str) -> None:
    """Add error bars: python-pptx has none of its own."""
    bars = element("c:errBars")
    for name, value in (("errBarType", "both"), ("errValType", "cust"), ("noEndCap", "0")):
        child(bars, f"c:{name}", val=value)
    for side, lengths in (("plus", given.high), ("minus", given.low)):
        numbers = child(child(bars, f"c:{side}"), "c:numLit")
        child(numbers, "c:formatCode").text = "General"
        child(numbers, "c:ptCount", val=str(len(lengths)))
        for at, length in enumerate(lengths):
            point = child(numbers, "c:pt", idx=str(at))
            child(point, "c:v").text = repr(length)
    shape = child(bars, "c:spPr")
    line = child(shape, "a:ln", w="19050")
    solid(line, colour)
    series._element.find(qn("c:cat")).addprevious(bars)


def _whole_width(chart: Any) -> None:
    """Let the bars take the whole width, so that each stands under what it belongs to."""
    area = chart._chartSpace.find(".//" + qn("c:plotArea"))
    old = area.find(qn("c:layout"))
    if old is not None:
        area.remove(old)
    layout = element("c:layout")
    manual = child(layout, "c:manualLayout")
    child(manual, "c:layoutTarget", val="inner")
    for name in ("xMode", "yMode"):
        child(manual, f"c:{name}", val="edge")
    for name, value in (("x", "0"), ("y", "0.02"), ("w", "1"), ("h", "0.96")):
        child(manual, f"c:{name}", val=value)
    area.insert(0, layout)
