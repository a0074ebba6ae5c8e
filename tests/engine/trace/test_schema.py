"""The published schema: it is the records', every line follows it, and a wrong line does not."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import jsonschema
import pytest

from engine.trace import codec, schema
from engine.trace.events import SCHEMA_VERSION, Event, FinishReason
from engine.trace.imported import Imported, ImportedStep, Stated
from engine.trace.markers import Marker, SessionNote
from engine.trace.reader import TraceReader
from tests.traces import make_trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DEMOS = Path(__file__).parents[3] / "assets" / "demos"


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json.loads(schema.published()))


def some_lines() -> Iterator[dict[str, Any]]:
    """Every kind of event, with every part that it can have."""
    traces: list[Iterable[Event]] = [
        make_trace(rounds=12, temperature=1.0, drafter="ngram"),
        make_trace(rounds=8, difference="tie"),
        make_trace(rounds=4, reason=FinishReason.ERROR, top_n=0),
        [
            Marker(run="a", id="m1", round=-1, slot=-1, title="t", note="n", pause=False),
            Marker(run="a", id="m1", round=2, phase="draft", removed=True),
            SessionNote(run="a", title="t", note="n"),
            Imported(run="a", program="p", form="f"),
            Imported(
                run="a",
                program="p",
                form="f",
                rounds=2,
                drafted=3,
                tested_by_position=(1,),
                accepted_by_position=(1,),
                steps=(ImportedStep(drafted=3, accepted=1, drafts=1, emitted=2, ns=5),),
                stated=(Stated(name="s", value=1.5, unit="s", meaning="m"),),
                missing=("seed",),
                notes=("n",),
            ),
        ],
    ]
    for trace in traces:
        yield from (json.loads(codec.encode(event)) for event in trace)


def test_published_schema_is_the_records_own() -> None:
    assert schema.published() == schema.written(), "run python -m engine.trace.schema"
    assert f"trace-{SCHEMA_VERSION}." in schema.NAME


def test_schema_is_one_of_the_dialect_that_it_names(
    validator: jsonschema.Draft202012Validator,
) -> None:
    assert validator.schema["$schema"] == validator.META_SCHEMA["$id"]
    validator.check_schema(validator.schema)
    kinds = [part["$ref"].rpartition("/")[2] for part in validator.schema["oneOf"]]
    assert kinds == [kind.__name__ for kind in get_args(Event)]


def test_every_kind_of_line_follows_it(validator: jsonschema.Draft202012Validator) -> None:
    seen = set()
    for line in some_lines():
        validator.validate(line)
        seen.add(line["type"])
    assert seen == codec.KINDS


@pytest.mark.parametrize("path", sorted(DEMOS.glob("*.jsonl*")), ids=lambda path: path.name)
def test_every_line_of_a_demo_follows_it(
    validator: jsonschema.Draft202012Validator, path: Path
) -> None:
    lines = TraceReader(path).plain.read_bytes().splitlines()
    assert lines
    for line in lines:
        validator.validate(json.loads(line))


def mutated(line: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a line without each thing that it needs, and with each part of another type."""
    needed = set(schema.schema()["$defs"][kind_name(line)]["required"])
    for name in line:
        wrong = copy.deepcopy(line)
        wrong[name] = {"wrong": True}
        yield f"{line['type']}.{name} of another type", wrong
        if name in needed:
            wrong = copy.deepcopy(line)
            del wrong[name]
            yield f"{line['type']} without {name}", wrong


def kind_name(line: dict[str, Any]) -> str:
    tags = {kind.__struct_config__.tag: kind.__name__ for kind in get_args(Event)}
    return str(tags[line["type"]])


def test_a_wrong_line_does_not_follow_it(validator: jsonschema.Draft202012Validator) -> None:
    one_of_each = {line["type"]: line for line in some_lines()}
    passed = [
        what
        for line in one_of_each.values()
        for what, wrong in mutated(line)
        if validator.is_valid(wrong)
    ]
    assert passed == []


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("drafted", 0, "fate"), "kept"),
        (("drafted", 0, "piece"), "not base64!"),
        (("drafted", 0, "q_draft"), "NaN"),
        (("drafted", 0, "id"), 1.5),
        (("times", "verify"), -1),
        (("index",), -1),
        (("closing", "kind"), "accepted"),
        (("target_cache", "peak"), None),
        (("texts", 0), None),
    ],
)
def test_a_wrong_part_does_not_follow_it(
    validator: jsonschema.Draft202012Validator, place: tuple[Any, ...], value: object
) -> None:
    line = next(line for line in some_lines() if line["type"] == "round")
    validator.validate(line)
    *path, last = place
    at = line
    for step in path:
        at = at[step]
    at[last] = value
    assert not validator.is_valid(line)


def test_a_field_of_a_later_draftscope_is_no_fault(
    validator: jsonschema.Draft202012Validator,
) -> None:
    for line in some_lines():
        validator.validate(line | {"later": [1]})


def test_every_record_says_what_it_is(validator: jsonschema.Draft202012Validator) -> None:
    parts = validator.schema["$defs"]
    assert [name for name, part in parts.items() if not part["description"]] == []
    u = parts["DraftedToken"]["properties"]["u"]
    assert u["description"] == "the uniform of the test; None if greedy or never tested"


def test_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    from app.cli.main import main

    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(schema.published())
