"""A file of another program as text and JSON values, read with limits. Knows no program.

Whatever cannot be read is an error in one sentence. Numbers are taken only where they can be
counts or figures: finite, not negative, no larger than anything counts.
"""

from __future__ import annotations

import codecs
import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from engine.errors import DraftscopeError
from engine.trace.imported import MOST

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

MOST_BYTES = 64 << 20  # statistics of hundreds of thousands of rounds are smaller
MOST_STEPS = 100_000  # parts of a run that one event holds
_DEEPEST = 6  # how far inside an object statistics are looked for
_EVENT_STREAM = ("event:", "id:", "retry:", ":")  # lines of it that carry no data
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

Object = dict[str, object]


@dataclass(frozen=True)
class Material:
    """What a file holds.

    Attributes
    ----------
    name
        Of the file, for sentences.
    data
        Its bytes.
    text
        The whole of it.
    objects
        Its JSON objects in order: the one of a JSON file, those of an array, of JSON Lines or of
        an event stream. Empty where it is no JSON.
    """

    name: str
    data: bytes
    text: str
    objects: tuple[Object, ...]


def read_material(path: Path) -> Material:
    """Read a file that another program wrote.

    Raises
    ------
    DraftscopeError
        If it cannot be read, is empty, is no text, or is larger than `MOST_BYTES`.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as fault:
        reason = "it is a folder" if path.is_dir() else fault.strerror or str(fault)
        raise DraftscopeError(f"{path} cannot be read ({reason}): choose another file.") from fault
    if len(data) > MOST_BYTES:
        raise DraftscopeError(
            f"{path.name} has more than {MOST_BYTES >> 20} MB, which no statistics have: cut out "
            "the part that is to be imported."
        )
    encoding = next((name for mark, name in _BOMS if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as fault:
        raise DraftscopeError(
            f"{path.name} is no text in UTF-8 (byte {fault.start:,}): save it as UTF-8."
        ) from fault
    if not text.strip():
        raise DraftscopeError(f"{path.name} is empty: choose another file.")
    return Material(path.name, data, text, tuple(_objects(text)))


def _objects(text: str) -> Iterator[Object]:
    """Yield the JSON objects of a text; none unless all of it is JSON."""
    whole = _decoded(text)
    if whole is not None:
        values = whole if isinstance(whole, list) else [whole]
        yield from (value for value in values if isinstance(value, dict))
        return
    found: list[Object] = []
    for line in _lines(text):
        value = _decoded(line)
        if not isinstance(value, dict):
            return
        found.append(value)
    yield from found


def _lines(text: str) -> Iterator[str]:
    """Yield lines that carry data, of JSON Lines or of an event stream."""
    for line in text.splitlines():
        stripped = line.strip()
        if not stripped or stripped.startswith(_EVENT_STREAM):
            continue
        stripped = stripped.removeprefix("data:").strip()
        if stripped != "[DONE]":
            yield stripped


def _decoded(text: str) -> object:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return None


def inner(values: Iterable[object], key: str, deep: int = _DEEPEST) -> Iterator[Object]:
    """Yield objects that stand under `key`, at any depth up to a limit, in order."""
    for value in values:
        if isinstance(value, list) and deep:
            yield from inner(value, key, deep - 1)
        elif isinstance(value, dict):
            for name, part in value.items():
                if name == key and isinstance(part, dict):
                    yield part
                elif deep and isinstance(part, dict | list):
                    yield from inner([part], key, deep - 1)


def whole(values: Mapping[str, object], name: str) -> int | None:
    """Return a count, or None if it is not there.

    Raises
    ------
    DraftscopeError
        If it is no count.
    """
    value = values.get(name)
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST:
        raise DraftscopeError(
            f"{name} is {_short(value)}: a whole number from 0 to 10^15 is expected."
        )
    return value


def real(values: Mapping[str, object], name: str) -> float | None:
    """Return a figure, or None if it is not there.

    Raises
    ------
    DraftscopeError
        If it is no finite number from 0 on.
    """
    value = values.get(name)
    if value is None:
        return None
    number = float(value) if isinstance(value, int | float) and abs(value) <= MOST else math.nan
    if isinstance(value, bool) or not 0 <= number <= MOST:
        raise DraftscopeError(f"{name} is {_short(value)}: a number from 0 on is expected.")
    return number


def nanoseconds(values: Mapping[str, object], name: str, unit_ns: float) -> int | None:
    """Return a time in nanoseconds, or None if it is not there; raises as `real`."""
    value = real(values, name)
    if value is None:
        return None
    if value * unit_ns > 1e18:
        raise DraftscopeError(
            f"{name} is {_short(value)}: a time of less than 30 years is expected."
        )
    return round(value * unit_ns)


def word(values: Mapping[str, object], name: str) -> str:
    """Return a text, or "" if none is there."""
    value = values.get(name)
    return value if isinstance(value, str) else ""


def created(answer: Mapping[str, object]) -> str:
    """Return when an answer was made, of its seconds since 1970; "" if it does not say."""
    seconds = answer.get("created")
    if not isinstance(seconds, int) or not 0 < seconds < 1 << 33:
        return ""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def added(values: Iterable[int | None]) -> int | None:
    """Return a sum; None where a part of it is missing, or there are no parts."""
    total = parts = 0
    for value in values:
        if value is None:
            return None
        total, parts = total + value, parts + 1
    return total if parts else None


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "…"
