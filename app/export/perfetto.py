"""A run's rounds and phases as a timeline for ui.perfetto.dev and chrome://tracing.

Knows the Trace Event Format: complete events that nest, counters, instants, names. Times are engine
time: the rounds' own nanoseconds one after the other, as the window's timeline has them; prefill,
probes and waiting for the picture take no room. Each event is written as it is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from app.export.about import about, run_title
from app.export.moments import moment_of
from app.export.words import round_words
from app.viewmodels.acceptance import AcceptanceModel
from app.viewmodels.presentation import Presentation
from app.viewmodels.settings_words import settings_words
from app.viewmodels.throughput import ThroughputModel
from app.viewmodels.timeline import TimelineModel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from app.export.options import Options, Progress
    from app.export.source import Source
    from app.viewmodels.document import Document
    from engine.trace.events import Round
    from engine.trace.markers import Marker

    Event = dict[str, Any]

ROUNDS, MOMENTS = 1, 2  # thread ids: the viewer draws a line for each
_EVERY = 512  # rounds between two words of progress
_CLOCK = (
    "Engine time: the rounds' own phases one after the other. It is no wall time: prefill, probes "
    "and waiting for the picture take no room."
)
_encode = msgspec.json.Encoder().encode


def write_perfetto(source: Source, out: Path, options: Options, progress: Progress) -> None:
    """Write the timeline of every run, one process each."""
    with out.open("xb") as file:
        file.write(b'{"traceEvents":[')  # first: viewers tell the format by it
        begin = b"\n"
        for number, document in enumerate(source.runs, 1):
            for event in _events(document, number, progress):
                file.write(begin + _encode(event))
                begin = b",\n"
        rest = {"displayTimeUnit": "ms", "otherData": _other_data(source)}
        file.write(b"\n]," + _encode(rest)[1:] + b"\n")


def microseconds(ns: float) -> msgspec.Raw:
    """Return nanoseconds as the format's microseconds, exactly: 1234 is 1.234."""
    whole, part = divmod(round(ns), 1000)
    return msgspec.Raw(f"{whole}.{part:03d}".encode())


def _other_data(source: Source) -> dict[str, str]:
    """Return what has to be known; of several runs each fact is named by its run's number."""
    said = {"clock": _CLOCK}
    for number, document in enumerate(source.runs, 1):
        before = f"run {number}: " if len(source.runs) > 1 else ""
        said |= {f"{before}{name}": text for name, text in about(source, document).items()}
    return said


def _events(document: Document, pid: int, progress: Progress) -> Iterator[Event]:
    timeline = TimelineModel(document)
    yield from _names(document, pid)
    if document.prefill is not None:
        took = {"ms": document.prefill.ns / 1e6, "tokens": document.prefill.tokens}
        yield _instant(pid, 0, "prefill", "prefill", took)
    for mark in timeline.marks:
        yield _instant(pid, mark.at_ns, mark.label, "settings", {})
    for probe, at_ns in zip(document.probes, timeline.probe_ns, strict=True):
        found = {"ms": probe.ns / 1e6, "context_length": probe.context_length}
        yield _instant(pid, float(at_ns), "probe: a plain round", "probe", found)
    for marker in document.markers:
        yield _marker(document, timeline, pid, marker)
    yield from _rounds(document, timeline, pid, progress)


def _names(document: Document, pid: int) -> Iterator[Event]:
    def name(what: str, args: Event, tid: int = 0) -> Event:
        return {"ph": "M", "name": what, "pid": pid, "tid": tid, "args": args}

    yield name("process_name", {"name": f"Run {pid}: {run_title(document)}"})
    yield name("process_sort_index", {"sort_index": pid})
    yield name("thread_name", {"name": "rounds and their phases"}, ROUNDS)
    yield name("thread_sort_index", {"sort_index": ROUNDS}, ROUNDS)
    yield name("thread_name", {"name": "markers, probes, settings"}, MOMENTS)
    yield name("thread_sort_index", {"sort_index": MOMENTS}, MOMENTS)


def _rounds(
    document: Document, timeline: TimelineModel, pid: int, progress: Progress
) -> Iterator[Event]:
    many = len(document.rounds)
    counters = {
        "acceptance": AcceptanceModel(document, many).cumulative,
        "tokens per second": ThroughputModel(document, many).cumulative,
    }
    for index, one in enumerate(document.rounds):
        if index % _EVERY == 0:
            progress(index, many, "Writing rounds")
        start, end = timeline.round_bounds_ns(index)
        own = one.times.round
        yield _span(pid, start, own, f"round {index + 1}", "round", _said(document, one))
        for phase in timeline.spans(index, index + 1):
            took = phase.end_ns - phase.start_ns
            yield _span(pid, phase.start_ns, took, phase.phase, "phase", {})
        for name, values in counters.items():
            if np.isfinite(values[index]):
                yield _counter(pid, end, name, float(values[index]))


def _said(document: Document, one: Round) -> Event:
    settings = document.settings_at(one.index)
    return {
        "drafter": one.drafter,
        "what": round_words(one),
        "k": one.k,
        "drafted": len(one.drafted),
        "accepted": one.accepted,
        "rejected": one.rejected,
        "discarded": one.discarded,
        "emitted": one.emitted,
        "text": "".join(one.texts),
        "settings": "" if settings is None else settings_words(settings, one.k),
        "paced": one.paced,
        "disturbed": one.disturbed,
    }


def _marker(document: Document, timeline: TimelineModel, pid: int, marker: Marker) -> Event:
    presentation = Presentation(document)
    moment_of(marker).show(presentation)
    at_ns = timeline.cursor_ns(presentation.cursor)
    said = {"id": marker.id, "note": marker.note}
    return _instant(pid, at_ns, marker.title or marker.id, "marker", said)


def _span(pid: int, start_ns: float, ns: float, name: str, kind: str, args: Event) -> Event:
    when = {"ts": microseconds(start_ns), "dur": microseconds(ns)}
    return {"ph": "X", "name": name, "cat": kind, "pid": pid, "tid": ROUNDS, **when, "args": args}


def _instant(pid: int, at_ns: float, name: str, kind: str, args: Event) -> Event:
    where = {"pid": pid, "tid": MOMENTS, "s": "t"}  # of its own line, not across all
    when = {"ts": microseconds(at_ns)}
    return {"ph": "i", "name": name, "cat": kind, **where, **when, "args": args}


def _counter(pid: int, at_ns: float, name: str, value: float) -> Event:
    where = {"pid": pid, "tid": 0, "ts": microseconds(at_ns)}
    return {"ph": "C", "name": name, **where, "args": {"value": value}}
