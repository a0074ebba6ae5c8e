"""What a recorded session is, told before it is opened: its title and note, who runs, how it went.

Knows a session that was read; every figure comes from its own events. Knows no card.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from app.viewmodels.readings import plural
from app.viewmodels.run_words import key_readings, run_words

if TYPE_CHECKING:
    from pathlib import Path

    from app.export.source import Source
    from app.viewmodels.document import Document
    from app.viewmodels.readings import Reading

_LONGEST_PROMPT = 90  # characters, where nobody gave a title


class SessionSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A session in a few words.

    Attributes
    ----------
    name
        The file's.
    pair
        Target and drafter.
    figures
        Acceptance and speed-up as the panels write them, "" for what was not measured.
    size
        How many rounds, runs and markers.
    """

    name: str
    title: str
    note: str
    pair: str
    figures: tuple[str, ...]
    size: str

    @property
    def spoken(self) -> str:
        """All of it, for a screen reader."""
        return ". ".join(filter(None, (self.title, self.note, self.pair, *self.figures, self.size)))


def summary_of(source: Source) -> SessionSummary:
    """Tell a session; of several runs the first one's figures."""
    document = source.document
    words = run_words(document)
    speedup, acceptance, *_ = key_readings(document, len(document.rounds))
    figures = [_figure(reading) for reading in (acceptance, speedup) if reading.known]
    counts = [plural(len(document.rounds), "round")]
    if len(source.runs) > 1:
        counts.append(plural(len(source.runs), "run"))
    if source.markers:
        counts.append(plural(len(source.markers), "marker"))
    return SessionSummary(
        name=source.path.name,
        title=source.note.title or _shortened(words.prompt) or _stem(source.path),
        note=source.note.note,
        pair=f"{words.target} with {words.drafter}",
        figures=tuple(figures),
        size=", ".join(counts),
    )


def _figure(reading: Reading) -> str:
    return " ".join(filter(None, (reading.text, reading.unit, reading.name)))


def _shortened(prompt: str) -> str:
    line = " ".join(prompt.split())
    return line if len(line) <= _LONGEST_PROMPT else line[: _LONGEST_PROMPT - 1] + "…"


def _stem(path: Path) -> str:
    return path.name.removesuffix(".zst").removesuffix(".jsonl")


def called(document: Document, path: Path) -> str:
    """Return what a session is called: by its title, or else by its file."""
    return document.session_note.title or _stem(path)
