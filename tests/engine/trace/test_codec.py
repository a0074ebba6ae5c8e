from __future__ import annotations

import json
import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.trace import codec
from engine.trace.events import (
    Baseline,
    Comparison,
    Difference,
    Event,
    FinishReason,
    Probe,
    Round,
    RunFinished,
    RunStarted,
)
from tests.traces import make_trace


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def _first_round(events: list[Event]) -> Round:
    return next(event for event in events if isinstance(event, Round))


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("drafter", ["model:tiny-drafter", "ngram"])
def test_each_event_comes_back_as_it_was(temperature: float, drafter: str) -> None:
    for event in make_trace(temperature=temperature, drafter=drafter, difference="tie"):
        line = codec.encode(event)
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1
        assert b"\r" not in line
        assert codec.decode(line) == event
        assert codec.decode(line[:-1]) == event


@given(st.binary(max_size=12), st.text(st.characters(exclude_categories=["Cs"]), max_size=12))
def test_any_bytes_and_any_text_come_back(piece: bytes, text: str) -> None:
    events = make_trace(rounds=1, k=0)
    one = _first_round(events)
    assert one.closing is not None
    closing = msgspec.structs.replace(one.closing, piece=piece)
    changed = msgspec.structs.replace(one, closing=closing, texts=(text,))
    line = codec.encode(changed)
    assert line.count(b"\n") == 1
    assert codec.decode(line) == changed


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_finite_numbers_come_back_exactly(value: float) -> None:
    difference = Difference(position=0, speculative_id=1, plain_id=None, plain_logit=value)
    event = Comparison(run="a", identical=False, first_difference=difference)
    assert codec.decode(codec.encode(event)) == event


@pytest.mark.case("E01")
def test_lines_are_strict_json() -> None:
    for event in make_trace(temperature=1.0):
        parsed = json.loads(codec.encode(event), parse_constant=_refuse)
        assert parsed["run"] == event.run


@pytest.mark.case("E01")
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_is_never_written(value: float) -> None:
    one = _first_round(make_trace(temperature=1.0))
    token = one.drafted[1]
    assert token.laws is not None
    row = (*token.laws.p_raw[:-1], value)
    spoilt: list[tuple[Any, str]] = [
        (msgspec.structs.replace(token, u=value), r"drafted\[1\]\.u"),
        (msgspec.structs.replace(token, q_draft=value), r"drafted\[1\]\.q_draft"),
        (
            msgspec.structs.replace(token, laws=msgspec.structs.replace(token.laws, p_raw=row)),
            rf"drafted\[1\]\.laws\.p_raw\[{len(row) - 1}\]",
        ),
    ]
    for changed, place in spoilt:
        drafted = (one.drafted[0], changed, *one.drafted[2:])
        with pytest.raises(codec.NotFiniteError, match=place):
            codec.encode(msgspec.structs.replace(one, drafted=drafted))


def test_none_and_the_word_null_are_no_fault() -> None:
    event = RunFinished(run="a", reason=FinishReason.LIMIT, tail="null")
    assert codec.decode(codec.encode(event)) == event


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\x00\x00\x00",
        b"null",
        b"[]",
        b'{"type":"round"}',
        b'{"type":"unheard_of","run":"a"}',
        b'{"type":"probe","run":"a","after_round":0,"context_length":4,"ns":NaN}',
        b'{"type":"probe","run":"a","after_round":0,"context_length":4,"ns":-1}',
        b'{"type":"probe","run":"a","after_round":0,"context_length":4,"ns":' + b"9" * 40 + b"}",
        b'{"type":"probe","run":"\xff","after_round":0,"context_length":4,"ns":1}',
        b'{"type":"probe","run":"a","after_round":0,"context_length":4,"ns":1} {}',
        b'{"x":' * 50_000,
    ],
)
def test_what_is_no_event_is_refused(line: bytes) -> None:
    with pytest.raises(codec.LineError):
        codec.decode(line)


def test_parts_that_do_not_fit_together_are_refused() -> None:
    one = _first_round(make_trace(temperature=1.0))
    token = one.drafted[0]
    assert token.laws is not None
    short = msgspec.structs.replace(token.laws, p_raw=token.laws.p_raw[1:])
    cache = msgspec.structs.replace(one.target_cache, page_size=0)
    for changes in (
        {"texts": (*one.texts, "surplus")},
        {"drafted": (msgspec.structs.replace(token, laws=short), *one.drafted[1:])},
        {"target_cache": cache},
        {"index": -1},
        {"times": msgspec.structs.replace(one.times, draft=-5)},
    ):
        with pytest.raises(codec.LineError):
            codec.decode(codec.encode(msgspec.structs.replace(one, **changes)))
    plain = Baseline(run="a", token_ids=(1, 2), text="", round_ns=(5,), prefill_ns=1)
    with pytest.raises(codec.LineError):
        codec.decode(codec.encode(plain))


def test_a_header_of_another_version_names_it_and_its_writer() -> None:
    started = make_trace()[0]
    assert isinstance(started, RunStarted)
    codec.check_header(codec.encode(started))
    for schema, shown in ((b"0", 0), (b'"0.9"', "0.9"), (b"null", None), (b"true", True)):
        line = codec.encode(started).replace(b'"schema":1', b'"schema":' + schema)
        with pytest.raises(codec.VersionError) as caught:
            codec.check_header(line)
        assert caught.value.schema == shown
        assert caught.value.written_by == started.version
    with pytest.raises(codec.LineError):
        codec.check_header(codec.encode(Probe(run="a", after_round=0, context_length=1, ns=1)))
