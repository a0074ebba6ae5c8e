"""A session as a page of Markdown: where it comes from, its figures, its text with every fate.

Knows which parts there are and in which order. Several runs stand side by side. The figures are the
panels' own readings; the text is written round by round, so a long run is never held.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from app.export.about import run_title
from app.export.markdown import escaped, paragraph, table
from app.export.provenance import facts
from app.export.words import ending_words, place_words
from app.viewmodels.acceptance import AcceptanceModel
from app.viewmodels.document import Document
from app.viewmodels.imported import no_tokens_words
from app.viewmodels.meanings import MEANINGS
from app.viewmodels.readings import DASH, kind_of_rounds, milliseconds, percent
from app.viewmodels.throughput import ThroughputModel
from engine.trace.events import Fate
from engine.trace.figures import ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from app.export.options import Options, Progress
    from app.export.source import Source
    from app.viewmodels.charts import Chart
    from app.viewmodels.readings import Reading
    from engine.trace.events import Round
    from engine.trace.figures import Figures
    from engine.trace.markers import Marker

_EVERY = 512  # rounds between two words of progress
# Elements that every host of Markdown lets through, and that mark within a word.
_OF_FATE = {
    "accepted": "<ins>{}</ins>",
    "rejected": "<del>{}</del>",
    "discarded": "<del><em>{}</em></del>",
    "cut": "<sub>{}</sub>",
    "correction": "<strong>{}</strong>",
    "bonus": "<strong><em>{}</em></strong>",
    "plain": "{}",
}
_PHASES: dict[str, Callable[[Figures], int]] = {
    "draft": lambda figures: figures.draft_ns,
    "verify": lambda figures: figures.verify_ns,
    "accept": lambda figures: figures.accept_ns,
    "commit": lambda figures: figures.commit_ns,
    "all of the round": lambda figures: figures.round_ns,
    "observe, outside it": lambda figures: figures.observe_ns,
}


def write_markdown(source: Source, out: Path, options: Options, progress: Progress) -> None:
    """Write the summary of all runs."""
    with out.open("x", encoding="utf-8", newline="\n", errors="backslashreplace") as file:
        for part in _parts(source, options, progress):
            file.write(part)


def _parts(source: Source, options: Options, progress: Progress) -> Iterator[str]:
    note = source.note
    title = options.title if options.title is not None else note.title
    runs = source.runs
    yield f"# {escaped(title or run_title(source.document))}\n"
    if note.note:
        yield f"\n{paragraph(note.note)}\n"
    for notice in source.notices:
        yield f"\n> {paragraph(notice)}\n"
    yield "\n## Where it comes from\n\n" + _facts(source)
    yield "\n## Figures\n\n" + _figures(runs)
    for run, words in enumerate(map(_warnings, runs), 1):
        if words:
            yield f"\n{paragraph(f'Run {run}: {words}' if len(runs) > 1 else words)}\n"
    yield _charts("Acceptance by draft position", runs, lambda model: model.positions)
    yield _charts("Accepted tokens in a round", runs, lambda model: model.lengths)
    yield "\n## Time by phase\n" + "".join(
        _times(source, run, document) for run, document in enumerate(runs, 1)
    )
    yield from _markers(source)
    yield "\n## Text\n\n" + _legend()
    for run, document in enumerate(runs, 1):
        heading = f"### Run {run}: {escaped(run_title(document))}\n\n" if len(runs) > 1 else ""
        yield f"\n{heading}"
        yield from _text(document, progress)


def _facts(source: Source) -> str:
    said = [dict(facts(source, document)) for document in source.runs]
    names = dict.fromkeys(name for one in said for name in one)
    return table(
        ["", *_run_names(source.runs)],
        ([name, *(one.get(name, "") for one in said)] for name in names),
    )


def _run_names(runs: tuple[Document, ...]) -> list[str]:
    return [f"run {n}" for n in range(1, len(runs) + 1)] if len(runs) > 1 else ["value"]


def _figures(runs: tuple[Document, ...]) -> str:
    """Return all readings of the panels; what was measured and what is derived is said."""
    said = [_readings(document) for document in runs]
    # Of no run in particular, unless another program made it: it divides otherwise.
    own = next((run for run in runs if run.imported is None), None)
    definitions = [one.definition for one in (said[0] if own is None else _readings(Document()))]
    head = ["figure", *_run_names(runs), "how", "of", "definition"]
    rows = []
    for definition, *same in zip(definitions, *said, strict=True):
        first = same[0]
        values = [f"{one.text} {one.unit}".strip() for one in same]
        details = [one.detail for one in same]
        each = "; ".join(f"run {run}: {what}" for run, what in enumerate(details, 1))
        of = details[0] if len(set(details)) == 1 else each
        rows.append([first.name, *values, str(first.how), of, definition])
    return table(head, rows, range(1, len(runs) + 1))


def _readings(document: Document) -> tuple[Reading, ...]:
    many = len(document.rounds)
    throughput = ThroughputModel(document, many)
    acceptance = AcceptanceModel(document, many).readings
    return (*acceptance, *throughput.readings, *throughput.small)


def _warnings(document: Document) -> str:
    many = len(document.rounds)
    acceptance, throughput = AcceptanceModel(document, many), ThroughputModel(document, many)
    warned = "" if document.imported is not None else throughput.warning  # as `acceptance.notice`
    said = (acceptance.notice, acceptance.short, throughput.source, warned)
    return " ".join(filter(None, (*said, ending_words(document))))


def _charts(
    title: str, runs: tuple[Document, ...], chart_of: Callable[[AcceptanceModel], Chart]
) -> str:
    """Return a chart of each run as a table, a row a bar."""
    said = f"\n## {title}\n"
    for n, document in enumerate(runs, 1):
        chart = chart_of(AcceptanceModel(document, len(document.rounds)))
        if len(runs) > 1:
            said += f"\nRun {n}\n"
        if not any(bar.share is not None for bar in chart.bars):
            said += f"\n{paragraph(chart.note or 'Nothing was drafted.')}\n"
            continue
        label, _, counted = chart.axis.partition(" · ")
        unit = ["%", counted] if title.startswith("Acceptance") else [counted, "share"]
        rows = ([bar.label, bar.value, bar.counts] for bar in chart.bars)
        said += "\n" + table([label, *unit], rows, (1, 2))
    return said


def _times(source: Source, run: int, document: Document) -> str:
    figures = document.figures_at(len(document.rounds))
    begin = f"\nRun {run}\n" if len(source.runs) > 1 else ""
    if document.imported is not None:
        return f"{begin}\n{paragraph(document.imported.program)} tells no times of phases.\n"
    if not figures.rounds:
        return f"{begin}\nNo round was run.\n"
    rows = []
    for phase, ns_of in _PHASES.items():
        ns = ns_of(figures)
        share = ratio(ns, figures.round_ns)
        said = DASH if share is None else f"{percent(share)} %"
        rows.append([phase, milliseconds(ns), milliseconds(ns / figures.rounds), said])
    rounds = kind_of_rounds(figures.paced, figures.disturbed)
    note = f"Sums over {figures.rounds:,} {rounds}: engine time, measured; waiting is in none."
    if figures.prefill_ns is not None:
        note += f" The prefill before them took {milliseconds(figures.prefill_ns)} ms."
    head = ["phase", "ms", "ms a round", "of the round"]
    return f"{begin}\n{table(head, rows, (1, 2, 3))}\n{paragraph(note)}\n"


def _markers(source: Source) -> Iterator[str]:
    held = [(n, one) for n, document in enumerate(source.runs, 1) for one in document.markers]
    if held:
        several = len(source.runs) > 1
        rows = ([_place(n if several else 0, one), one.title, one.note] for n, one in held)
        yield "\n## Markers\n\n" + table(["moment", "title", "note"], rows)


def _place(run: int, marker: Marker) -> str:
    return f"{f'run {run}, ' if run else ''}{place_words(marker) or 'the prompt'}"


def _legend() -> str:
    lines = [f"- {_marked(fate, fate)}: {escaped(MEANINGS[fate])}" for fate in _OF_FATE]
    return "\n".join(lines) + "\n"


def _text(document: Document, progress: Progress) -> Iterator[str]:
    """Yield the emitted text in one paragraph, and what was drafted and did not stay in place."""
    many = len(document.rounds)
    if document.imported is not None:
        yield f"{paragraph(no_tokens_words(document.imported))}\n\n"
        yield f"{_marked('plain', document.imported.text)}\n"
        return
    yield "Emitted, with what was drafted in vain: "
    for index, one in enumerate(document.rounds):
        if index % _EVERY == 0:
            progress(index, many, "Writing the text")
        yield "".join(_of_round(one))
    tail = document.finished.tail if document.finished is not None else ""
    yield (_marked("plain", tail) if tail else "") + "\n"


def _of_round(one: Round) -> Iterator[str]:
    """Yield a round's tokens, neighbours of one fate together."""
    for fate, texts in groupby(_fates(one), key=lambda token: token[0]):
        yield _marked(fate, "".join(text for _, text in texts))


def _fates(one: Round) -> Iterator[tuple[str, str]]:
    for slot, token in enumerate(one.drafted):
        if token.fate is Fate.ACCEPTED:
            yield "accepted", one.texts[slot]
        else:
            yield str(token.fate), token.piece.decode("utf-8", "replace")
    if one.closing is not None:
        yield str(one.closing.kind), one.texts[-1]


def _marked(fate: str, text: str) -> str:
    return _OF_FATE[fate].format(escaped(text)) if text else ""
