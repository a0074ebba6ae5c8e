"""A trace as the plain records that a replay page holds: tokens, laws, figures, words.

Knows what the page shows and how much of it fits. Knows no HTML and no colour; what a chip says
and when it appears is the window's own (`app.viewmodels`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from app.export.figures import readings
from app.export.header import Header, header
from app.export.options import silent
from app.export.page_markers import PageMarker, page_markers
from app.export.page_tokens import PageRound, PageToken, PageTokens
from app.export.provenance import definitions, facts
from app.export.race import Race, baseline_race
from app.export.source import Source
from app.export.words import ending_words
from app.viewmodels.document import Document
from app.viewmodels.presentation import CLOSING_S, PENDING_S, REST_S, VERDICT_S
from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.export.options import Progress
    from engine.trace.events import Event
    from engine.trace.figures import Figures

MAX_ROUNDS = 5_000
_STEP = 256  # rounds between two words of progress


class Clock(msgspec.Struct, frozen=True):
    """The window's presentation clock, in seconds at speed 1."""

    pending: float = PENDING_S
    verdict: float = VERDICT_S
    closing: float = CLOSING_S
    rest: float = REST_S


class PageReading(msgspec.Struct, frozen=True):
    """What stays of a figure from round to round."""

    name: str
    unit: str
    how: str
    definition: str


class Replay(msgspec.Struct, frozen=True):
    """Everything a page holds of one run. `readings[n]` are text and detail after n rounds."""

    header: Header
    notices: tuple[str, ...]
    clock: Clock
    settings: tuple[str, ...]
    drafters: tuple[str, ...]  # under each of the settings; "" where nobody drafts
    labels: tuple[str, ...]
    prompt: tuple[PageToken, ...]
    rounds: tuple[PageRound, ...]
    figures: tuple[PageReading, ...]
    readings: tuple[tuple[tuple[str, str], ...], ...]
    final: Figures
    text: str  # the target's, exactly
    counted: bool  # another program's run: counts and a text, no rounds
    ending: str
    markers: tuple[PageMarker, ...]
    race: Race | None
    facts: tuple[tuple[str, str], ...]
    definitions: tuple[tuple[str, str], ...]


def build_replay(
    events: Sequence[Event], *, max_rounds: int = MAX_ROUNDS, notices: Sequence[str] = ()
) -> Replay:
    """Return what a page holds of the run of these events, as `replay_of` does.

    Raises
    ------
    DraftscopeError
        If there is no run in the events.
    """
    source = source_of(Document(events), notices)
    return replay_of(source, source.document, max_rounds=max_rounds)


def source_of(document: Document, notices: Sequence[str] = ()) -> Source:
    """Return a document as a source of its own.

    Raises
    ------
    DraftscopeError
        If it holds no run.
    """
    if document.started is None:
        raise DraftscopeError(
            "This trace has no beginning of a run, so there is nothing to replay. "
            "Record the run again."
        )
    return Source(Path(), (document,), notices=tuple(notices))


def replay_of(
    source: Source,
    document: Document,
    *,
    max_rounds: int = MAX_ROUNDS,
    title: str | None = None,
    progress: Progress = silent,
) -> Replay:
    """Return what a page holds of one of a source's runs; its rounds are decoded one by one.

    Parameters
    ----------
    max_rounds
        A longer run is shown up to here, and the page says so.
    title
        In place of the session's own.
    """
    started = document.started
    assert started is not None  # a source has no other run
    total = len(document.rounds)
    shown = min(total, max_rounds)
    notices = source.notices
    if shown < total:
        notices += (
            f"This run has {total:,} rounds; the page replays the first {shown:,}, "
            "and its figures are those of these rounds.",
        )
    baseline = document.baseline
    wanted = frozenset(baseline.token_ids) if baseline and not baseline.texts else frozenset()
    tokens = PageTokens(document, shown, wanted)
    prompt = () if "prompt" in started.withheld else tokens.prompt()
    rounds = []
    for index in range(shown):
        if index % _STEP == 0:
            progress(index, shown, "Rounds of the page")
        rounds.append(tokens.round(document.rounds[index]))
    figures = [document.figures_at(n) for n in range(shown + 1)]
    told = [readings(one) for one in figures]
    return Replay(
        header=header(started, tokens.fates, document.session_note, title, document.imported),
        notices=notices,
        clock=Clock(),
        settings=tokens.settings,
        drafters=tokens.drafters,
        labels=tuple(tokens.labels.texts),
        prompt=prompt,
        rounds=tuple(rounds),
        figures=tuple(PageReading(r.name, r.unit, r.how, r.definition) for r in told[-1]),
        readings=tuple(tuple((r.text, r.detail) for r in row) for row in told),
        final=figures[-1],
        text=_text(document, shown),
        counted=document.imported is not None,
        ending=ending_words(document) if shown == total else "",
        markers=page_markers(document, shown),
        race=baseline_race(document, shown, tokens.pieces),
        facts=facts(source, document),
        definitions=definitions(document),
    )


def _text(document: Document, rounds: int) -> str:
    if document.imported is not None:
        return document.imported.text
    text = document.tokens.text(rounds)
    ended = document.finished if rounds == len(document.rounds) else None
    return text + ended.tail if ended is not None else text
