"""The court on a slide: the laws as a native chart, the test as a line from 0 to 1, the words.

Knows a case as `app.viewmodels.court` describes it. Computes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pptx.enum.shapes import MSO_SHAPE

from app.export.slide_charts import Picture, Series, add_chart
from app.export.slide_deck import Box, Look
from app.export.slide_text import Paragraph, Run, advance, clean, height, scaled, words
from app.viewmodels.court import CourtModel
from app.viewmodels.numbers import probability
from app.viewmodels.presentation import Presentation
from app.viewmodels.throughput import nice_top
from app.viewmodels.verdict_words import THRESHOLD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.export.moments import Moment
    from app.export.slide_deck import Page
    from app.viewmodels.court import Case
    from app.viewmodels.court_bars import Bar
    from app.viewmodels.document import Document
    from app.viewmodels.readings import Reading

TRACK_HEIGHT = 62.0
_LABEL_LETTERS = 14
_MOST_ROWS = 8
_SEEN = 0.0005  # mass that a bar can show
_BAR = 12.0  # height of a bar with its number, points
_CHART_FRAME = 34.0  # what the legend takes
_AIR = 1.3  # of the axis over the longest bar: its number stands beside it


def case_at(document: Document, moment: Moment) -> Case | None:
    """Return the case that the window's court shows at a moment."""
    presentation = Presentation(document)
    moment.show(presentation)
    court = CourtModel(document, presentation)
    court.pinned = moment.pinned
    return court.case()


def law_chart(page: Page, box: Box, case: Case) -> None:
    """Add the laws of a case as bars side by side, as many as fit; it must have some."""
    bar = _BAR * max(1.0, min(page.deck.scale, 1.4))
    room = (box.height - _CHART_FRAME) / (bar * len(_laws(case.bars)) + 6.0)
    seen = sum(bool(bar.role) or _is_seen(bar) for bar in case.bars)
    rows = case.rows(max(3, min(_MOST_ROWS, int(room), seen)))
    theme = page.theme
    laws = (
        ("p_target", theme.target, tuple(bar.p_target for bar in rows)),
        ("q_draft", theme.drafter, tuple(bar.q_draft for bar in rows)),
        ("residual", theme.residual, tuple(bar.residual for bar in rows)),
    )
    series = tuple(
        Series(name, colour, values)
        for name, colour, values in laws
        if any(value is not None for value in values)
    )
    highest = max((v or 0.0 for one in series for v in one.values), default=1.0)
    picture = Picture(
        "bars",
        tuple(_label(bar) for bar in rows),
        series,
        top=nice_top(highest * _AIR),
        code=True,
        gap=35,
    )
    names = " beside ".join(one.name for one in series)
    alt = f"Chart of {names}. {case.in_words()}"
    add_chart(page, box, picture, "Court", alt)


def track(page: Page, box: Box, case: Case) -> None:
    """Add the line from 0 to 1 with u on it, against the threshold where there was a test."""
    if case.u is None:
        return
    theme, u = page.theme, case.u
    bar = Box(box.left + 2, box.top + 24, box.width - 4, 18.0)
    tested = case.tested and case.threshold is not None
    threshold = case.threshold if case.threshold is not None else 1.0
    spoken = f"u = {probability(u)}"
    label = f"{THRESHOLD} = {probability(threshold)}"
    if not tested:
        law = "the residual" if case.fate == "correction" else "p_target"
        label = f"the draw from {law}"
    with page.group("Test" if tested else "Draw", f"A line from 0 to 1. {spoken}; {label}."):
        if tested:
            _sides(page, bar, threshold, u)
        else:
            page.shape(bar, Look(fill=theme.raised, outline=theme.border), "Line from 0 to 1")
        at = bar.left + bar.width * u
        head = Box(at - 5, bar.top - 8, 10, 9)
        page.shape(head, Look(fill=theme.draw), "u", form=MSO_SHAPE.FLOWCHART_MERGE)
        page.line((at, bar.top), (at, bar.bottom), theme.draw, 2.25)
        _centred(page, Box(box.left, box.top, box.width, 15.0), spoken, at, theme.draw, bold=True)
        under = Box(box.left, bar.bottom + 3, box.width, 16.0)
        split = bar.left + bar.width * threshold if tested else bar.left + bar.width / 2
        _centred(page, under, label, split, theme.text)


def _sides(page: Page, bar: Box, threshold: float, u: float) -> None:
    split = bar.width * threshold
    for fate, name, left, width in (
        ("accepted", "kept", bar.left, split),
        ("rejected", "not kept", bar.left + split, bar.width - split),
    ):
        if width < 0.75:
            continue
        style = page.theme.fates[fate]
        place = Box(left, bar.top, width, bar.height)
        look = Look(fill=style.fill, outline=style.colour, anchor="ctr", pad=3.0)
        far: Literal["left", "right"] = (
            "left" if bar.left + bar.width * u > left + width / 2 else "right"
        )
        if width < 70:
            page.shape(place, look, f"Where u is {name}")
        else:
            line = words(f" {name} ", 10.0, style.colour, align=far)
            page.text(place, [line], look, name=f"Where u is {name}", scale=False, keep=True)


def _centred(
    page: Page, row: Box, text: str, centre: float, colour: str, *, bold: bool = False
) -> None:
    """Add a line of text around a place, moved into its row."""
    size = 12.0
    wide = min(row.width, 1.08 * size * sum(advance(c, False, bold) for c in text) + 4)
    left = min(max(centre - wide / 2, row.left), row.right - wide)
    line = words(text, size, colour, bold=bold, align="centre")
    page.text(Box(left, row.top, wide, row.height), [line], name=text, scale=False, keep=True)


def reading_line(reading: Reading, size: float, muted: str) -> Paragraph:
    """Return a number with its name, how it was obtained and what it divides by."""
    value = f"{reading.text} {reading.unit}".strip()
    runs = (
        Run(f"{clean(reading.name)}  ", size, muted),
        Run(clean(value), size, bold=True),
        Run(f"  {reading.how}: {clean(reading.detail)}", size, muted),
    )
    return Paragraph(runs, after=3.0)


def reading_lines(case: Case, muted: str) -> list[Paragraph]:
    """Return the numbers that decided a case, a line each."""
    kept = [one for one in case.readings if not one.name.startswith("entropy")]
    return [reading_line(one, 14.0, muted) for one in kept]


def court_words(case: Case, theme_muted: str, *, notes: bool) -> list[Paragraph]:
    """Return the verdict and, if asked, what is to be known of it."""
    found = [words(case.verdict, 16.0, after=5.0)]
    if notes:
        found += [words(note, 14.0, theme_muted, after=4.0) for note in case.notes]
    return found


def court_panel(page: Page, box: Box, case: Case, *, notes: bool) -> None:
    """Add everything that decided one token, from top to bottom of a column."""
    theme = page.theme
    head = Paragraph(
        (
            Run(clean(case.label), 18.0, bold=True, code=True, fate=case.fate),
            Run(f"  {case.fate}", 16.0, theme.fates[case.fate].colour, bold=True),
        ),
        after=2.0,
    )
    place = words(case.place, 14.0, theme.muted)
    page.text(Box(box.left, box.top, box.width, 46.0), [head, place], name="Token of the court")
    top = box.top + 50.0
    tracked = TRACK_HEIGHT if case.u is not None else 0.0
    told = court_words(case, theme.muted, notes=notes)
    if not case.bars:
        told += reading_lines(case, theme.muted)
    if case.bars:
        sized = [scaled(one, page.deck.scale) for one in told]
        said = min(height(sized, box.width) + 4.0, 130.0)
        chart = Box(box.left, top, box.width, box.bottom - top - tracked - said - 8.0)
        law_chart(page, chart, case)
        top = chart.bottom + 2.0
    if tracked:
        track(page, Box(box.left, top, box.width, TRACK_HEIGHT), case)
        top += TRACK_HEIGHT + 4.0
    page.text(Box(box.left, top, box.width, box.bottom - top), told, name="Verdict")


def _laws(bars: Sequence[Bar]) -> list[str]:
    first = bars[0]
    found = {"p_target": first.p_target, "q_draft": first.q_draft, "residual": first.residual}
    return [name for name, value in found.items() if value is not None]


def _is_seen(bar: Bar) -> bool:
    return any((mass or 0.0) >= _SEEN for mass in (bar.p_target, bar.q_draft, bar.residual))


def _label(bar: Bar) -> str:
    """Return a row's token in quotation marks, short enough to leave room for bars."""
    if bar.role == "rest":
        return bar.label
    short = bar.label
    if len(short) > _LABEL_LETTERS:
        short = short[: _LABEL_LETTERS - 1] + "…"
    return f"“{short}”"
