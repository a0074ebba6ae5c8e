"""What every file of data says of itself: where its numbers come from and what they mean.

Knows a run's facts, the notices of its file and the figures' definitions. Knows no format.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.export.provenance import definitions, facts
from app.export.words import ending_words
from app.viewmodels.imported import models_told

if TYPE_CHECKING:
    from app.export.source import Source
    from app.viewmodels.document import Document


def about(source: Source, document: Document) -> dict[str, str]:
    """Return all that has to be said of a run beside its numbers, by name, in the order of telling.

    Facts first, then what of the file could not be read, how the run ended, and what each figure
    is.
    """
    said = dict(facts(source, document))
    note = document.session_note
    said |= {name: text for name, text in (("title", note.title), ("note", note.note)) if text}
    said |= {f"notice {i + 1}": notice for i, notice in enumerate(source.notices)}
    end = ending_words(document)
    if end:
        said["end"] = end
    return said | {f"{name} means": meaning for name, meaning in definitions(document)}


def run_title(document: Document) -> str:
    """Return the models of a run in a few words: "tiny-target with ngram"."""
    started = document.started
    assert started is not None  # a source has no other run
    if document.imported is not None:
        return f"{models_told(started, document.imported)}, {document.imported.program}"
    if started.drafter is None:
        return f"{started.target.name} alone"
    return f"{started.target.name} with {started.drafter.name}"
