"""The figures of a run on slides: what was kept, where the time went, and how fast that is.

Knows the panels' own models and which charts show them. Computes none of the figures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.export.slide_charts import Picture, Series, add_chart
from app.export.slide_court import reading_line
from app.export.slide_deck import CONTENT, Box, Look
from app.export.slide_text import Paragraph, Run, clean, scaled, words
from app.viewmodels.acceptance import AcceptanceModel
from app.viewmodels.readings import number, percent, plural
from app.viewmodels.throughput import ThroughputModel, nice_top

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.export.slide_deck import Deck, Page
    from app.viewmodels.charts import Chart
    from app.viewmodels.document import Document
    from app.viewmodels.readings import Reading
    from engine.trace.figures import Figures

_TILE = 94.0
_GAP = 12.0
_MOST_BARS = 12  # of a chart: labels stay readable


def figure_slides(deck: Deck, document: Document, *, captions: bool) -> None:
    """Add the slides of a run that has rounds."""
    _kept(deck, document, captions=captions)
    _speed(deck, document, captions=captions)


def tiles(page: Page, readings: Sequence[Reading], top: float) -> float:
    """Add numbers side by side, each with how it was obtained; return where they end."""
    theme = page.theme
    width = (CONTENT.width - _GAP * (len(readings) - 1)) / len(readings)
    look = Look(fill=theme.raised, outline=theme.border, rounded=True, pad=9.0, anchor="ctr")
    larger = min(max(page.deck.scale, 1.0), 1.25)  # all alike
    for at, reading in enumerate(readings):
        unit = reading.unit and reading.known
        value = (
            Run(clean(reading.text), 26.0, bold=True),
            Run(
                f" {clean(reading.unit)}" if unit else "",
                14.0,
                theme.muted,
            ),
        )
        lines = [
            Paragraph((Run(clean(reading.name), 14.0, theme.muted),)),
            Paragraph(value),
            words(f"{reading.how}: {reading.detail}", 11.0, theme.muted),
        ]
        box = Box(CONTENT.left + at * (width + _GAP), top, width, _TILE * larger)
        sized = [scaled(one, larger) for one in lines]
        page.text(box, sized, look, name=reading.name, alt=reading.spoken, scale=False)
    return top + _TILE * larger


def _kept(deck: Deck, document: Document, *, captions: bool) -> None:
    model = AcceptanceModel(document, len(document.rounds))
    theme = deck.theme
    told = [reading.spoken for reading in model.readings]
    notes = "\n".join([*told, *(r.definition for r in model.readings), model.notice, model.short])
    page = deck.page(
        "How much of the draft the target kept",
        f"Over {plural(len(document.rounds), 'round')}: {model.positions.axis}",
        notes.strip(),
    )
    top = tiles(page, model.readings, CONTENT.top) + 10.0
    foot = " ".join(filter(None, (model.notice, model.short if captions else "")))
    bottom = CONTENT.bottom - (40.0 if foot else 0.0)
    half = (CONTENT.width - 24.0) / 2
    left = Box(CONTENT.left, top, half, bottom - top)
    right = Box(left.right + 24.0, top, half, bottom - top)
    accepted = theme.fates["accepted"].colour
    _share_chart(page, left, model.positions, "Acceptance by draft position", accepted)
    _count_chart(page, right, model.lengths, "Accepted tokens in a round", theme.target)
    if foot:
        box = Box(CONTENT.left, bottom + 4.0, CONTENT.width, 36.0)
        page.text(box, [words(foot, 14.0, theme.muted)], name="What to know")


def _share_chart(page: Page, box: Box, chart: Chart, title: str, colour: str) -> None:
    bars = chart.bars[:_MOST_BARS]
    if not any(bar.share is not None for bar in bars):
        _nothing(page, box, title, chart.note)
        return
    picture = Picture(
        "columns",
        tuple(f"{bar.label}\n{bar.counts}" for bar in bars),
        (Series("accepted / tested", colour, tuple(bar.share for bar in bars)),),
        top=1.15,
        numbers="0.0%" if len(bars) <= 8 else "0%",
        titled=title,
        gap=70,
    )
    said = "; ".join(f"position {b.label}: {b.value} %, {b.counts}" for b in bars)
    rest = _left_out(chart, "positions")
    whole = ""
    if chart.reference is not None:
        whole = f" {chart.reference_label}: {percent(chart.reference)} %."
    add_chart(page, box, picture, title, f"{title}, accepted / tested. {said}.{whole}{rest}")


def _count_chart(page: Page, box: Box, chart: Chart, title: str, colour: str) -> None:
    bars = chart.bars[:_MOST_BARS]
    counts = [int(bar.value.replace(",", "")) for bar in bars]
    if not any(counts):
        _nothing(page, box, title, chart.note)
        return
    picture = Picture(
        "columns",
        tuple(f"{bar.label}\n{bar.counts}" for bar in bars),
        (Series("rounds", colour, tuple(counts)),),
        top=1.15 * max(counts),
        numbers="#,##0",
        titled=f"{title}: rounds",
        gap=70,
    )
    said = "; ".join(f"{bar.label} accepted: {bar.value} rounds" for bar in bars)
    add_chart(page, box, picture, title, f"{title}. {said}.{_left_out(chart, 'lengths')}")


def _left_out(chart: Chart, what: str) -> str:
    more = len(chart.bars) - _MOST_BARS
    return f" {more} more {what} are not drawn." if more > 0 else ""


def _nothing(page: Page, box: Box, title: str, why: str) -> None:
    theme = page.theme
    look = Look(outline=theme.border, dash="dash", rounded=True, anchor="ctr", pad=12.0)
    lines = [
        words(title, 14.0, bold=True, align="centre"),
        words(why, 14.0, theme.muted, align="centre"),
    ]
    page.text(box, lines, look, name=title)


def _speed(deck: Deck, document: Document, *, captions: bool) -> None:
    model = ThroughputModel(document, len(document.rounds))
    figures = document.figures_at(len(document.rounds))
    readings = (*model.readings, *model.small)
    notes = "\n".join(
        [model.source, model.warning, *(f"{r.spoken} {r.definition}" for r in readings)]
    )
    page = deck.page("Where the time went, and how fast that is", model.source, notes.strip())
    top = tiles(page, model.readings, CONTENT.top) + 10.0
    small = [reading_line(one, 14.0, deck.theme.muted) for one in model.small]
    if model.warning:
        small.append(words(model.warning, 14.0, deck.theme.warning, bold=True))
    if not captions:
        small = small[3:]
    foot = 24.0 * len(small)
    bottom = CONTENT.bottom - foot
    half = (CONTENT.width - 24.0) / 2
    _rates(page, Box(CONTENT.left, top, half, bottom - top), figures)
    right = Box(CONTENT.left + half + 24.0, top, half, bottom - top - 26.0)
    _phases(page, right, figures)
    if small:
        page.text(Box(CONTENT.left, bottom + 4, CONTENT.width, foot - 4), small, name="More")


def _rates(page: Page, box: Box, figures: Figures) -> None:
    plain, rate = figures.plain, figures.tokens_per_second
    title = "Tokens per second"
    if rate is None:
        _nothing(page, box, title, "no round yet")
        return
    names, values, highest = ["this run"], [rate], rate
    series = [Series("this run", page.theme.target, (rate,))]
    if plain is not None:
        own = plain.tokens_per_second
        low, high = plain.low_tokens_per_second, plain.high_tokens_per_second
        interval = f"\n95 %: {number(low)}–{number(high)}" if low and high else ""
        names.append(f"plain target{interval}")
        values.append(own)
        highest = max(rate, own, min(high or 0.0, 1.5 * own))  # not the end of a wide interval
        series[0] = Series("this run", page.theme.target, (rate, None))
        ends = ((0.0, own - low), (0.0, high - own)) if low and high else ((), ())
        series.append(Series("plain target", page.theme.plain_rate, (None, own), *ends))
    picture = Picture(
        "bars",
        tuple(names),
        tuple(series),
        top=nice_top(highest),
        numbers="#,##0.0",
        titled=title,
        inside=True,
    )
    said = "; ".join(f"{n}: {number(v)}" for n, v in zip(names, values, strict=True))
    add_chart(page, box, picture, title, f"{title}: {said}.")


def _phases(page: Page, box: Box, figures: Figures) -> None:
    theme = page.theme
    phases = (
        ("draft", figures.draft_ns, theme.phase_draft),
        ("verify", figures.verify_ns, theme.phase_verify),
        ("accept", figures.accept_ns, theme.phase_accept),
        ("commit", figures.commit_ns, theme.phase_commit),
    )
    title = "Seconds by phase, all rounds"
    picture = Picture(
        "stacked",
        ("this run",),
        tuple(Series(name, colour, (ns / 1e9,)) for name, ns, colour in phases),
        numbers="0.00",
        titled=title,
        gap=60,
    )
    said = " · ".join(f"{name} {ns / 1e9:.3f} s" for name, ns, _ in phases)
    add_chart(page, box, picture, title, f"{title}: {said}.")
    place = Box(box.left, box.bottom + 4.0, box.width, 22.0)
    page.text(place, [words(said, 14.0, theme.muted)], name="Phases", keep=True)
