"""What a film's file says of itself: its name, where its figures come from, what they are.

Knows provenance. Knows no encoder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.export.about import run_title
from app.export.provenance import definitions, facts
from app.export.sayable import sayable

if TYPE_CHECKING:
    from app.export.source import Source

_LONGEST = 300  # characters of one fact: a prompt may be a whole page


def tags(source: Source, title: str) -> dict[str, str]:
    """Return a file's metadata; the same session says the same.

    Parameters
    ----------
    title
        "" stands for the models' names.
    """
    started = source.started
    told = "; ".join(f"{name}: {_short(words)}" for name, words in facts(source))
    meant = " ".join(
        f"{name.capitalize()}: {words}" for name, words in definitions(source.document)
    )
    notices = " ".join(source.notices)
    found = {
        "title": title or run_title(source.document),
        "comment": f"{told}. {notices}".strip(),
        "description": meant,
        "date": started.started_at,
        "creation_time": started.started_at,
    }
    return {name: sayable(words) for name, words in found.items() if words}


def _short(words: str) -> str:
    words = " ".join(words.split())
    return words if len(words) <= _LONGEST else words[: _LONGEST - 1] + "…"
