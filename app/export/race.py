"""Runs side by side on one clock of engine time: what each had put out by when, and who was faster.

Every time is one that was measured: a lane's tokens appear at the summed times of its own rounds.
Knows no HTML and invents nothing: where a trace has no text for a token, the lane says so.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

import msgspec

from app.export.plain_texts import texts_of
from app.viewmodels.characters import written
from app.viewmodels.readings import number
from app.viewmodels.settings_words import settings_words
from engine.trace.figures import ratio

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from app.viewmodels.document import Document
    from engine.trace.events import Baseline

CLOCK = (
    "One clock of engine time: each lane's tokens appear at the summed times of its own rounds, as "
    "measured. Reading the prompt is left out."
)
PROBES = "The speed-up figure is against probes between the run's rounds and may differ."
PACED = "paced: the rounds' own times, without the waiting between them"
DISTURBED = "a drafter was being trained meanwhile"
TEXT_AT_END = "this trace keeps its text only as a whole: shown at its end"
PUT_TOGETHER = "this trace keeps no text by token: put together from its ids and its whole text"
CANCELLED = "it was cancelled before its end"


class Lane(msgspec.Struct, frozen=True, omit_defaults=True):
    """One run: after arrival i, `us[i]` microseconds of engine time, it had `tokens[i]` tokens."""

    name: str
    detail: str
    kind: str  # "target" alone, or "drafted"
    us: tuple[int, ...]
    tokens: tuple[int, ...]
    rates: tuple[str, ...]  # tokens per second until then
    texts: tuple[str, ...]  # what each arrival added; empty where only `whole` is known
    whole: str = ""
    notes: tuple[str, ...] = ()
    rate: float | None = None  # of all of it


class Race(msgspec.Struct, frozen=True):
    """Lanes with what is to be said of them."""

    title: str
    lanes: tuple[Lane, ...]
    clock: str
    outcome: str  # who was faster, and how much


def baseline_race(document: Document, rounds: int, pieces: Mapping[int, bytes]) -> Race | None:
    """Return the race of a run against the plain target, or None if that was not run.

    Parameters
    ----------
    rounds
        Of the run, the first ones that are shown.
    pieces
        Bytes of the plain run's ids, as far as they are known.
    """
    baseline = document.baseline
    if baseline is None or not baseline.round_ns or not rounds:
        return None
    started = document.started
    run = run_lane(document, rounds, _drafter_name(document))
    most = None if rounds == len(document.rounds) else run.tokens[-1]
    ends = started.end_tokens if started else ()
    plain = plain_lane(baseline, pieces, ends, most)
    by_probes = document.figures_at(rounds).plain_source == "probes"
    clock = f"{CLOCK} {PROBES}" if by_probes else CLOCK
    return _race("This run against the plain target", (run, plain), clock)


def runs_race(documents: Sequence[Document], rounds: int) -> Race | None:
    """Return the race of several runs, at most so many rounds of each; None where there is one."""
    raced = [one for one in documents if len(one.rounds)]
    if len(raced) < 2:
        return None
    names = run_names(raced)
    lanes = tuple(
        run_lane(document, min(rounds, len(document.rounds)), name)
        for document, name in zip(raced, names, strict=True)
    )
    return _race(f"The {len(lanes)} runs of this session", lanes)


def run_name(document: Document) -> str:
    """Return what a run is called: its title, else its drafter."""
    return document.session_note.title or _drafter_name(document)


def _drafter_name(document: Document) -> str:
    started = document.started
    if started is None:
        return "the target alone"
    drafter = started.drafter
    if any(change.settings.drafter != started.settings.drafter for change in document.changes):
        return "the run with changing drafters"
    return drafter.name if drafter is not None else "the target alone"


def run_names(documents: Sequence[Document]) -> list[str]:
    """Return what runs are called, no two alike."""
    names = [run_name(one) for one in documents]
    return [
        name if names.count(name) == 1 else f"{name}, run {place + 1}"
        for place, name in enumerate(names)
    ]


def run_lane(document: Document, rounds: int, name: str) -> Lane:
    """Return the lane of a recorded run, up to a round."""
    columns, tokens = document.columns, document.tokens
    times = columns.sums("round_ns")[1 : rounds + 1].tolist()
    emitted = columns.sums("emitted")[1 : rounds + 1].tolist()
    started = document.started
    texts, before = [], 0
    for index in range(rounds):
        text = tokens.text(index + 1)
        texts.append(written(text[before:]))
        before = len(text)
    notes = []
    if rounds and columns.sums("paced")[rounds] > 0:
        notes.append(PACED)
    if rounds and columns.sums("disturbed")[rounds] > 0:
        notes.append(DISTURBED)
    if rounds < len(document.rounds):
        notes.append(f"the first {rounds:,} of {len(document.rounds):,} rounds")
    drafted = bool(started and started.drafter)
    detail = settings_words(started.settings) if started else ""
    return _lane(name, detail, "drafted" if drafted else "target", times, emitted, texts, notes)


def plain_lane(
    baseline: Baseline, pieces: Mapping[int, bytes], ends: Sequence[int], most: int | None
) -> Lane:
    """Return the lane of the plain target's own run.

    Parameters
    ----------
    pieces
        Bytes of its ids, as far as they are known.
    ends
        Ids that add nothing to the text.
    most
        At most so many tokens of it; None: all.
    """
    length = len(baseline.round_ns) if most is None else min(most, len(baseline.round_ns))
    times = list(accumulate(baseline.round_ns[:length]))
    texts: Sequence[str] | None = baseline.texts
    notes, whole = [], ""
    if len(baseline.texts) != len(baseline.round_ns):
        texts = texts_of(baseline.token_ids, baseline.text, pieces, ends)
        if texts is not None and len(texts) == len(baseline.round_ns):
            notes.append(PUT_TOGETHER)
        else:
            texts, whole = None, written(baseline.text)
            notes.append(TEXT_AT_END)
    if not baseline.complete:
        notes.append(CANCELLED)
    shown = [written(text) for text in (texts or ())[:length]]
    tokens = list(range(1, length + 1))
    detail = "its own run of the same prompt, a token a round"
    return _lane("plain target", detail, "target", times, tokens, shown, notes, whole)


def _lane(
    name: str,
    detail: str,
    kind: str,
    times_ns: Sequence[float],
    tokens: Sequence[float],
    texts: Sequence[str],
    notes: Sequence[str],
    whole: str = "",
) -> Lane:
    rates = [ratio(done, ns / 1e9) for done, ns in zip(tokens, times_ns, strict=True)]
    return Lane(
        name=name,
        detail=detail,
        kind=kind,
        us=tuple(round(ns / 1e3) for ns in times_ns),
        tokens=tuple(int(done) for done in tokens),
        rates=tuple("" if rate is None else number(rate) for rate in rates),
        texts=tuple(texts),
        whole=whole,
        notes=tuple(notes),
        rate=rates[-1] if rates else None,
    )


def _race(title: str, lanes: tuple[Lane, ...], clock: str = CLOCK) -> Race:
    return Race(title=title, lanes=lanes, clock=clock, outcome=_outcome(lanes))


def _outcome(lanes: Sequence[Lane]) -> str:
    ranked = sorted((lane for lane in lanes if lane.rate), key=lambda lane: -(lane.rate or 0))
    if len(ranked) < 2:
        return ""
    best, *others = ranked
    against = ", ".join(
        f"{number((best.rate or 0) / (lane.rate or 1))} times the {number(lane.rate or 0)} of "
        f"{lane.name}"
        for lane in others
    )
    said = f"{_capital(best.name)} was fastest: {number(best.rate or 0)} tokens/s, {against}."
    lengths = sorted({lane.tokens[-1] for lane in lanes if lane.tokens})
    if len(lengths) > 1:
        said += f" Texts have {lengths[0]:,} to {lengths[-1]:,} tokens."
    return said


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
