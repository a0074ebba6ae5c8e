"""A check of an imported trace finds what its counts contradict, and nothing in sound ones."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from engine.check.trace import check_trace
from engine.trace import codec
from engine.trace.events import Event, RunStarted, Settings
from engine.trace.imported import Imported, ImportedStep
from tests.app.importing.imports import imported
from tests.app.importing.texts import (
    LLAMA_CHAT,
    LLAMA_SPECULATIVE,
    LM_REST,
    PLAIN,
    VLLM_LOG,
)
from tests.traces import make_trace

if TYPE_CHECKING:
    from pathlib import Path

SOUND = [VLLM_LOG, LLAMA_SPECULATIVE, *map(json.dumps, (LLAMA_CHAT, LM_REST, PLAIN))]


def changed(events: list[Event], **changes: Any) -> list[Event]:
    return [
        msgspec.structs.replace(event, **changes) if isinstance(event, Imported) else event
        for event in events
    ]


@pytest.mark.parametrize("text", SOUND, ids=["vllm", "speculative", "llama", "lm", "plain"])
def test_what_was_imported_follows_and_survives_the_file(tmp_path: Path, text: str) -> None:
    events = imported(tmp_path, text)
    report = check_trace(codec.decode(codec.encode(event)) for event in events)
    assert report.findings == ()
    assert (report.rounds, report.imported != "") == (0, True)


@pytest.mark.parametrize(
    "changes",
    [
        {"accepted": 600},
        {"rejected": 200},
        {"discarded": 0},
        {"drafts": 600},
        {"rounds": 3},
        {"accepted_by_position": (81, 107, 138)},
        {"tested_by_position": (183, 138, 106)},
        {"accepted_lengths": (45, 31, 26, 90)},
        {"steps": (ImportedStep(drafted=1, accepted=1),)},
        {"steps": (ImportedStep(drafted=300, accepted=326), ImportedStep(drafted=249, accepted=0))},
        {"emitted": 3},  # named as missing
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_counts_that_contradict_each_other_are_found(
    tmp_path: Path, changes: dict[str, object]
) -> None:
    events = changed(imported(tmp_path, VLLM_LOG), **changes)
    assert check_trace(events).findings


def test_a_prompt_that_is_named_as_missing_is_found(tmp_path: Path) -> None:
    events = imported(tmp_path, VLLM_LOG)
    events[0] = msgspec.structs.replace(events[0], prompt="there all the same")
    (found,) = check_trace(events).findings
    assert found.what == "prompt, named as missing"


def test_settings_beyond_our_own_bounds_are_another_programs(tmp_path: Path) -> None:
    events = imported(tmp_path, VLLM_LOG)
    assert isinstance(events[0], RunStarted)
    wide = Settings(drafter="imported", k=64, temperature=0.0)
    events[0] = msgspec.structs.replace(events[0], settings=wide)
    assert check_trace(events).findings == ()
    own = make_trace(rounds=1, k=3)
    own[0] = msgspec.structs.replace(own[0], settings=wide)
    assert any(found.what == "k" for found in check_trace(own).findings)
    assert any(found.what == "k" for found in check_trace(own[:1]).findings)


def test_imported_counts_do_not_stand_beside_rounds(tmp_path: Path) -> None:
    told = imported(tmp_path, VLLM_LOG)[1]
    own = make_trace(rounds=2, k=3)
    own.insert(3, msgspec.structs.replace(told, run=own[0].run))
    assert any("beside imported" in found.what for found in check_trace(own).findings)


@pytest.mark.parametrize(
    "changes",
    [
        {"accepted": -1},
        {"decode_ns": 10**19},
        {"tested_by_position": (1,)},
        {"tokens_per_second": -2.0},
        {"steps": (ImportedStep(drafted=-1, accepted=0),)},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_line_that_no_reader_could_work_with_is_refused(
    tmp_path: Path, changes: dict[str, object]
) -> None:
    told = changed(imported(tmp_path, VLLM_LOG), **changes)[1]
    with pytest.raises(codec.LineError):
        codec.decode(msgspec.json.encode(told))
