"""The last slides: runs side by side, the figures in one table, and how all of it was measured.

Knows readings and provenance as `app.export` words them. Computes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.export.figures import readings
from app.export.provenance import definitions, facts
from app.export.slide_charts import Picture, Series, add_chart
from app.export.slide_deck import CONTENT, Box
from app.export.slide_tables import Table, add_table
from app.export.slide_text import Paragraph, one_line, words
from app.export.words import ending_words
from app.viewmodels.acceptance import AcceptanceModel
from app.viewmodels.imported import settings_told
from app.viewmodels.readings import DASH, How, plural
from app.viewmodels.settings_words import settings_words
from app.viewmodels.throughput import ThroughputModel, nice_top

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.export.slide_deck import Deck, Page
    from app.export.source import Source
    from app.viewmodels.document import Document
    from app.viewmodels.readings import Reading

_COMPARED = ("acceptance", "tokens per pass", "this run", "plain target", "speed-up")
_RUNS = 8  # on one slide
_CHANGES = 3  # of settings that are written out
_FOOT = 46.0
_RACE, _MOST_RACE = 34.0, 90.0  # height of a run's two bars, points
_FRAME = 60.0  # what a chart's title and legend take


def comparison(deck: Deck, source: Source) -> None:
    """Add the runs side by side, on as many slides as they need."""
    theme = deck.theme
    runs = list(enumerate(source.runs))
    head = (
        "run",
        "drafter",
        "settings",
        "acceptance",
        "tokens / pass",
        "tokens/s",
        "plain",
        "speed-up",
    )
    for first in range(0, len(runs), _RUNS):
        rows = []
        spoken = []
        for number, run in runs[first : first + _RUNS]:
            found = readings(run.figures_at(len(run.rounds)))
            started = run.started
            assert started is not None  # a source has no other run
            name = started.drafter.name if started.drafter is not None else "none"
            told = settings_words(started.settings)
            if run.imported is not None:
                told = (
                    f"imported from {run.imported.program}: {settings_told(started, run.imported)}"
                )
            rows.append(
                (
                    words(str(number + 1), 14.0, bold=number == source.chosen),
                    words(one_line(name), 14.0, theme.drafter),
                    words(told, 14.0),
                    *(words(text, 14.0, align="right") for text in _compared(found)),
                )
            )
            spoken.append(f"Run {number + 1}, {name}: {' '.join(one.spoken for one in found)}")
        table = Table(head, tuple(rows), (0.9, 1.5, 1.7, 1.1, 0.9, 1.35, 1.35, 0.95))
        title = f"{plural(len(runs), 'run')} of one recording, side by side"
        subtitle = f"Each figure is of its own run; run {source.chosen + 1} is the one told here"
        page = deck.page(title, subtitle, "\n".join(spoken))
        high = add_table(page, CONTENT, table, "Runs side by side", " ".join(spoken))
        rest = CONTENT._replace(top=CONTENT.top + high + 16.0, height=CONTENT.height - high - 16.0)
        _race(page, rest, runs[first : first + _RUNS])


def _compared(found: Sequence[Reading]) -> list[str]:
    """Return the figures that runs are compared by; a dash for one that another program lacks."""
    by_name = {one.name: value_of(one) for one in found}
    return [by_name.get(name, DASH) for name in _COMPARED]


def _race(page: Page, box: Box, runs: list[tuple[int, Document]]) -> None:
    """Add how fast each run was beside its plain target, where there is room for it."""
    theme = page.theme
    found = [(number, run.figures_at(len(run.rounds))) for number, run in runs]
    rates = tuple(figures.tokens_per_second for _, figures in found)
    plain = tuple(
        None if figures.plain is None else figures.plain.tokens_per_second for _, figures in found
    )
    highest = max((rate for rate in (*rates, *plain) if rate is not None), default=None)
    if highest is None or box.height < _RACE * len(runs) + _FRAME:
        return
    title = "Tokens per second"
    series = (
        Series("this run", theme.target, rates),
        Series("plain target", theme.plain_rate, plain),
    )
    names = tuple(f"run {number + 1}" for number, _ in found)
    top = nice_top(1.15 * highest)
    picture = Picture("bars", names, series, top=top, numbers="#,##0.0", titled=title)
    place = box._replace(height=min(box.height, _MOST_RACE * len(runs) + _FRAME))
    said = "; ".join(
        f"run {number + 1}: {'not known' if rate is None else f'{rate:.1f}'}"
        for (number, _), rate in zip(found, rates, strict=True)
    )
    add_chart(page, place, picture, title, f"{title}, each run beside its plain target. {said}.")


def summary(deck: Deck, document: Document) -> None:
    """Add the measured figures with how each was obtained and what it divides by."""
    theme = deck.theme
    found = _all_readings(document)
    title = f"In short: {_headline(document)}"
    notes = "\n".join(f"{one.spoken} {one.definition}" for one in found)
    page = deck.page(title, "Each figure with how it was obtained and what it divides by", notes)
    rows = tuple(
        (
            words(one.name, 14.0),
            words(value_of(one), 14.0, bold=True, align="right"),
            words(one.how, 14.0, theme.muted),
            words(one.detail, 14.0, theme.muted),
        )
        for one in found
    )
    end = ending_words(document)
    box = CONTENT._replace(height=CONTENT.height - (_FOOT if end else 0.0))
    table = Table(("figure", "", "how", "of what"), rows, (0.27, 0.19, 0.12, 0.42))
    spoken = " ".join(one.spoken for one in found)
    add_table(page, box, table, "Figures", spoken)
    if end:
        place = Box(CONTENT.left, CONTENT.bottom - _FOOT + 6.0, CONTENT.width, _FOOT - 6.0)
        page.text(place, [words(end, 14.0)], name="How the run ended")


def measured(deck: Deck, source: Source, *, captions: bool) -> None:
    """Add where everything comes from, and what the figures mean."""
    theme = deck.theme
    known = facts(source)
    whole = "\n".join(f"{name}: {value}" for name, value in known)
    shown = _few(known)
    rows = tuple(
        (words(name, 16.0, theme.muted), words(one_line(value), 16.0)) for name, value in shown
    )
    page = deck.page("How this was measured: the run", source.document.run or "", whole)
    add_table(page, CONTENT, Table((), rows, (0.24, 0.76)), "The run", whole)
    said = [*definitions(source.document), *_more_definitions(source.document)]
    notes = "\n".join([*(f"{name}: {what}" for name, what in said), *source.notices])
    page = deck.page("How this was measured: what each figure means", "", notes)
    rows = tuple((words(name, 16.0, bold=True), words(what, 16.0)) for name, what in said)
    foot = 70.0 if source.notices else 0.0
    top = CONTENT.top - 28.0
    box = CONTENT._replace(top=top, height=CONTENT.bottom - top - foot)
    add_table(page, box, Table((), rows, (0.2, 0.8)), "Definitions", notes)
    if source.notices:
        lines: list[Paragraph] = [words(one, 14.0, theme.warning) for one in source.notices]
        place = Box(CONTENT.left, CONTENT.bottom - foot + 8.0, CONTENT.width, foot - 8.0)
        page.text(place, lines, name="Notices")


def value_of(reading: Reading) -> str:
    """Return a number with its unit; a dash alone where there is none."""
    return f"{reading.text} {reading.unit}".strip() if reading.known else reading.text


def _few(known: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    """Return the facts without all but the first changes of settings, which are counted."""
    changes = [one for one in known if one[0].startswith("settings from")]
    left = changes[_CHANGES:]
    shown = [one for one in known if one not in left]
    if left:
        at = shown.index(changes[_CHANGES - 1]) + 1
        shown.insert(at, ("", f"and {plural(len(left), 'more change')} of settings"))
    return shown


def _headline(document: Document) -> str:
    found = {one.name: one for one in readings(document.figures_at(len(document.rounds)))}
    parts = []
    if (kept := found["acceptance"]).known:
        parts.append(f"{kept.text} % accepted")
    if (passes := found["tokens per pass"]).known:
        parts.append(f"{passes.text} tokens per pass")
    if (gain := found["speed-up"]).known:
        parts.append(f"{gain.text}× the plain target")
    return ", ".join(parts) or "nothing was measured"


def _all_readings(document: Document) -> list[Reading]:
    """Return every figure once: the page's five, then what else the panels show."""
    rounds = len(document.rounds)
    first = list(readings(document.figures_at(rounds)))
    return first + [one for one in _of_panels(document) if one.known or not rounds]


def _of_panels(document: Document) -> list[Reading]:
    """Return what the panels show besides the page's five figures."""
    rounds = len(document.rounds)
    names = {one.name for one in readings(document.figures_at(0))}
    panels = (*AcceptanceModel(document, rounds).readings, *ThroughputModel(document, rounds).small)
    return [one for one in panels if one.name not in names or one.how is How.PREDICTED]


def _more_definitions(document: Document) -> list[tuple[str, str]]:
    """Return what these are; a prediction is told apart from what was measured."""
    return [
        (f"{one.name}, {one.how}" if one.how is How.PREDICTED else one.name, one.definition)
        for one in _of_panels(document)
    ]
