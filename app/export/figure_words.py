"""What is said of a figure: its title, its caption, and where it comes from for whoever asks later.

Knows a source and a moment. Every figure in words is the viewmodels' own. Knows no painter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.export.moments import moment_of
from app.export.provenance import definitions, facts
from app.export.sayable import sayable
from app.export.words import round_words
from app.viewmodels.run_words import caption_words, run_words
from engine.version import VERSION

if TYPE_CHECKING:
    from app.export.moments import Moment
    from app.export.options import Options
    from app.export.source import Source
    from app.viewmodels.document import Document
    from engine.trace.markers import Marker

ALL = "all"
SOFTWARE = f"Draftscope {VERSION}"
_TOKEN = (
    "p_target and q_draft are the laws that were sampled from, as the settings make them; a "
    "drafted token is kept while its u is below min(1, p_target / q_draft)."
)


def marker_at(document: Document, moment: Moment) -> Marker | None:
    """Return the marker that stands at a moment, the one of its token before others."""
    there = [one for one in document.markers if moment_of(one)[:2] == moment[:2]]
    same = [one for one in there if moment_of(one) == moment]
    return next(iter(same or there), None)


def title_words(source: Source, options: Options) -> str:
    """Return what stands above a figure: what was asked for, or the session's own beside captions.

    "" for neither: a plain figure is told by the page that it stands on.
    """
    own = source.note.title if options.captions else ""
    return sayable(own if options.title is None else options.title)


def name_words(source: Source, panel: str) -> str:
    """Return what a figure without a title is called in its file."""
    words = run_words(source.document)
    drafter = "" if words.drafter == "none" else f" with {words.drafter}"
    what = "speculative decoding" if panel == ALL else panel
    return sayable(f"{what.capitalize()}: {words.target}{drafter}")


def moment_words(document: Document, moment: Moment) -> str:
    """Say which moment is shown, and what its round came to as far as that has happened."""
    index, phase, _ = moment
    if document.imported is not None:
        return ""  # its notice says that it has no rounds
    if not 0 <= index < len(document.rounds):
        return "Before the first round." if document.rounds else "No round was recorded."
    if phase == "draft":
        return f"Round {index + 1}, drafted and not yet verified."
    one = document.rounds[index]
    when = "" if phase == "done" else " as it is verified"
    return f"Round {index + 1}{when}: {round_words(one)}."


def figure_caption(
    source: Source,
    moment: Moment,
    panel: str,
    visible: int,
    *,
    note: bool = True,
    brief: bool = False,
) -> str:
    """Say below a figure what it shows, of which run, and how its numbers were obtained.

    Parameters
    ----------
    visible
        How many rounds its figures count.
    note
        Whether the moment's marker is told, too.
    brief
        Whether definitions are cut to their first sentences.
    """
    document = source.document
    marker = marker_at(document, moment) if note else None
    told = [": ".join(part for part in (marker.title, marker.note) if part)] if marker else []
    parts = [
        *source.notices,
        *(_sentence(part) for part in told if part),
        moment_words(document, moment),
        caption_words(document, panel, visible, max(0, moment.round), brief=brief),
    ]
    if panel == "court":
        parts.append(_TOKEN)
    return sayable(" ".join(part for part in parts if part))


def provenance_lines(source: Source) -> tuple[tuple[str, str], ...]:
    """Return what a figure's file keeps beside the picture: facts, then what each figure is."""
    defined = [(f"definition of {name}", words) for name, words in definitions(source.document)]
    notices = [("notice", notice) for notice in source.notices]
    found = [*facts(source), *defined, *notices]
    return tuple((sayable(name), sayable(words)) for name, words in found)


def _sentence(text: str) -> str:
    return text if text.rstrip().endswith((".", "!", "?", "…")) else f"{text.rstrip()}."
