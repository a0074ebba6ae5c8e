"""What crosses from the engine to the window is frozen and plain: no tensor, nothing mutable."""

from __future__ import annotations

import dataclasses
import inspect as python_inspect
import re

import msgspec
import pytest

import app.messages
from app.viewmodels.gallery import SessionSummary
from app.viewmodels.portion import Portion
from engine.request import RunRequest
from engine.trace.events import Event

PLAIN = (
    msgspec.inspect.IntType,
    msgspec.inspect.FloatType,
    msgspec.inspect.StrType,
    msgspec.inspect.BytesType,
    msgspec.inspect.BoolType,
    msgspec.inspect.NoneType,
    msgspec.inspect.EnumType,
    msgspec.inspect.LiteralType,
)

REPLIES = [
    kind
    for _, kind in python_inspect.getmembers(app.messages, python_inspect.isclass)
    if issubclass(kind, app.messages.Reply)
]


def offences(kind: msgspec.inspect.Type, where: str, seen: set[type]) -> list[str]:
    """Name every place below `kind` where something is neither plain nor frozen."""
    if isinstance(kind, PLAIN):
        return []
    if isinstance(kind, msgspec.inspect.UnionType):
        return [name for part in kind.types for name in offences(part, where, seen)]
    if isinstance(kind, msgspec.inspect.VarTupleType):
        return offences(kind.item_type, where + "[]", seen)
    if isinstance(kind, msgspec.inspect.TupleType):
        return [name for part in kind.item_types for name in offences(part, where, seen)]
    if isinstance(kind, msgspec.inspect.StructType):
        if kind.cls in seen:
            return []
        seen.add(kind.cls)
        mutable = [] if kind.cls.__struct_config__.frozen else [f"{kind.cls.__name__} is mutable"]
        inner = [
            name
            for field in kind.fields
            for name in offences(field.type, f"{kind.cls.__name__}.{field.name}", seen)
        ]
        return mutable + inner
    return [f"{where}: {kind}"]


def test_only_frozen_plain_values_cross() -> None:
    assert offences(msgspec.inspect.type_info(Event), "", set()) == []
    assert RunRequest.__dataclass_params__.frozen  # type: ignore[attr-defined]  # dataclasses' own


def test_portions_of_a_session_are_frozen_and_plain() -> None:
    assert offences(msgspec.inspect.type_info(Portion), "", set()) == []


def test_summaries_of_sessions_are_frozen_and_plain() -> None:
    assert offences(msgspec.inspect.type_info(SessionSummary), "", set()) == []


def test_the_check_sees_lists_and_mutable_records() -> None:
    class Loose(msgspec.Struct):
        numbers: list[int]

    found = offences(msgspec.inspect.type_info(Loose), "", set())
    assert len(found) == 2


@pytest.mark.parametrize("kind", REPLIES, ids=lambda kind: kind.__name__)
def test_answers_of_workers_are_frozen_and_hold_plain_values(kind: type) -> None:
    assert dataclasses.is_dataclass(kind)
    assert kind.__dataclass_params__.frozen  # type: ignore[attr-defined]  # dataclasses' own
    written = " ".join(str(field.type) for field in dataclasses.fields(kind))
    words = set(re.findall(r"\w+", written))
    plain = {"int", "str", "bool", "None", "tuple", "Path"}
    assert words <= plain | {"Event", "ModelInfo", "Portion", "SessionSummary"}
