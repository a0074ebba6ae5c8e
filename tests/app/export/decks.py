"""Decks for tests: a trace written to a file, exported, and opened again with python-pptx."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pptx import Presentation

from app.export.exporting import export
from app.export.formats import format_named
from app.export.options import Options
from engine.trace import codec
from engine.trace.events import RunStarted
from engine.trace.markers import Marker, SessionNote

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from app.export.source import Source
    from engine.trace.events import Event


@dataclass(frozen=True)
class Made:
    """A deck and what it was made from."""

    path: Path
    source: Source
    deck: Any

    @property
    def slides(self) -> list[Any]:
        return list(self.deck.slides)

    @property
    def titles(self) -> list[str]:
        return [slide.shapes.title.text_frame.text for slide in self.slides]

    def slide(self, begins: str) -> Any:
        """Return the first slide whose title begins so."""
        found = next(
            (s for s in self.slides if s.shapes.title.text_frame.text.startswith(begins)), None
        )
        assert found is not None, (begins, self.titles)
        return found

    def parts(self) -> Iterator[tuple[str, bytes]]:
        """Yield every part, those of workbooks too."""
        with zipfile.ZipFile(self.path) as archive:
            for name in archive.namelist():
                yield name, archive.read(name)
                if name.endswith(".xlsx"):
                    with archive.open(name) as inner, zipfile.ZipFile(inner) as book:
                        for part in book.namelist():
                            yield f"{name}/{part}", book.read(part)


def write_trace(path: Path, events: Sequence[Event]) -> Path:
    """Write events as a trace."""
    path.write_bytes(b"".join(codec.encode(event).rstrip(b"\n") + b"\n" for event in events))
    return path


def make_deck(folder: Path, events: Sequence[Event], name: str = "deck", **options: Any) -> Made:
    """Export a deck of some events and open it."""
    trace = write_trace(folder / f"{name}.jsonl", events)
    out = folder / f"{name}.pptx"
    source = export(trace, out, format_named("pptx"), Options(**options))
    return Made(out, source, Presentation(str(out)))


def marked(
    events: Sequence[Event], *markers: dict[str, Any], title: str = "", note: str = ""
) -> list[Event]:
    """Return events with markers and a note of the session among them."""
    started = events[0]
    assert isinstance(started, RunStarted)
    made = [Marker(run=started.run, id=f"m{n}", **one) for n, one in enumerate(markers, 1)]
    notes = [SessionNote(run=started.run, title=title, note=note)] if title or note else []
    return [*events, *made, *notes]


def leaves(shapes: Any) -> Iterator[Any]:
    """Yield shapes, those inside groups too."""
    for shape in shapes:
        yield shape
        if shape.shape_type is not None and hasattr(shape, "shapes"):
            yield from leaves(shape.shapes)


def frames(shapes: Any) -> Iterator[Any]:
    """Yield every text frame, those of tables too."""
    for shape in leaves(shapes):
        if shape.has_text_frame:
            yield shape.text_frame
        if getattr(shape, "has_table", False) and shape.has_table:
            for row in shape.table.rows:
                yield from (cell.text_frame for cell in row.cells)


def charts(slide: Any) -> dict[str, Any]:
    """Return a slide's charts by their names."""
    return {shape.name: shape.chart for shape in slide.shapes if shape.has_chart}


def text_of(slide: Any) -> str:
    """Return all text of a slide."""
    return "\n".join(frame.text for frame in frames(slide.shapes))


def values(chart: Any) -> dict[str, list[float | None]]:
    """Return a chart's numbers by the names of its series."""
    return {series.name: list(series.values) for series in chart.plots[0].series}
