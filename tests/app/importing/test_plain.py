"""The plain JSON: its published schema is what is read, and figures follow from rounds by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import jsonschema
import pytest

from app.assets import asset_path
from app.importing.plain import SCHEMA_ID, schema
from engine.errors import DraftscopeError
from engine.trace.imported_figures import imported_figures
from tests.app.importing.imports import imported, start_of, told_by
from tests.app.importing.texts import PLAIN

if TYPE_CHECKING:
    from pathlib import Path

HEAD = {"format": "draftscope-plain", "version": 1, "program": "p"}
SOUND = [
    PLAIN,
    HEAD | {"totals": {"drafted": 4, "accepted": 3, "rejected": 1, "discarded": 0, "drafts": 2}},
    HEAD | {"totals": {"emitted": 5, "decode_ns": 10}, "date": "2026-11-30", "notes": "n"},
    HEAD | {"rounds": [{"drafted": 0, "accepted": 0}], "k": None, "ended": ""},
]
WRONG: list[dict[str, object]] = [
    {"format": "draftscope-plain", "version": 1},
    HEAD | {"version": 2},
    HEAD | {"program": ""},
    HEAD | {"surprise": 1},
    HEAD | {"rounds": [{"drafted": 1}]},
    HEAD | {"rounds": [{"drafted": 1, "accepted": 1, "kept": 1}]},
    HEAD | {"rounds": [{"drafted": "1", "accepted": 1}]},
    HEAD | {"rounds": [{"drafted": -1, "accepted": 0}]},
    HEAD | {"totals": {"drafted": 10**16}},
    HEAD | {"temperature": -0.5, "totals": {"drafted": 1}},
    HEAD | {"date": "yesterday", "totals": {"drafted": 1}},
    HEAD | {"ended": "well", "totals": {"drafted": 1}},
]


def test_the_published_schema_is_the_readers() -> None:
    published = json.loads(asset_path(f"schema/{SCHEMA_ID}").read_text("utf-8"))
    assert published == schema()
    jsonschema.Draft202012Validator.check_schema(published)


@pytest.mark.parametrize("value", SOUND)
def test_what_the_schema_allows_is_read(tmp_path: Path, value: dict[str, object]) -> None:
    jsonschema.validate(value, schema())
    assert told_by(imported(tmp_path, json.dumps(value))).program == value["program"]


@pytest.mark.parametrize("value", WRONG)
def test_what_the_schema_refuses_is_refused(tmp_path: Path, value: dict[str, object]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(value, schema())
    with pytest.raises(DraftscopeError, match=SCHEMA_ID):
        imported(tmp_path, json.dumps(value))


def test_figures_follow_from_rounds_by_hand(tmp_path: Path) -> None:
    events = imported(tmp_path, json.dumps(PLAIN))
    told = told_by(events)
    figures = imported_figures(told)
    # drafted 3 3 3 0 3, of the last one 2 cut: 10; accepted 3 1 0 0 1; two rejections; 1 + 2 after
    assert (told.drafted, told.accepted, told.rejected, told.discarded) == (10, 5, 2, 3)
    assert (told.rounds, told.drafts, told.emitted) == (5, 4, 9)
    assert figures.acceptance == 5 / 7
    assert figures.draft_yield == 5 / 10
    assert figures.tokens_per_pass == 9 / 5
    assert figures.tokens_per_second == pytest.approx(9 / 0.130)
    assert told.tested_by_position == (4, 2, 1)
    assert told.accepted_by_position == (3, 1, 1)
    assert told.accepted_lengths == (1, 1, 0, 1)  # without the cut round
    start = start_of(events)
    assert (start.settings.k, start.settings.temperature, start.seed) == (3, 0.7, 7)


def test_a_time_that_one_round_lacks_is_missing_in_the_sum(tmp_path: Path) -> None:
    rounds = [{"drafted": 2, "accepted": 2, "ns": 5}, {"drafted": 2, "accepted": 1}]
    told = told_by(imported(tmp_path, json.dumps(HEAD | {"rounds": rounds})))
    assert (told.decode_ns, told.emitted) == (None, None)
    assert {"decoding time", "emitted"} <= set(told.missing)
    assert imported_figures(told).tokens_per_second is None
    assert imported_figures(told).tokens_per_draft == 5 / 2


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({"rounds": [{"drafted": 2, "accepted": 2, "cut": 1}]}, "round 1: 2 accepted and 1 cut"),
        ({"rounds": [{"drafted": 2, "accepted": 1, "emitted": 3}]}, "round 1: 3 emitted"),
        ({"rounds": [{"drafted": 1, "accepted": 1}], "totals": {"drafted": 1}}, "both rounds and"),
        ({"totals": {"drafted": 4, "accepted": 5}}, "contradicts itself"),
        ({"totals": {"drafted": 4, "accepted": 2, "rejected": 1, "discarded": 0}}, "contradicts"),
        ({"totals": {"drafted": 9, "drafts": 2, "rejected": 3, "accepted": 1}}, "contradicts"),
        ({}, "nothing to show"),
    ],
)
def test_counts_that_contradict_each_other_are_refused(
    tmp_path: Path, value: dict[str, object], sentence: str
) -> None:
    with pytest.raises(DraftscopeError, match=sentence):
        imported(tmp_path, json.dumps(HEAD | value))
