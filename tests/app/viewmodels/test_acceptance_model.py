"""The acceptance panel's numbers are the statistics' figures, named, with what they divide by."""

from __future__ import annotations

import numpy as np
import pytest

from app.viewmodels.acceptance import AcceptanceModel
from app.viewmodels.document import Document
from app.viewmodels.readings import DASH, How
from tests.app.rounds import RUN, make_round
from tests.traces import make_trace


def by_hand(*fates: str, **keywords) -> Document:
    document = Document()
    document.run = RUN
    document.extend([make_round(i, one, **keywords) for i, one in enumerate(fates)])
    return document


@pytest.mark.parametrize("drafter", ["model:tiny", "ngram", "head", "none"])
def test_a_curve_ends_in_the_figure(drafter):
    document = Document(make_trace(rounds=30, temperature=0.8, drafter=drafter))
    model = AcceptanceModel(document)
    for visible in (1, 2, 9, 10, 29, 30):
        model.update(visible)
        figure = document.figures_at(visible).acceptance
        last = model.cumulative[-1]
        assert len(model.cumulative) == len(model.rolling) == visible
        assert np.isnan(last) if figure is None else last == pytest.approx(figure, abs=1e-12)


def test_readings_are_the_figures_with_what_they_divide_by():
    model = AcceptanceModel(by_hand("aaa", "rdd", "ard"), visible=3)
    acceptance, draft_yield, per_pass, expected = model.readings
    assert (acceptance.text, acceptance.detail) == ("66.7", "4/6 tested")
    assert (draft_yield.text, draft_yield.detail) == ("44.4", "4/9 drafted")
    # Accepting 3, 0 and 1 of 3: (4 + 1 + 2) / 3.
    assert (per_pass.text, per_pass.detail) == ("2.33", "7/3 passes")
    a = 4 / 6
    assert expected.text == f"{(1 - a**4) / (1 - a):.2f}"
    assert [one.how for one in model.readings] == [How.MEASURED] * 3 + [How.DERIVED]


def test_a_cut_token_is_in_no_figure():
    whole = AcceptanceModel(by_hand("aaa", "aac"), visible=2)
    assert whole.readings[0].detail == "5/5 tested"
    assert whole.readings[1].detail == "5/5 drafted"


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (Document(), "no round yet"),
        (Document(make_trace(rounds=4, drafter="none", settings_changes=False)), "nothing drafted"),
        (by_hand("c"), "nothing tested"),
    ],
)
def test_without_a_figure_there_is_a_dash_and_a_reason(document, reason):
    model = AcceptanceModel(document, visible=99)
    assert model.readings[0].text == DASH
    assert model.readings[0].detail.startswith(reason)
    assert model.note.startswith(reason)
    assert model.positions.note == model.note
    assert not np.isfinite(model.cumulative).any()


def test_position_bars_carry_their_counts():
    document = by_hand("aaa", "rdd", "ard")
    model = AcceptanceModel(document, visible=3)
    assert [bar.counts for bar in model.positions.bars] == ["2/3", "1/2", "1/1"]
    assert [bar.share for bar in model.positions.bars] == [
        one.acceptance for one in document.figures_at(3).positions
    ]
    assert model.positions.reference == document.figures_at(3).acceptance


def test_length_bars_count_whole_drafted_rounds_and_keep_lengths_that_never_came():
    model = AcceptanceModel(by_hand("aaar", "rddd", "rddd", "aaac", ""), visible=5)
    assert [bar.label for bar in model.lengths.bars] == ["0", "1", "2", "3", "4"]
    assert [bar.value for bar in model.lengths.bars] == ["2", "0", "0", "1", "0"]


def test_only_rounds_shown_so_far_count():
    document = by_hand("aaa", "rdd", "rdd")
    assert AcceptanceModel(document, visible=1).readings[0].text == "100"
    assert AcceptanceModel(document, visible=2).readings[0].detail == "3/4 tested"


def test_a_repetitive_text_is_said_to_be_one():
    repeating = AcceptanceModel(by_hand(*["aaa"] * 12, token=3), visible=12)
    assert repeating.notice.startswith("Repetition")
    assert AcceptanceModel(by_hand("aaa"), visible=1).notice == ""


def test_the_readout_is_the_curve_at_a_round():
    model = AcceptanceModel(by_hand("", "ar", "aa"), visible=3)
    assert model.readout(0) == (DASH, DASH)
    assert model.readout(1) == ("50.0 %", "50.0 %")
    assert model.readout(2) == ("75.0 %", "75.0 %")
