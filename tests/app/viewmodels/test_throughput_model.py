"""The throughput panel's numbers are measured ones, and say so; what is not measured is a dash."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from app.viewmodels.document import Document
from app.viewmodels.readings import DASH, DISTURBED, How
from app.viewmodels.throughput import NO_PLAIN, ThroughputModel, nice_top
from engine.trace.events import Round
from tests.app.rounds import RUN, make_probe, make_round
from tests.traces import make_trace


@pytest.mark.parametrize("drafter", ["model:tiny", "none"])
def test_a_curve_ends_in_the_figure(drafter):
    document = Document(make_trace(rounds=30, temperature=0.8, drafter=drafter))
    model = ThroughputModel(document)
    for visible in (1, 2, 10, 30):
        model.update(visible)
        figure = document.figures_at(visible).tokens_per_second
        assert model.cumulative[-1] == pytest.approx(figure)
        assert len(model.rolling) == visible


def test_before_a_plain_round_there_is_no_speedup_but_a_reason():
    document = Document(make_trace(rounds=5, probe_every=0, baseline=False))
    model = ThroughputModel(document, visible=5)
    speedup, run, plain = model.readings
    assert (speedup.text, speedup.detail) == (DASH, NO_PLAIN)
    assert (plain.text, plain.detail) == (DASH, NO_PLAIN)
    assert run.known
    assert model.plain is None
    assert [one.text for one in model.small[1:]] == [DASH, DASH]


def test_an_empty_run_shows_no_figure_at_all():
    model = ThroughputModel(Document())
    assert not any(one.known for one in (*model.readings, *model.small))
    assert all(one.detail for one in (*model.readings, *model.small))
    assert model.top > 0


def test_speedup_is_this_run_over_the_plain_target_with_its_interval():
    document = Document(make_trace(rounds=30, temperature=0.8))
    figures = document.figures_at(29)
    speedup, run, plain = ThroughputModel(document, visible=29).readings
    assert speedup.text == f"{figures.speedup:.2f}×"
    assert f"{figures.speedup_low:.2f}–{figures.speedup_high:.2f}" in speedup.detail
    assert run.text == f"{figures.tokens_per_second:.1f}"
    assert plain.text == f"{figures.plain.tokens_per_second:.1f}"
    assert f"{figures.probes.samples} probes" in plain.detail
    assert {one.how for one in (speedup, run, plain)} == {How.MEASURED}


def test_the_baseline_is_named_beside_the_probes_from_the_start_of_a_replay():
    document = Document(make_trace(rounds=30, temperature=0.8))
    for visible in (29, 30):
        assert "baseline" in ThroughputModel(document, visible=visible).readings[2].detail
    document = Document(make_trace(rounds=30, temperature=0.8, baseline=False))
    assert "baseline" not in ThroughputModel(document, visible=30).readings[2].detail


def test_without_probes_the_baseline_is_the_plain_target():
    document = Document(make_trace(rounds=10, probe_every=0))
    assert "baseline rounds" in ThroughputModel(document, visible=10).readings[2].detail


def test_a_plain_run_measured_by_itself_gives_no_verdict():
    # nothing is painted then, as it is during the rounds: the two conditions differ
    model = ThroughputModel(Document(make_trace(rounds=10, probe_every=0)), visible=10)
    assert "by itself" in model.source
    assert "plain. " not in model.source


@pytest.mark.parametrize("paced", [True, False])
def test_a_paced_run_says_where_its_rates_come_from(paced):
    document = Document(make_trace(rounds=6, temperature=0.8, paced=paced))
    model = ThroughputModel(document, visible=6)
    assert "summed round times" in model.source
    assert ("Paced" in model.source) is paced
    assert ("paced" in model.readings[1].detail) is paced


def test_a_run_beside_a_training_is_marked_from_the_first_such_round_on():
    events = make_trace(rounds=6)
    events = [
        replace(event, disturbed=True) if isinstance(event, Round) and event.index == 3 else event
        for event in events
    ]
    document = Document(events)
    shown = [ThroughputModel(document, visible=visible) for visible in range(1, 7)]
    assert [model.warning for model in shown] == ["", "", "", DISTURBED, DISTURBED, DISTURBED]
    assert [DISTURBED in model.readings[1].definition for model in shown] == [False] * 3 + [
        True
    ] * 3


def test_whether_the_drafter_pays_is_said_only_where_the_interval_is_clear():
    """Plain rounds of 10 and 40 ms: a round of 25 ms with one token may be faster or slower."""
    document = Document()
    document.run = RUN
    for index, plain_ns in enumerate([10_000_000, 40_000_000, 10_000_000]):
        document.extend([make_round(index, "r", verify_ns=25_000_000)])
        document.extend([make_probe(index, plain_ns)])
    model = ThroughputModel(document, visible=3)
    assert model.readings[0].known
    assert "than plain" not in model.source


@pytest.mark.parametrize("k", [3, 5, 10])
def test_slower_than_plain_is_measured_predicted_and_flagged(k):
    """Acceptance 0.4, c 0.3: neither k pays."""
    plain_ns = 20_000_000
    fates = ["ar" + "d" * (k - 2), "ar" + "d" * (k - 2), "r" + "d" * (k - 1)]
    draft_ns = round(0.3 * plain_ns * k)
    document = Document()
    document.run = RUN
    for index, one in enumerate(fates):
        document.extend([make_round(index, one, draft_ns=draft_ns, verify_ns=plain_ns)])
        document.extend([make_probe(index, plain_ns)])
    model = ThroughputModel(document, visible=3)
    a, c = 0.4, 0.3
    predicted = (1 - a ** (k + 1)) / ((1 - a) * (c * k + 1))
    assert predicted < 1
    assert model.small[2].text == f"{predicted:.2f}×"
    assert model.small[2].how is How.PREDICTED
    assert model.small[2].detail == "below 1: slower than plain"
    assert model.readings[0].text == f"{(5 / 3) / (0.3 * k + 1):.2f}×"
    assert model.source.startswith("Slower than plain.")


def test_time_between_tokens_is_of_arrivals():
    document = Document()
    document.run = RUN
    document.extend(
        [make_round(i, "aaa", verify_ns=ns) for i, ns in enumerate([90_000_000, *[30_000_000] * 9])]
    )
    # The first burst follows the prompt: it is no interval between two.
    assert ThroughputModel(document, visible=10).small[0].text == "30 / 30 / 30"


def test_the_top_of_the_axis_is_round_and_above_everything():
    for highest in (1e-3, 0.5, 1.0, 9.99, 47.0, 123.0, 99_999.0):
        assert highest < nice_top(highest) <= 2 * highest
    for nothing in (0.0, -1.0, float("nan"), float("inf")):
        assert nice_top(nothing) == 1.0


def test_the_axis_holds_the_curves_and_the_plain_rate():
    model = ThroughputModel(Document(make_trace(rounds=30, temperature=0.8)), visible=30)
    assert model.top > np.nanmax(model.cumulative)
    assert model.top > np.nanmax(model.rolling)
    assert model.top > model.plain.tokens_per_second
