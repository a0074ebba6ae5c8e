r"""One event, one line of JSON, both ways.

A line is strict JSON in UTF-8 without a line break inside, and ends with ``\n``. Token bytes are
base64. Knows the shape of an event; does not know files, nor what stands on other lines.
"""

from __future__ import annotations

import math
from typing import get_args

import msgspec

from engine.trace import migrations
from engine.trace.events import (
    SCHEMA_VERSION,
    Baseline,
    Event,
    Fate,
    Laws,
    PrefillFinished,
    Probe,
    Round,
)
from engine.trace.imported import Imported
from engine.trace.imported import misfit as imported_misfit

_MAX_NS = 2**62  # a century and a half; sums and arrays hold it
_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)
KINDS = frozenset(str(kind.__struct_config__.tag) for kind in get_args(Event))
"""Names of the kinds of events, as they stand in a file."""


class NotFiniteError(ValueError):
    """An event holds a NaN or an infinity: a fault of the engine, never of the user."""


class LineError(ValueError):
    """A line that is no event of this schema version; the message says what is wrong with it."""


class UnknownKindError(LineError):
    """A line of a kind that this version has no word for, in an otherwise sound file.

    Attributes
    ----------
    kind
        Its name, as it stands there.
    """

    def __init__(self, kind: str) -> None:
        super().__init__(f"unknown kind {kind}")
        self.kind = kind


class VersionError(LineError):
    """A first line of a schema version that cannot be read.

    Attributes
    ----------
    schema
        The version in the file, as it stands there.
    written_by
        The version of Draftscope that wrote it, or an empty string.
    """

    def __init__(self, schema: object, written_by: str) -> None:
        super().__init__(f"schema version {schema}, not {SCHEMA_VERSION}")
        self.schema = schema
        self.written_by = written_by


class _Kind(msgspec.Struct):
    """What every line has."""

    type: str


class _Header(msgspec.Struct):
    """What the first line has had in every version, leniently typed."""

    type: str
    schema: msgspec.Raw = msgspec.Raw(b"null")
    version: msgspec.Raw = msgspec.Raw(b'""')


def encode(event: Event) -> bytes:
    """Return the event's line.

    Raises
    ------
    NotFiniteError
        If a number in it is not finite; nothing of the event is written then.
    """
    line = _encoder.encode(event)
    # JSON has no NaN: msgspec writes null. A null can also be a plain None, so only then look.
    if b"null" in line:
        place = _not_finite(event, type(event).__name__)
        if place is not None:
            raise NotFiniteError(f"{place} is not a finite number")
    return line + b"\n"


def decode(line: bytes, schema: int = SCHEMA_VERSION) -> Event:
    """Return the event of a line, with or without its line break.

    Parameters
    ----------
    schema
        Version of the file, as `check_header` returned it.

    Raises
    ------
    UnknownKindError
        If it is a sound line of a kind that is not known.
    LineError
        If the line is no event, or its parts do not fit together.
    """
    try:
        event = _decoder.decode(line) if schema >= SCHEMA_VERSION else _older(line, schema)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as fault:
        kind = _kind_of(line)
        if kind is not None and kind not in KINDS:
            raise UnknownKindError(kind) from fault
        raise LineError(str(fault)) from fault
    problem = _misfit(event)
    if problem is not None:
        raise LineError(problem)
    return event


def _older(line: bytes, schema: int) -> Event:
    plain = msgspec.json.decode(line, type=migrations.Line)
    try:
        moved = migrations.migrated(plain, schema, SCHEMA_VERSION)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as fault:
        raise msgspec.DecodeError(f"no event of version {schema}: {fault!r}") from fault
    event: Event = msgspec.convert(moved, Event)
    return event


def _kind_of(line: bytes) -> str | None:
    """Return the kind of a whole line of JSON."""
    try:
        return msgspec.json.decode(line, type=_Kind).type
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def check_header(line: bytes) -> int:
    """Check that a first line starts a trace, and return its schema version.

    A newer version whose first line reads as this one's is taken: what can be shown is shown.

    Raises
    ------
    VersionError
        If it starts a trace of a version that cannot be read.
    LineError
        If it starts none.
    """
    try:
        header = msgspec.json.decode(line, type=_Header)
        if header.type != "run_started":
            raise LineError("it does not start with run_started")
        schema = msgspec.json.decode(header.schema)
        written_by = msgspec.json.decode(header.version)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as fault:
        raise LineError(str(fault)) from fault
    if not isinstance(schema, int) or isinstance(schema, bool) or not _readable(line, schema):
        raise VersionError(schema, written_by if isinstance(written_by, str) else "")
    return schema


def _readable(line: bytes, schema: int) -> bool:
    """Whether a first line of an integral version can be read: ours, or as ours."""
    if schema == SCHEMA_VERSION:
        return True
    if schema < SCHEMA_VERSION:
        return schema >= 0 and migrations.known(schema, SCHEMA_VERSION)
    try:
        decode(line)
    except LineError:
        return False
    return True


def _not_finite(value: object, place: str) -> str | None:
    """Return where the first number that is not finite stands."""
    if isinstance(value, float):
        return None if math.isfinite(value) else place
    if isinstance(value, tuple):
        parts = ((f"{place}[{i}]", part) for i, part in enumerate(value))
    elif isinstance(value, msgspec.Struct):
        names = value.__struct_fields__
        parts = ((f"{place}.{name}", getattr(value, name)) for name in names)
    else:
        return None
    return next((found for at, part in parts if (found := _not_finite(part, at))), None)


def _misfit(event: Event) -> str | None:
    """Return what does not fit together in a well-typed event, so that readers may rely on it."""
    match event:
        case Round():
            return _round_misfit(event)
        case Imported():
            return imported_misfit(event)
        case Probe() | PrefillFinished():
            spans = [event.ns]
        case Baseline():
            spans = [event.prefill_ns, *event.round_ns]
            if len(event.round_ns) != len(event.token_ids):
                return "a plain round is missing or surplus"
            if len(event.texts) not in (0, len(event.token_ids)):
                return "a text of a plain round is missing or surplus"
        case _:
            return None
    return _time_misfit(spans)


def _round_misfit(one: Round) -> str | None:
    times = one.times
    if one.index < 0 or one.position < 0 or one.k < 0:
        return "a negative index"
    if len(one.texts) != one.emitted:
        return f"{len(one.texts)} texts for {one.emitted} emitted tokens"
    for token in one.drafted:
        if token.laws is not None and not _columns_fit(token.laws):
            return "laws with columns of different lengths"
        if token.fate in (Fate.ACCEPTED, Fate.REJECTED) and token.p_target is None:
            return "a verdict without its p_target"
    if one.closing is not None and one.closing.laws and not _columns_fit(one.closing.laws):
        return "laws with columns of different lengths"
    for span in (one.target_cache, one.drafter_cache):
        if span is not None and span.page_size < 1:
            return "pages without positions"
    return _time_misfit([times.draft, times.verify, times.accept, times.commit, times.observe])


def _columns_fit(laws: Laws) -> bool:
    rows = len(laws.ids)
    full = (laws.pieces, laws.p_target, laws.p_raw)
    optional = (laws.q_draft, laws.residual)
    return all(len(column) == rows for column in full) and all(
        len(column) in (0, rows) for column in optional
    )


def _time_misfit(spans: list[int]) -> str | None:
    return None if all(0 <= ns < _MAX_NS for ns in spans) else "a time out of range"
