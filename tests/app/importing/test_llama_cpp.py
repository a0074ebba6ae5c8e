"""llama.cpp's timings: of answers, streams and logs; its share of a draft is no acceptance."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from engine.errors import DraftscopeError
from engine.trace.events import FinishReason
from engine.trace.imported_figures import imported_figures
from tests.app.importing.imports import end_of, imported, start_of, told_by
from tests.app.importing.texts import (
    LLAMA_CHAT,
    LLAMA_COMPLETION,
    LLAMA_SERVER_LOG,
    LLAMA_SPECULATIVE,
    LLAMA_TIMINGS,
    lines,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_an_answer_tells_yield_and_rate_and_no_acceptance(tmp_path: Path) -> None:
    events = imported(tmp_path, json.dumps(LLAMA_CHAT))
    told, figures = told_by(events), imported_figures(told_by(events))
    assert figures.draft_yield == 29 / 40
    assert figures.acceptance is None
    assert figures.tokens_per_pass is None
    assert figures.tokens_per_second == 20.0
    assert figures.stated_rate
    assert figures.ms_per_token == 50.0
    assert figures.prefill_ns == 1_236_400_000
    assert (told.prompt_tokens, told.text) == (68, "The sky is blue.")
    assert {"tested", "rejected", "rounds", "seed", "temperature"} <= set(told.missing)
    start, end = start_of(events), end_of(events)
    assert (start.target.name, start.started_at) == ("qwen3-8b", "2025-11-24T16:00:00+00:00")
    assert end is not None
    assert end.reason is FinishReason.LIMIT


def test_an_answer_of_completion_tells_its_settings(tmp_path: Path) -> None:
    events = imported(tmp_path, json.dumps(LLAMA_COMPLETION))
    start, told = start_of(events), told_by(events)
    assert (start.seed, start.settings.temperature, start.settings.k) == (42, 0.8, 16)
    assert (start.max_new_tokens, start.prompt) == (47, "the meaning of life is")
    assert {"seed", "temperature", "k", "limit", "prompt"}.isdisjoint(told.missing)


def test_a_random_seed_is_not_taken_for_one(tmp_path: Path) -> None:
    settings = {"generation_settings": {"seed": 4294967295, "n_predict": -1}}
    told = told_by(imported(tmp_path, json.dumps(LLAMA_COMPLETION | settings)))
    assert {"seed", "limit"} <= set(told.missing)


def test_the_last_timings_of_a_stream_hold_and_its_text_is_whole(tmp_path: Path) -> None:
    head = {"id": "c", "object": "chat.completion.chunk", "model": "m"}
    words = ["The ", "sky", "."]
    chunks = [
        head
        | {
            "choices": [{"delta": {"content": word}, "finish_reason": None}],
            "timings": LLAMA_TIMINGS | {"predicted_n": place, "draft_n": 4, "draft_n_accepted": 1},
        }
        for place, word in enumerate(words, start=1)
    ]
    chunks.append(
        head | {"choices": [{"delta": {}, "finish_reason": "stop"}], "timings": LLAMA_TIMINGS}
    )
    stream = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    for text in (stream, lines(*chunks)):
        told = told_by(imported(tmp_path, text))
        assert (told.drafted, told.accepted, told.emitted) == (40, 29, 47)
        assert told.text == "The sky."


def test_a_stream_of_completion_is_one_answer(tmp_path: Path) -> None:
    parts = [
        {"content": "to ", "stop": False},
        {"content": "find", "stop": False},
        LLAMA_COMPLETION | {"content": ""},
    ]
    told = told_by(imported(tmp_path, lines(*parts)))
    assert (told.text, told.emitted, told.form) == ("to find", 47, "an answer of its server")


def test_several_answers_are_added_up(tmp_path: Path) -> None:
    other = LLAMA_CHAT | {"id": "chatcmpl-2"}
    told = told_by(imported(tmp_path, lines(LLAMA_CHAT, other)))
    assert (told.drafted, told.accepted, told.emitted) == (80, 58, 94)
    assert told.decode_ns == 4_700_000_000
    assert (told.text, told.tokens_per_second) == ("", None)
    assert imported_figures(told).tokens_per_second == pytest.approx(20.0)
    assert len(told.steps) == 2


def test_an_answer_without_a_draft_tells_no_draft(tmp_path: Path) -> None:
    timings = {name: v for name, v in LLAMA_TIMINGS.items() if not name.startswith("draft")}
    told = told_by(imported(tmp_path, json.dumps(LLAMA_CHAT | {"timings": timings})))
    assert (told.drafted, told.accepted, told.steps) == (None, None, ())
    assert {"drafted", "accepted"} <= set(told.missing)


def test_requests_of_a_servers_log_are_added_up(tmp_path: Path) -> None:
    told = told_by(imported(tmp_path, LLAMA_SERVER_LOG))
    assert (told.drafted, told.accepted, told.emitted) == (48, 33, 48)
    assert (told.decode_ns, told.prefill_ns) == (1_161_860_000, 512_100_000)
    assert told.prompt_tokens == 20
    assert [step.accepted for step in told.steps] == [3, 30]
    assert [one.value for one in told.stated] == [14, 11, 48, 33]  # the last line of its drafter


def test_statistics_of_drafters_alone_are_told_in_their_words(tmp_path: Path) -> None:
    line = (
        "statistics ngram_simple: #calls = 15, #gen drafts = 5, #acc drafts = 5, "
        "#gen tokens = 187, #acc tokens = 73\n"
        "statistics draft: #calls = 10, #gen drafts = 10, #acc drafts = 10, #gen tokens = 110, "
        "#acc tokens = 98\n"
    )
    told = told_by(imported(tmp_path, line))
    assert (told.drafted, told.accepted, told.drafts) == (297, 171, None)
    assert told.stated[0].name == "ngram_simple: drafts generated"


def test_the_end_of_llama_speculative_is_read(tmp_path: Path) -> None:
    events = imported(tmp_path, LLAMA_SPECULATIVE)
    told = told_by(events)
    assert (told.drafted, told.accepted, told.emitted) == (180, 90, 130)
    assert (told.decode_ns, told.prefill_ns, told.prompt_tokens) == (2_600_000_000, 250_000_000, 5)
    assert imported_figures(told).tokens_per_second == pytest.approx(50.0)
    assert start_of(events).settings.k == 16


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"draft_n_accepted": 41}, "contradicts itself"),
        ({"draft_n": -3}, "a whole number from 0"),
        ({"predicted_ms": "fast"}, "a number from 0 on"),
        ({"predicted_ms": 1e300}, "a number from 0 on"),
        ({"predicted_ms": -1.0}, "a number from 0 on"),
        ({"prompt_n": True}, "a whole number from 0"),
    ],
)
def test_timings_that_cannot_be_are_refused(
    tmp_path: Path, change: dict[str, object], sentence: str
) -> None:
    text = json.dumps(LLAMA_CHAT | {"timings": LLAMA_TIMINGS | change})
    with pytest.raises(DraftscopeError, match=sentence):
        imported(tmp_path, text)


def test_a_log_with_more_accepted_than_drafted_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DraftscopeError, match="line 5: 30 accepted of 8 drafted"):
        imported(tmp_path, LLAMA_SERVER_LOG.replace("    3 accepted", "   30 accepted"))
