"""What panels say of a run that another program made: its counts, and a reason for each dash."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from app.viewmodels.acceptance import AcceptanceModel
from app.viewmodels.court import CourtModel
from app.viewmodels.desk import in_words, settings_in_words
from app.viewmodels.document import Document
from app.viewmodels.endings import ending
from app.viewmodels.presentation import Presentation
from app.viewmodels.readings import DASH, How
from app.viewmodels.run_words import caption_words, run_words
from app.viewmodels.strip import StripModel
from app.viewmodels.throughput import ThroughputModel
from app.viewmodels.timeline import TimelineModel
from engine.trace.statistics import statistics
from tests.app.importing.imports import imported
from tests.app.importing.texts import LLAMA_CHAT, LM_REST, PLAIN, VLLM_LOG
from tests.traces import make_trace

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = {
    "vLLM": VLLM_LOG,
    "llama.cpp": json.dumps(LLAMA_CHAT),
    "LM Studio": json.dumps(LM_REST),
    "my decoder": json.dumps(PLAIN),
}


def shown(tmp_path: Path, program: str) -> Document:
    return Document(imported(tmp_path, TEXTS[program]))


def texts(model: AcceptanceModel | ThroughputModel) -> dict[str, tuple[str, str]]:
    return {one.name: (one.text, one.detail) for one in model.readings}


def test_vllms_counts_are_read_with_what_they_divide_by(tmp_path: Path) -> None:
    model = AcceptanceModel(shown(tmp_path, "vLLM"))
    assert texts(model) == {
        "acceptance": ("76.2", "326/428 tested"),
        "draft yield": ("59.4", "326/549 drafted"),
        "tokens per pass": ("2.78", "1 + 326/183 passes with a draft"),
        "expected": (DASH, "needs the acceptance and every round's draft"),
    }
    assert {one.how for one in model.readings} == {How.IMPORTED}
    assert [bar.counts for bar in model.positions.bars] == ["138/183", "107/138", "81/107"]
    assert model.positions.reference == 326 / 428
    assert [bar.value for bar in model.lengths.bars] == ["45", "31", "26", "81"]
    assert model.notice.startswith("Imported from vLLM (2 log lines")


@pytest.mark.parametrize("program", ["llama.cpp", "LM Studio"])
def test_an_acceptance_that_was_not_told_is_a_dash_with_the_reason(
    tmp_path: Path, program: str
) -> None:
    model = AcceptanceModel(shown(tmp_path, program))
    text, reason = texts(model)["acceptance"]
    assert (text, reason) == (DASH, f"not told by {program}: which tokens were tested")
    assert texts(model)["draft yield"][0] != DASH
    assert model.positions.bars == ()
    assert model.lengths.bars == ()
    assert model.positions.note == f"not told by {program}"
    assert model.positions.reference is None
    assert "tested" in model.notice
    assert model.notice.count(f"{program} says: ") == (program == "LM Studio")


def test_rates_say_where_they_come_from(tmp_path: Path) -> None:
    stated = ThroughputModel(shown(tmp_path, "llama.cpp"))
    assert texts(stated)["this run"] == ("20.0", "as llama.cpp states it")
    assert stated.source == "50.0 ms a token, 1,236 ms of prefill, as llama.cpp measured."
    assert {one.text for one in stated.small} == {DASH}
    followed = ThroughputModel(shown(tmp_path, "my decoder"))
    assert texts(followed)["this run"] == ("69.2", "9 tokens / 0.13 s of decoding")
    untold = ThroughputModel(shown(tmp_path, "vLLM"))
    assert texts(untold)["this run"][0] == DASH
    assert untold.source == ""
    for model in (stated, followed, untold):
        assert texts(model)["speed-up"][0] == DASH
        assert texts(model)["plain target"][0] == DASH
        assert model.plain is None
        assert model.warning.startswith("Imported from ")
        assert "no times of rounds" in model.note
    assert len(followed.cumulative) == 5


def test_no_setting_is_said_that_was_not_told(tmp_path: Path) -> None:
    said = {name: settings_in_words(shown(tmp_path, name)) for name in TEXTS}
    assert said == {
        "vLLM": "k 3",
        "llama.cpp": "settings not recorded",
        "LM Studio": "settings not recorded",
        "my decoder": "k 3, temperature 0.7",
    }


def test_the_status_names_the_program_and_the_models_that_were_told(tmp_path: Path) -> None:
    assert in_words(shown(tmp_path, "vLLM")) == "models not recorded · imported from vLLM"
    assert in_words(shown(tmp_path, "llama.cpp")) == (
        "qwen3-8b · imported from llama.cpp · the limit was reached"
    )
    assert in_words(shown(tmp_path, "my decoder")) == (
        "big with small · imported from my decoder · the limit was reached"
    )


def test_the_text_is_there_without_tokens(tmp_path: Path) -> None:
    document = shown(tmp_path, "LM Studio")
    model = StripModel(document, Presentation(document))
    model.refresh()
    assert len(model.chips) == 0
    assert model.plain_text == model.text() == "Greetings, I'm a helpful AI."
    assert model.notice == (
        "Imported from LM Studio: it tells counts, not tokens and their verdicts. The run ended at "
        "an end token."
    )
    assert CourtModel(document, Presentation(document)).empty == (
        "LM Studio tells no verdicts of tokens."
    )
    assert TimelineModel(document).empty == "LM Studio tells no times of phases"
    assert ending(document) == "The run ended at an end token."  # and not at its first token
    without = shown(tmp_path, "vLLM")
    assert StripModel(without, Presentation(without)).plain_text == ""


@pytest.mark.parametrize("program", TEXTS)
def test_figures_of_rounds_stay_empty_and_both_ways_to_them_agree(
    tmp_path: Path, program: str
) -> None:
    events = imported(tmp_path, TEXTS[program])
    figures = statistics(events)
    assert (figures.rounds, figures.acceptance, figures.tokens_per_second) == (0, None, None)
    assert figures.imported is not None
    assert Document(events).figures_at(0) == figures


def test_a_run_of_our_own_says_nothing_of_an_import() -> None:
    document = Document(make_trace(rounds=4, k=3))
    assert document.figures_at(4).imported is None
    assert "mported" not in AcceptanceModel(document, 4).notice
    assert ThroughputModel(document, 4).warning == ""


def test_rounds_that_were_told_have_their_curves(tmp_path: Path) -> None:
    rounds = [{"drafted": 3, "accepted": n, "emitted": n + 1, "ns": 10**7} for n in (3, 1, 0)]
    plain = {"format": "draftscope-plain", "version": 1, "program": "p", "rounds": rounds}
    document = Document(imported(tmp_path, json.dumps(plain)))
    acceptance, rate = AcceptanceModel(document), ThroughputModel(document)
    assert list(acceptance.cumulative) == [3 / 3, 4 / 5, 4 / 6]
    assert list(rate.cumulative) == pytest.approx([400.0, 300.0, 7 / 0.03])
    assert acceptance.cumulative[-1] == document.figures_at(0).imported.acceptance  # type: ignore[union-attr]  # it is one
    assert texts(rate)["this run"][0] == "233"
    assert rate.top > 400


@pytest.mark.parametrize("program", ["vLLM", "llama.cpp", "LM Studio"])
def test_intervals_and_answers_are_no_rounds_and_have_no_curve(
    tmp_path: Path, program: str
) -> None:
    document = shown(tmp_path, program)
    assert len(document.imported.steps) > 0  # type: ignore[union-attr]  # it is imported
    assert len(AcceptanceModel(document).cumulative) == 0
    assert len(ThroughputModel(document).cumulative) == 0


def test_a_picture_says_nothing_that_was_not_told(tmp_path: Path) -> None:
    words = run_words(shown(tmp_path, "vLLM"))
    assert (words.settings, words.seed, words.day) == ("k 3", "", "")
    assert run_words(shown(tmp_path, "my decoder")).seed == "seed 7"
    caption = caption_words(shown(tmp_path, "llama.cpp"), "acceptance", 0)
    assert caption.startswith("qwen3-8b; settings not recorded; 2025-11-24; Draftscope ")
    assert "round of" not in caption
    assert "Acceptance (imported): Accepted / tested." in caption


def test_readings_of_every_run_have_the_same_names_in_the_same_order(tmp_path: Path) -> None:
    # summaries of several runs set them side by side
    own = Document(make_trace(rounds=4, k=3))
    for program in TEXTS:
        document = shown(tmp_path, program)
        for kind in (AcceptanceModel, ThroughputModel):
            assert [one.name for one in kind(document).readings] == [
                one.name for one in kind(own, 4).readings
            ]
        small = [one.name for one in ThroughputModel(document).small]
        assert small == [one.name for one in ThroughputModel(own, 4).small]
