"""How a run ended, in words; a run that ends at once is an end and no division by zero."""

from __future__ import annotations

import pytest

from app.export.html import render_html
from app.export.replay import build_replay
from app.viewmodels.acceptance import AcceptanceModel
from app.viewmodels.document import Document
from app.viewmodels.endings import ending
from app.viewmodels.presentation import Presentation
from app.viewmodels.strip import StripModel
from app.viewmodels.throughput import ThroughputModel
from engine.trace.events import Baseline, Comparison, FinishReason, RunFinished
from tests.app.export.looking import unpacked
from tests.app.texts import RUN, run_of

END = "<|im_end|>"
PLAIN_ROUND = Baseline(
    run=RUN, token_ids=(0,), text="", round_ns=(20_000_000,), prefill_ns=90_000_000
)
AT_ONCE = {
    "plain": run_of([END], end=END),
    "drafted": run_of([END, " never", " shown"], end=END),
    "compared": [*run_of([END], end=END), PLAIN_ROUND, Comparison(run=RUN, identical=True)],
}


def at_the_end(events):
    document = Document(events)
    presentation = Presentation(document)
    presentation.seek(10**6)
    return document, presentation


@pytest.mark.parametrize("reason", list(FinishReason))
def test_every_reason_has_a_sentence(reason):
    events = run_of(["a"])[:-1]
    assert ending(Document(events)) == ""
    events.append(RunFinished(run=RUN, reason=reason))
    sentence = ending(Document(events))
    assert sentence.startswith("The run ")
    assert sentence.endswith(".")


@pytest.mark.case("B27")
@pytest.mark.parametrize("how", AT_ONCE)
def test_an_end_token_at_once_is_said_by_window_and_page(how):
    document, presentation = at_the_end(AT_ONCE[how])
    strip = StripModel(document, presentation)
    strip.refresh()
    assert strip.notice.startswith("The run ended at once: its first token was an end token")
    assert strip.text() == ""
    assert [chip.fate for chip in strip.chips][1:] == ["cut"] * (len(strip.chips) - 1)
    assert build_replay(AT_ONCE[how]).ending.startswith(strip.notice)


@pytest.mark.case("B27")
@pytest.mark.parametrize("how", AT_ONCE)
def test_figures_of_a_run_that_ended_at_once_are_numbers_or_a_dash(how):
    document, presentation = at_the_end(AT_ONCE[how])
    throughput = ThroughputModel(document, presentation.visible_rounds())
    acceptance = AcceptanceModel(document, presentation.visible_rounds())
    told = [*throughput.readings, *throughput.small, *acceptance.readings]
    for reading in told:
        assert not {"nan", "inf"} & set(f"{reading.text} {reading.detail}".lower().split())
    (run,) = [one for one in told if one.name == "this run"]
    assert run.detail.startswith("1 token / ")
    assert "NaN" not in str(unpacked(render_html(AT_ONCE[how])))
    assert "NaN" not in str(build_replay(AT_ONCE[how]).readings)


def test_control_tokens_before_the_end_token_are_no_end_at_once():
    document, _ = at_the_end(run_of([" "], [END], end=END))
    assert ending(document) == "The run ended at an end token."
