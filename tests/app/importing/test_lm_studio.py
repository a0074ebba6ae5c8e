"""LM Studio's statistics in each spelling; its rejected tokens are more than the glossary's."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from engine.errors import DraftscopeError
from engine.trace.events import FinishReason
from engine.trace.imported_figures import imported_figures
from tests.app.importing.imports import end_of, imported, start_of, told_by
from tests.app.importing.texts import LM_REST, LM_SDK, lines

if TYPE_CHECKING:
    from pathlib import Path


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def test_an_answer_of_the_rest_api_is_read(tmp_path: Path) -> None:
    events = imported(tmp_path, json.dumps(LM_REST))
    told = told_by(events)
    assert (told.program, told.drafted, told.accepted, told.emitted) == ("LM Studio", 60, 41, 53)
    assert (told.prompt_tokens, told.first_token_ns) == (24, 111_000_000)
    assert told.text == "Greetings, I'm a helpful AI."
    assert imported_figures(told).tokens_per_second == pytest.approx(51.437, abs=0.001)
    start, end = start_of(events), end_of(events)
    assert start.target.name == "deepseek-r1-distill-qwen-7b"
    assert start.drafter is not None
    assert start.drafter.name == "deepseek-r1-distill-qwen-0.5b"
    assert end is not None
    assert end.reason is FinishReason.END_TOKEN


def test_there_is_no_acceptance_for_which_were_tested_is_not_told(tmp_path: Path) -> None:
    told = told_by(imported(tmp_path, json.dumps(LM_REST)))
    figures = imported_figures(told)
    assert figures.acceptance is None
    assert (figures.rejected, figures.discarded) == (None, None)
    assert figures.draft_yield == 41 / 60
    assert {one.name: one.value for one in told.stated} == {
        "rejected": 17.0,
        "ignored": 2.0,
        "generation time": 0.954,
    }


@pytest.mark.parametrize("spelling", [str, snake], ids=["TypeScript", "Python"])
@pytest.mark.parametrize("wrapped", [True, False])
def test_statistics_of_both_sdks_are_read(tmp_path: Path, spelling: object, wrapped: bool) -> None:
    assert callable(spelling)
    stats = {spelling(name): value for name, value in LM_SDK.items()}
    value = {"content": "a text", "stats": stats} if wrapped else stats
    events = imported(tmp_path, json.dumps(value))
    told, end = told_by(events), end_of(events)
    assert (told.drafted, told.accepted, told.emitted) == (90, 41, 100)
    assert told.text == ("a text" if wrapped else "")
    assert start_of(events).drafter is not None
    assert end is not None
    assert end.reason is FinishReason.LIMIT


def test_several_predictions_are_added_up(tmp_path: Path) -> None:
    told = told_by(imported(tmp_path, lines(LM_SDK, LM_SDK)))
    assert (told.drafted, told.accepted, told.emitted) == (180, 82, 200)
    assert told.tokens_per_second is None


def test_an_answer_without_a_draft_tells_its_rate(tmp_path: Path) -> None:
    stats = {"tokens_per_second": 51.4, "time_to_first_token": 0.1, "stop_reason": "failed"}
    events = imported(tmp_path, json.dumps(LM_REST | {"stats": stats}))
    told, end = told_by(events), end_of(events)
    assert (told.drafted, told.tokens_per_second) == (None, 51.4)
    assert end is not None
    assert (end.reason, bool(end.message)) == (FinishReason.ERROR, True)


def test_an_answer_in_the_api_of_others_is_not_taken_for_one(tmp_path: Path) -> None:
    other = {name: value for name, value in LM_REST.items() if name != "stats"}
    with pytest.raises(DraftscopeError, match="holds no statistics that can be imported"):
        imported(tmp_path, json.dumps(other | {"usage": {"prompt_eval": 3}}))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"acceptedDraftTokensCount": 91}, "come to 140 of 90"),
        ({"ignoredDraftTokensCount": 3}, "come to 93 of 90"),
        ({"totalDraftTokensCount": -1}, "a whole number from 0"),
        ({"tokensPerSecond": -1}, "a number from 0 on"),
        ({"timeToFirstTokenSec": 1e12}, "less than 30 years"),
    ],
)
def test_statistics_that_cannot_be_are_refused(
    tmp_path: Path, change: dict[str, object], sentence: str
) -> None:
    with pytest.raises(DraftscopeError, match=sentence):
        imported(tmp_path, json.dumps(LM_SDK | change))
