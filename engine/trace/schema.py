"""The JSON Schema of a trace's lines, made from the records and from what is said beside them.

Knows the records and their source: a field's comment is its description. The published file is
what other programs read; `python -m engine.trace.schema` writes it anew.
"""

from __future__ import annotations

import inspect
import io
import re
import tokenize
from enum import Enum
from typing import Any, get_args

import msgspec

from engine.assets import asset
from engine.trace import events, imported, markers
from engine.trace.events import SCHEMA_VERSION, Event

DIALECT = "https://json-schema.org/draft/2020-12/schema"
NAME = f"trace-{SCHEMA_VERSION}.schema.json"
_BASE64 = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
_FIELD = re.compile(r"    (\w+): ")
_MEMBER = re.compile(r"    [A-Z_]+ = ")
# What the codec refuses below zero.
_LEAST = {
    "Round": ("index", "position", "k"),
    "RoundTimes": ("draft", "verify", "accept", "commit", "observe"),
    "PrefillFinished": ("ns",),
    "Probe": ("ns",),
    "ImportedStep": ("drafted", "accepted", "drafts", "emitted", "ns"),
    "Imported": (
        *("rounds", "drafts", "drafted", "accepted", "rejected", "discarded", "emitted"),
        *("decode_ns", "prefill_ns", "first_token_ns", "tokens_per_second", "prompt_tokens"),
    ),
}
_RECORDS = (events, markers, imported)
_WHAT = (
    "One line of a Draftscope trace: a file of JSON Lines in UTF-8, one event a line. The first "
    "line is a run_started whose `schema` names the version. A reader passes over kinds and fields "
    "that it does not know: both may be added without a new version. Token bytes are base64, "
    "times are nanoseconds, probabilities lie in [0, 1], a field at its default is left out."
)


def schema() -> dict[str, Any]:
    """Return the schema of one line of this version's traces."""
    kinds = get_args(Event)
    _, parts = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    for name, part in parts.items():
        _describe(part, next(vars(one)[name] for one in _RECORDS if name in vars(one)))
    _check_base64(parts)
    parts["RunStarted"]["properties"]["schema"]["const"] = SCHEMA_VERSION
    return {
        "$schema": DIALECT,
        "$id": f"urn:draftscope:trace:{SCHEMA_VERSION}",
        "title": f"Draftscope trace, version {SCHEMA_VERSION}",
        "description": _WHAT,
        "oneOf": [{"$ref": f"#/$defs/{kind.__name__}"} for kind in kinds],
        "$defs": dict(sorted(parts.items())),
    }


def written() -> bytes:
    """Return the schema as it is published."""
    return msgspec.json.format(msgspec.json.encode(schema()), indent=2) + b"\n"


def published() -> bytes:
    """Return the published schema.

    Raises
    ------
    DraftscopeError
        If the installation lacks it.
    """
    return asset("schema", NAME).read_bytes()


def _describe(part: dict[str, Any], kind: type[object]) -> None:
    """Say what a record and its fields are."""
    part["description"] = inspect.cleandoc(kind.__doc__ or "")
    if issubclass(kind, Enum):
        meanings = _comments(kind, _MEMBER)
        named = [f"{one.value}: {meanings[one.name]}" for one in kind if one.name in meanings]
        part["description"] = "\n".join([part["description"], *named])
        return
    said = _comments(kind, _FIELD)
    for name, field in part["properties"].items():
        if name in said:
            field["description"] = said[name]
    for name in _LEAST.get(part["title"], ()):
        part["properties"][name]["minimum"] = 0


def _comments(kind: type[object], begin: re.Pattern[str]) -> dict[str, str]:
    """Return what is said beside each field, or member, of a class."""
    found: dict[str, str] = {}
    for token in tokenize.generate_tokens(io.StringIO(inspect.getsource(kind)).readline):
        named = begin.match(token.line)
        if token.type == tokenize.COMMENT and named is not None:
            found[token.line.split()[0].rstrip(":")] = token.string.lstrip("# ")
    return found


def _check_base64(part: Any) -> None:
    """Let what is marked as base64 be checked as such."""
    if isinstance(part, dict):
        if part.get("contentEncoding") == "base64":
            part["pattern"] = _BASE64
        for inner in part.values():
            _check_base64(inner)
    elif isinstance(part, list):
        for inner in part:
            _check_base64(inner)


if __name__ == "__main__":
    asset("schema").joinpath(NAME).write_bytes(written())
