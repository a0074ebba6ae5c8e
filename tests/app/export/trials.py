"""Sessions to export in tests: whole and odd ones, as files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from app.export.exporting import export
from app.export.formats import format_named
from app.export.options import Options
from engine.trace import codec
from engine.trace.events import RunStarted, SettingsChanged, TokenPiece
from engine.trace.markers import Marker, SessionNote
from tests.traces import make_trace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from engine.trace.events import Event

SECRET_PROMPT = "Forty-two purple walruses"
SECRET_MACHINE = "Quuxotron 9000, 7 threads"
SECRET_DEVICE = "Frobnicator GPU"

HOSTILE = (
    b"=cmd|' /C calc'!A0",
    b" =1+1",
    b"\t=1+1",
    b"\n=1+1",
    b"\r\n",
    b"-3.2",
    b"'quoted",
    "＝1+1".encode(),
    "\u00a0@SUM(A1)".encode(),
    "\u200b+1".encode(),
    b"a;=1+1",
    b'say "no", then',
    b"</script><script>alert(1)</script>",
    b"<!-- ",
    b"![x](http://evil.example/x.png)",
    b"[x](javascript:alert(1))",
    b"`code` *em* _em_ ~~del~~ # head | cell",
    b"\x00\x1b]0;title\x07\x1b[2J",
    b"\xc2\x9b31m",
    "\u202eevil\u2066".encode(),
    "שלום".encode(),
    "🏴‍☠️".encode(),
    b"\xf0\x9f",
    b"\x98\x80",
    b"\xff",
    b"007",
)


def write(path: Path, events: Sequence[Event]) -> Path:
    """Write events as a session file."""
    path.write_bytes(b"".join(map(codec.encode, events)))
    return path


def hostile(rounds: int = 40) -> list[Event]:
    """Return a run whose tokens, prompt, names and notes are out to do harm."""
    events = make_trace(rounds=rounds, seed=3, temperature=1.0, vocabulary=HOSTILE)
    started = _started(events)
    target = msgspec.structs.replace(started.target, name="=evil<b>|`x`")
    events[0] = msgspec.structs.replace(started, prompt="=1+1\n| <i>x</i> \x1b[2J", target=target)
    run = started.run
    return [
        *events,
        Marker(run=run, id="m1", round=1, phase="verify", title="=m|*x*", note="<b>n</b>\x1b[1m"),
        SessionNote(run=run, title="# =t <script>", note="[l](http://evil.example)\n\nsecond"),
    ]


def marked(events: Sequence[Event]) -> list[Event]:
    """Return events with a note and two markers."""
    run = _started(events).run
    return [
        *events,
        Marker(run=run, id="m1", round=1, title="Look here", note="The first rejection."),
        Marker(run=run, id="m2", round=-1, title="Before", pause=False),
        SessionNote(run=run, title="A talk", note="What it is about."),
    ]


def several(number: int = 3, rounds: int = 8) -> list[Event]:
    """Return a session of several runs."""
    return [event for seed in range(number) for event in make_trace(rounds, seed=seed)]


def secret(events: Sequence[Event]) -> list[Event]:
    """Return events whose prompt and machine can be told from all else."""
    started = _started(events)
    changed = msgspec.structs.replace(
        started,
        prompt=SECRET_PROMPT,
        prompt_tokens=tuple(
            TokenPiece(id=9000 + i, piece=word.encode())
            for i, word in enumerate(SECRET_PROMPT.split())
        ),
        machine=SECRET_MACHINE,
        target=msgspec.structs.replace(started.target, device=SECRET_DEVICE),
    )
    drafter = started.drafter and msgspec.structs.replace(started.drafter, device=SECRET_DEVICE)
    return [
        changed,
        *(
            msgspec.structs.replace(event, drafter=drafter)
            if isinstance(event, SettingsChanged)
            else event
            for event in events[1:]
        ),
    ]


def exported(trace: Path, out: Path, name: str, options: Options | None = None) -> bytes:
    """Export a session and return what was written."""
    export(trace, out, format_named(name), options or Options())
    return out.read_bytes()


def _started(events: Sequence[Event]) -> RunStarted:
    started = events[0]
    assert isinstance(started, RunStarted)
    return started
