"""vLLM's statistics: what follows from them exactly, and what is not told."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import pytest

from app.importing.vllm_log import parse_line
from engine.errors import DraftscopeError
from engine.trace.imported_figures import imported_figures
from tests.app.importing.imports import end_of, imported, start_of, told_by
from tests.app.importing.texts import VLLM_LINE, VLLM_LOG, VLLM_METRICS, lines, vllm_record

if TYPE_CHECKING:
    from pathlib import Path


def printed(rounds: list[tuple[int, int]], k: int) -> str:
    """Return the line that vLLM prints of rounds of (drafted, accepted)."""
    drafted, accepted = (sum(column) for column in zip(*rounds, strict=True))
    kept = [sum(one > place for _, one in rounds) for place in range(k)]
    rates = ", ".join(f"{count / len(rounds):.3f}" for count in kept)
    return (
        f"SpecDecoding metrics: Mean acceptance length: {1 + accepted / len(rounds):.2f}, "
        f"Accepted throughput: 1.00 tokens/s, Drafted throughput: 1.00 tokens/s, "
        f"Accepted: {accepted} tokens, Drafted: {drafted} tokens, "
        f"Per-position acceptance rate: {rates}, "
        f"Avg Draft acceptance rate: {100 * accepted / drafted:.1f}%"
    )


def test_lines_of_a_log_are_added_up(tmp_path: Path) -> None:
    told = told_by(imported(tmp_path, VLLM_LOG))
    assert (told.program, told.drafted, told.accepted) == ("vLLM", 279 + 270, 146 + 180)
    assert [(step.drafts, step.drafted, step.accepted) for step in told.steps] == [
        (93, 279, 146),
        (90, 270, 180),
    ]
    assert told.accepted_by_position == (67 + 71, 47 + 60, 32 + 49)
    assert told.tested_by_position == (93 + 90, 67 + 71, 47 + 60)
    assert told.rejected == (93 - 32) + (90 - 49)
    assert told.accepted_lengths == (45, 31, 26, 81)
    assert {"rounds", "emitted", "decoding time", "seed", "temperature"} <= set(told.missing)


def test_a_number_of_drafts_that_is_taken_is_the_true_one() -> None:
    drawn = random.Random(7)
    taken = 0
    for _ in range(300):
        k, shorter = drawn.randint(1, 8), drawn.random() < 0.5
        rounds = []
        for _ in range(drawn.randint(1, 400)):
            drafted = drawn.randint(1, k) if shorter else k
            rounds.append((drafted, drawn.randint(0, drafted)))
        line = parse_line(printed(rounds, k), "here")
        assert line.drafted == sum(drafted for drafted, _ in rounds)
        if line.drafts is not None:
            taken += 1
            assert line.drafts == len(rounds)
            assert line.by_position is not None
            assert sum(line.by_position) == line.accepted
    assert taken > 100


def test_drafts_of_several_lengths_leave_the_tested_tokens_untold(tmp_path: Path) -> None:
    told = told_by(imported(tmp_path, printed([(3, 1), (2, 2), (3, 3), (1, 0)], 3)))
    assert told.drafts == 4
    assert told.rejected is None
    assert told.tested_by_position == ()
    assert "tested" in told.missing
    assert imported_figures(told).acceptance is None
    assert imported_figures(told).draft_yield == 6 / 9


def test_a_line_that_leaves_the_number_of_drafts_open_says_so(tmp_path: Path) -> None:
    rounds = [(3, place % 4) for place in range(40_000)]
    told = told_by(imported(tmp_path, printed(rounds, 3)))
    assert told.drafts is None
    assert imported_figures(told).tokens_per_draft is None
    assert [(one.name, one.value) for one in told.stated] == [("mean acceptance length", 2.5)]


def test_an_interval_without_drafts_divides_nothing(tmp_path: Path) -> None:
    line = VLLM_LINE.replace("Accepted: 146", "Accepted: 0").replace("Drafted: 279", "Drafted: 0")
    figures = imported_figures(told_by(imported(tmp_path, line)))
    assert (figures.drafted, figures.draft_yield, figures.acceptance) == (0, None, None)


def test_counters_of_metrics_are_read(tmp_path: Path) -> None:
    events = imported(tmp_path, VLLM_METRICS)
    told = told_by(events)
    assert (told.drafts, told.drafted, told.accepted, told.rejected) == (100, 300, 150, 80)
    assert told.tested_by_position == (100, 80, 50)
    assert start_of(events).target.name == "meta-llama/Llama-3.1-8B-Instruct"
    assert start_of(events).settings.k == 3
    assert end_of(events) is None


def test_two_engines_add_up_and_two_answers_do_not(tmp_path: Path) -> None:
    second = VLLM_METRICS.replace('engine="0"', 'engine="1"')
    assert told_by(imported(tmp_path, VLLM_METRICS + second)).drafts == 200
    with pytest.raises(DraftscopeError, match="twice for the same labels"):
        imported(tmp_path, VLLM_METRICS + VLLM_METRICS)


def test_the_list_of_get_metrics_is_read(tmp_path: Path) -> None:
    base = "vllm:spec_decode_num_"
    text = json.dumps(
        [
            {"name": f"{base}drafts", "labels": {"model_name": "m"}, "value": 10},
            {"name": f"{base}draft_tokens", "labels": {"model_name": "m"}, "value": 20},
            {"name": f"{base}accepted_tokens", "labels": {"model_name": "m"}, "value": 12},
            {"name": f"{base}accepted_tokens_per_pos", "labels": {}, "values": [8, 4]},
        ]
    )
    told = told_by(imported(tmp_path, text))
    assert (told.drafts, told.accepted_by_position, told.rejected) == (10, (8, 4), 6)


def test_records_of_single_rounds_tell_each_verdict(tmp_path: Path) -> None:
    records = [
        vllm_record(1, 3, [1, 1, 1]),
        vllm_record(1, 2, [1, 0, 0]),
        vllm_record(1, 3, [0, 0, 0]),
        vllm_record(0, 0, [0, 0, 0]),
    ]
    told = told_by(imported(tmp_path, lines(*records)))
    assert (told.drafts, told.drafted, told.accepted) == (3, 8, 4)
    assert (told.rejected, told.discarded) == (2, 2)
    assert told.accepted_lengths == (1, 1, 0, 1)
    assert told.rounds is None  # rounds without a draft are not counted
    assert told.steps[1].accepted == 1


def test_records_of_steps_with_several_requests_are_added_up(tmp_path: Path) -> None:
    records = [vllm_record(4, 8, [3, 2]), vllm_record(2, 4, [2, 1])]
    wrapped = [{"step": 1, "spec_decoding_stats": one} for one in records]
    for text in (lines(*records), json.dumps(records), lines(*wrapped)):
        told = told_by(imported(tmp_path, text))
        assert (told.drafts, told.drafted, told.accepted, told.rejected) == (6, 12, 8, 3)
        assert told.tested_by_position == (6, 5)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"num_accepted_tokens": 9}, "9 accepted of 8 drafted"),
        ({"num_draft_tokens": -1}, "a whole number from 0"),
        ({"num_draft_tokens": 2.5}, "a whole number from 0"),
        ({"num_draft_tokens": 10**40}, "a whole number from 0"),
        ({"num_drafts": "four"}, "a whole number from 0"),
        ({"num_accepted_tokens_per_pos": [3, 1]}, "by position"),
        ({"num_drafts": 100}, "contradicts itself"),
        ({"num_draft_tokens": None}, "lacks a count"),
    ],
)
def test_a_record_that_vllm_cannot_have_written_is_refused(
    tmp_path: Path, change: dict[str, object], sentence: str
) -> None:
    text = lines(vllm_record(4, 8, [3, 2]) | change)
    with pytest.raises(DraftscopeError, match=sentence):
        imported(tmp_path, text)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("Accepted: 146", "Accepted: many", "no 'Accepted: N tokens'"),
        ("Drafted: 279", "Drafted: 9", "146 accepted of 9 drafted"),
        ("Drafted: 279", "Drafted: 99999999999999999", "a whole number from 0"),
    ],
)
def test_a_line_that_vllm_cannot_have_printed_is_refused(
    tmp_path: Path, old: str, new: str, sentence: str
) -> None:
    with pytest.raises(DraftscopeError, match=sentence):
        imported(tmp_path, VLLM_LINE.replace(old, new))


def test_incomplete_metrics_are_refused(tmp_path: Path) -> None:
    text = "".join(line for line in VLLM_METRICS.splitlines(True) if "num_draft_tokens" not in line)
    with pytest.raises(DraftscopeError, match="lacks vllm:spec_decode_num_draft_tokens"):
        imported(tmp_path, text)
    with pytest.raises(DraftscopeError, match="no position from 0"):
        imported(tmp_path, VLLM_METRICS.replace('position="1"', 'position="99999999999"'))
    with pytest.raises(DraftscopeError, match="a whole number from 0"):
        imported(tmp_path, VLLM_METRICS.replace(" 300.0", " NaN"))
