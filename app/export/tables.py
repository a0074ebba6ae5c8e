"""A session as tables: a row a token, a row a round, in CSV that programs and spreadsheets read.

Knows what each column is taken from. RFC 4180 with a header, in UTF-8 with a byte order mark,
without which Excel misreads it. Every row names its run, models, seed and version, so that rows may
be sorted and merged; the first row of each run has in `about` all else that has to be known. No
figure is computed here.
"""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np

from app.export.about import about
from app.export.cells import bytes_cell, guarded, readable
from app.export.table_columns import ROUNDS, TOKENS
from app.export.withholding import PROMPT
from app.viewmodels.acceptance import AcceptanceModel
from app.viewmodels.settings_words import settings_words
from app.viewmodels.throughput import ThroughputModel
from engine.trace.events import Fate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from app.export.options import Options, Progress
    from app.export.source import Source
    from app.viewmodels.document import Document
    from engine.trace.events import CacheSpan, ClosingToken, DraftedToken, Laws, Round, TokenPiece

    Cell = str | int | float | None
    Row = dict[str, Cell]

_EVERY = 512  # rounds between two words of progress
_LONGEST = 2_000  # characters of one thing in `about`: a spreadsheet's cell holds 32,767


def write_tokens(source: Source, out: Path, options: Options, progress: Progress) -> None:
    """Write a row for each token: of the prompt, drafted, and closing."""
    _write(source, out, progress, TOKENS, _tokens)


def write_rounds(source: Source, out: Path, options: Options, progress: Progress) -> None:
    """Write a row for each round; a run without any has one row that says where it comes from."""
    _write(source, out, progress, ROUNDS, _rounds)


def _write(
    source: Source,
    out: Path,
    progress: Progress,
    columns: Mapping[str, str],
    rows: Callable[[Document, Progress], Iterator[Row]],
) -> None:
    with out.open("x", encoding="utf-8-sig", newline="", errors="backslashreplace") as file:
        table = csv.writer(file, lineterminator="\r\n")
        table.writerow(columns)
        for number, document in enumerate(source.runs, 1):
            same = _same(document, number)
            last: Cell = guarded(_about(source, document, columns))
            for row in rows(document, progress):
                whole = row | same | {"about": last}
                table.writerow([whole.get(name) for name in columns])
                last = None


def _same(document: Document, number: int) -> Row:
    """Return what every row of a run says."""
    started = document.started
    assert started is not None  # a source has no other run
    return {
        "run_number": number,
        "run": guarded(started.run),
        "target": guarded(started.target.name),
        "seed": started.seed,
        "draftscope": guarded(started.version),
        "recorded": guarded(started.started_at),
    }


def _about(source: Source, document: Document, columns: Mapping[str, str]) -> str:
    said = about(source, document)
    tail = document.finished.tail if document.finished is not None else ""
    if tail:
        said["text after the last round"] = tail
    said |= {f"column {name}": meaning for name, meaning in columns.items()}
    return " | ".join(f"{name}: {_short(text)}" for name, text in said.items())


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text):,} characters)"


def _tokens(document: Document, progress: Progress) -> Iterator[Row]:
    started = document.started
    assert started is not None  # a source has no other run
    hidden = PROMPT in started.withheld
    any_row = False
    for place, piece in enumerate(started.prompt_tokens):
        any_row = True
        row: Row = {"round": 0, "slot": place + 1, "position": place}
        yield row | {"fate": "prompt", "emitted": _said(False)} | ({} if hidden else _piece(piece))
    for index, one in enumerate(document.rounds):
        if index % _EVERY == 0:
            progress(index, len(document.rounds), "Writing tokens")
        for row in _of_round(one):
            any_row = True
            yield row | {"round": one.index + 1, "drafter": guarded(one.drafter), "k": one.k}
    if not any_row:
        yield {}


def _of_round(one: Round) -> Iterator[Row]:
    for slot, token in enumerate(one.drafted):
        yield {
            **_piece(token),
            **_laws(token.laws, drafted=True),
            "slot": slot + 1,
            "position": one.position + slot,
            "fate": str(token.fate),
            "emitted": _said(token.fate is Fate.ACCEPTED),
            "q_draft": token.q_draft,
            "p_target": token.p_target,
            "acceptance_probability": token.acceptance_probability,
            "u": token.u,
        }
    if one.closing is not None:
        yield {
            **_piece(one.closing),
            # A correction's laws are those of the rejected token's position, draft and all.
            **_laws(one.closing.laws, drafted=bool(one.rejected)),
            "slot": len(one.drafted) + 1,
            "position": one.position + one.accepted,
            "fate": str(one.closing.kind),
            "emitted": _said(True),
            "closing_probability": one.closing.probability,
            "closing_u": one.closing.u,
        }


def _piece(token: TokenPiece | DraftedToken | ClosingToken) -> Row:
    return {
        "id": token.id,
        "text": guarded(readable(token.piece)),
        "bytes_hex": bytes_cell(token.piece),
    }


def _laws(laws: Laws | None, *, drafted: bool) -> Row:
    if laws is None:
        return {}
    return {
        "entropy_target": laws.entropy_target,
        "entropy_raw": laws.entropy_raw,
        "entropy_draft": laws.entropy_draft if drafted else None,
        "overlap": laws.overlap,
    }


def _rounds(document: Document, progress: Progress) -> Iterator[Row]:
    many = len(document.rounds)
    acceptance = AcceptanceModel(document, many).cumulative
    rates = ThroughputModel(document, many).cumulative
    for index, one in enumerate(document.rounds):
        if index % _EVERY == 0:
            progress(index, many, "Writing rounds")
        settings = document.settings_at(index)
        yield {
            **_counts(one),
            **_times(one),
            **_cache("target", one.target_cache),
            **_cache("drafter", one.drafter_cache),
            "match_start": None if one.match is None else one.match.start,
            "match_length": None if one.match is None else one.match.length,
            "paced": _said(one.paced),
            "disturbed": _said(one.disturbed),
            "temperature": None if settings is None else settings.temperature,
            "settings": "" if settings is None else guarded(settings_words(settings, one.k)),
            "acceptance_so_far": _finite(acceptance[index]),
            "tokens_per_second_so_far": _finite(rates[index]),
        }
    if not many:
        yield {}


def _counts(one: Round) -> Row:
    return {
        "round": one.index + 1,
        "position": one.position,
        "drafter": guarded(one.drafter),
        "k": one.k,
        "drafted": len(one.drafted),
        "accepted": one.accepted,
        "rejected": one.rejected,
        "discarded": one.discarded,
        "cut": sum(token.fate is Fate.CUT for token in one.drafted),
        "closing": "" if one.closing is None else str(one.closing.kind),
        "emitted": one.emitted,
        "draft_end": "" if one.draft_end is None else str(one.draft_end),
        "text": guarded("".join(one.texts).replace("\0", "\\x00")),
    }


def _times(one: Round) -> Row:
    times = one.times
    return {
        "draft_ns": times.draft,
        "verify_ns": times.verify,
        "accept_ns": times.accept,
        "commit_ns": times.commit,
        "observe_ns": times.observe,
        "round_ns": times.round,
    }


def _cache(whose: str, span: CacheSpan | None) -> Row:
    if span is None:
        return {}
    return {
        f"{whose}_cache_before": span.before,
        f"{whose}_cache_peak": span.peak,
        f"{whose}_cache_after": span.after,
        f"{whose}_pages_back": span.pages_given_back,
    }


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _said(value: bool) -> str:
    return "yes" if value else "no"
