"""Traces of every kind as sources for figures, and the figures as bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from app.export.exporting import export
from app.export.formats import format_of
from app.export.options import Options
from engine.trace.codec import encode
from engine.trace.events import Baseline, Comparison, Round, RunStarted
from engine.trace.markers import Marker, SessionNote
from tests.traces import make_trace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from engine.trace.events import Event

HOSTILE = (
    b"</script>",
    b"]]>",
    b"&amp;",
    b"\x00",
    b"\x1b[31m",
    b"\xed\xa0\x80",
    b"\xf0\x9f\x98\x80",
    b"\xf0\x9f",
    b"\x98\x8a",
    b"\xef\xbf\xbe",
    "مرحبا ".encode(),
    "שלום!".encode(),
    "中文".encode(),
    "\u202eturned".encode(),
    b"e\xcc\x81",
    b"\n",
    b"\t",
    b" word",
)
SECRET_PROMPT, SECRET_MACHINE = "the secret prompt", "a secret machine"


def saved(events: Sequence[Event], folder: Path, name: str = "t") -> Path:
    """Write events as a trace and return its path."""
    path = folder / f"{name}.jsonl"
    path.write_bytes(b"".join(encode(event) for event in events))
    return path


def marked(events: Sequence[Event]) -> list[Event]:
    """Give a trace words that no writer of XML or PDF likes."""
    run = events[0].run
    return [
        *events,
        Marker(run=run, id="m1", round=5, title="A <b>\x01 marker", note="One & two ]]> \u202e."),
        SessionNote(run=run, title="Talk </title> \x0c 😀 (5 0 R) \\ שלום \udc80"[:-1], note="n"),
    ]


def hostile() -> list[Event]:
    return marked(make_trace(14, seed=3, k=5, temperature=1.0, vocabulary=HOSTILE))


def secret() -> list[Event]:
    events = make_trace(6)
    started = events[0]
    assert isinstance(started, RunStarted)
    started = msgspec.structs.replace(started, prompt=SECRET_PROMPT, machine=SECRET_MACHINE)
    return [started, *events[1:]]


def without_rounds() -> list[Event]:
    dropped = (Round, Baseline, Comparison)
    return [event for event in make_trace(3) if not isinstance(event, dropped)]


def made(trace: Path, out: Path, **options: Any) -> bytes:
    """Export a trace and return the file's bytes."""
    export(trace, out, format_of(out), Options(**options))
    return out.read_bytes()
