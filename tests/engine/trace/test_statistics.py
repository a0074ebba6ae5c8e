from __future__ import annotations

import gc
import math
import tracemalloc
from fractions import Fraction

import msgspec
import pytest
from msgspec.structs import replace

from engine.trace.events import (
    Baseline,
    Event,
    Fate,
    PrefillFinished,
    Probe,
    Round,
    SettingsChanged,
)
from engine.trace.figures import Figures, expected_tokens, predicted_speedup
from engine.trace.statistics import Statistics, statistics
from engine.trace.text import emitted_ids_of
from tests.engine.trace.rounds import bare_round
from tests.traces import make_trace


def _probe(ns: int) -> Probe:
    return Probe(run="a", after_round=0, context_length=10, ns=ns)


def _baseline(*round_ns: int) -> Baseline:
    ids = tuple(range(len(round_ns)))
    return Baseline(run="a", token_ids=ids, text="", round_ns=round_ns, prefill_ns=7)


def _numbers(value: object) -> list[float]:
    if isinstance(value, float):
        return [value]
    if isinstance(value, msgspec.Struct):
        return [n for name in value.__struct_fields__ for n in _numbers(getattr(value, name))]
    return [n for part in value for n in _numbers(part)] if isinstance(value, tuple) else []


def test_counts_and_ratios_divide_by_what_the_glossary_says() -> None:
    figures = statistics(
        [bare_round(0, "aaa"), bare_round(1, "rdd"), bare_round(2, "ard"), bare_round(3, "")]
    )
    assert (figures.rounds, figures.plain_rounds, figures.bonus) == (4, 1, 1)
    assert (figures.accepted, figures.rejected, figures.discarded) == (4, 2, 3)
    assert (figures.tested, figures.drafted, figures.cut) == (6, 9, 0)
    assert figures.emitted == 4 + 4
    assert figures.acceptance == 4 / 6
    assert figures.draft_yield == 4 / 9
    assert figures.tokens_per_pass == 8 / 4


def test_a_round_without_a_proposal_leaves_acceptance_alone() -> None:
    rounds = [bare_round(0, "aard"), bare_round(1, "r")]
    with_plain = [*rounds, bare_round(2, ""), bare_round(3, "")]
    assert statistics(with_plain).acceptance == statistics(rounds).acceptance == 2 / 4
    assert statistics(with_plain).accepted_lengths == statistics(rounds).accepted_lengths


def test_cut_tokens_are_in_no_figure_but_their_own() -> None:
    whole = [bare_round(0, "aaaa"), bare_round(1, "ardd")]
    figures = statistics([*whole, bare_round(2, "aacc", closing=False)])
    before = statistics(whole)
    assert figures.cut == 2
    assert figures.tested == before.tested + 2
    assert figures.drafted == before.drafted + 2 == figures.tested + figures.discarded
    assert figures.emitted == before.emitted + 2
    assert figures.accepted_lengths == before.accepted_lengths
    assert figures.positions[2].drafted == before.positions[2].drafted


def test_acceptance_by_position_is_over_the_tokens_tested_there() -> None:
    rounds = [bare_round(0, "aaa"), bare_round(1, "rdd"), bare_round(2, "ard"), bare_round(3, "a")]
    places = statistics(rounds).positions
    found = [(at.drafted, at.tested, at.accepted, at.acceptance) for at in places]
    assert found == [(4, 4, 3, 3 / 4), (3, 2, 1, 1 / 2), (3, 1, 1, 1.0)]
    untested = statistics([bare_round(0, "rd")]).positions[1]
    assert (untested.tested, untested.acceptance) == (0, None)


def test_accepted_lengths_count_drafted_rounds() -> None:
    fates = ["aaa", "rdd", "ard", "aaa", "", "rdd", "aar"]
    figures = statistics([bare_round(i, f) for i, f in enumerate(fates)])
    assert figures.accepted_lengths == (2, 1, 1, 2)


def test_rates_come_from_summed_round_times_paced_or_not() -> None:
    times = {"draft": 3_000_000, "verify": 20_000_000, "accept": 1_500_000, "commit": 500_000}
    for paced in (False, True):
        rounds = [
            bare_round(i, "aard", observe=900_000_000, paced=paced, **times) for i in range(4)
        ]
        figures = statistics(rounds)
        assert figures.paced is paced
        assert figures.round_ns == 4 * 25_000_000
        assert figures.tokens_per_second == pytest.approx(12 / 0.1)
        assert figures.ms_per_token == pytest.approx(100 / 12)
        assert figures.observe_ns == 4 * 900_000_000
        assert figures.observe_share == pytest.approx(36.0)


def test_one_round_beside_a_training_marks_the_run_and_changes_no_other_figure() -> None:
    rounds = [bare_round(i, "aard") for i in range(4)]
    quiet = statistics(rounds)
    rounds[2] = replace(rounds[2], disturbed=True)
    marked = statistics(rounds)
    assert (quiet.disturbed, marked.disturbed) == (False, True)
    assert replace(marked, disturbed=False) == quiet


def test_the_time_between_tokens_is_between_bursts() -> None:
    import numpy

    took = [90, 10, 20, 30, 70, 40, 50, 60, 15, 25]
    rounds = [bare_round(i, "ar", verify=ms * 1_000_000) for i, ms in enumerate(took)]
    latency = statistics(rounds).latency_ms
    assert latency is not None
    wanted = numpy.percentile(took[1:], [50, 95, 99])  # the first burst follows no other
    assert (latency.p50, latency.p95, latency.p99) == pytest.approx(tuple(wanted))
    assert statistics(rounds[:1]).latency_ms is None


def test_prefill_and_the_first_round_make_the_first_token() -> None:
    prefill = PrefillFinished(run="a", ns=70_000_000, tokens=9)
    figures = statistics([prefill, bare_round(0, "a", verify=30_000_000), bare_round(1, "a")])
    assert (figures.prefill_ns, figures.first_token_ns) == (70_000_000, 100_000_000)
    assert statistics([prefill]).first_token_ns is None


def test_plain_rates_come_from_probes_and_from_the_baseline() -> None:
    from scipy import stats

    spans = [20_000_000, 21_000_000, 19_500_000, 20_400_000]
    figures = statistics([*map(_probe, spans), _baseline(10_000_000, 30_000_000, 20_000_000)])
    probes, baseline = figures.probes, figures.baseline
    assert probes is not None
    assert baseline is not None
    assert probes.samples == 4
    mean = sum(spans) / 4
    low, high = stats.t.interval(0.95, 3, loc=mean, scale=stats.sem(spans))
    assert probes.mean_ns == pytest.approx(mean)
    assert (probes.low_ns, probes.high_ns) == pytest.approx((low, high), rel=1e-6)
    assert probes.tokens_per_second == pytest.approx(1e9 / mean)
    assert probes.low_tokens_per_second == pytest.approx(1e9 / high, rel=1e-6)
    assert baseline.tokens_per_second == pytest.approx(3 / 0.06)


def test_the_speedup_is_over_the_probes_if_there_are_two_else_over_the_baseline() -> None:
    rounds = [bare_round(i, "aar", verify=30_000_000) for i in range(4)]  # 3 tokens in 30 ms
    probes, baseline = [_probe(20_000_000)] * 3, _baseline(25_000_000)
    cases: list[tuple[list[Event], str | None, float | None]] = [
        ([], None, None),
        (list(probes[:1]), "probes", 2.0),
        ([*probes[:1], baseline], "baseline", 2.5),
        ([*probes[:2], baseline], "probes", 2.0),
        ([*probes, baseline], "probes", 2.0),
        ([baseline], "baseline", 2.5),
    ]
    for extra, source, speedup in cases:
        figures = statistics([*rounds, *extra])
        assert figures.plain_source == source
        assert figures.speedup == (None if speedup is None else pytest.approx(speedup))
    spread = statistics([*rounds, *map(_probe, (19_000_000, 20_000_000, 21_000_000))])
    assert spread.speedup_low is not None
    assert spread.speedup_high is not None
    assert spread.speedup is not None
    assert spread.speedup_low < spread.speedup < spread.speedup_high


def test_the_cost_model_is_that_of_the_paper() -> None:
    for k in (0, 1, 3, 5, 10):
        for a in (Fraction(0), Fraction(2, 5), Fraction(9, 10), Fraction(1)):
            exact = Fraction(k + 1) if a == 1 else (1 - a ** (k + 1)) / (1 - a)
            assert expected_tokens(float(a), k) == pytest.approx(float(exact), rel=1e-12)
            speedup = exact / (Fraction(3, 10) * k + 1)
            assert predicted_speedup(float(a), k, 0.3) == pytest.approx(float(speedup), rel=1e-12)
    assert expected_tokens(1 - 1e-12, 4) == pytest.approx(5.0)


def test_a_drafted_token_costs_its_time_also_where_it_was_cut() -> None:
    one = bare_round(0, "aacc", draft=8_000_000, closing=False)
    figures = statistics([one, *[_probe(20_000_000)] * 3])
    assert (figures.drafted, figures.cut) == (2, 2)
    assert figures.c == pytest.approx(0.1)  # 8 ms over four drafted tokens, not over two


def test_the_prediction_follows_the_lengths_that_were_really_drafted() -> None:
    rounds = [bare_round(0, "ar"), bare_round(1, ""), bare_round(2, "ar"), bare_round(3, "acc")]
    figures = statistics([*rounds, *[_probe(1_000_000)] * 3])
    a = 3 / 5
    assert figures.acceptance == pytest.approx(a)
    assert figures.expected_tokens_per_pass == pytest.approx((1 + 2 * (1 + a + a * a)) / 3)


def test_the_cost_of_a_pass_is_over_a_plain_round() -> None:
    rounds = [
        bare_round(0, "aar", verify=21_000_000, accept=1_000_000, draft=5_000_000),
        bare_round(1, "aar", verify=23_000_000, accept=1_000_000, draft=5_000_000),
        bare_round(2, "", verify=20_000_000),
    ]
    costs = statistics([*rounds, *[_probe(20_000_000)] * 3]).pass_costs
    found = [(cost.drafted, cost.rounds, cost.mean_ns, cost.cost) for cost in costs]
    assert found == [(0, 1, 20e6, pytest.approx(1.0)), (3, 2, 23e6, pytest.approx(1.15))]
    assert [cost.cost for cost in statistics(rounds).pass_costs] == [None, None]


def test_repetition_is_flagged_above_sixty_percent() -> None:
    looping = [bare_round(i, "a") for i in range(40)]
    assert statistics(looping).repetitive
    varied = [bare_round(i, "a", first_id=1000 * i) for i in range(40)]
    figures = statistics(varied)
    assert (figures.repeated_share, figures.repetitive) == (0.0, False)
    assert statistics([bare_round(0, "a")]).repeated_share is None


def _only_none_or_finite(figures: Figures) -> None:
    assert all(math.isfinite(number) for number in _numbers(figures))


def test_undefined_figures_are_none_and_never_nan() -> None:
    empty = statistics([])
    _only_none_or_finite(empty)
    undefined = {name for name in Figures.__struct_fields__ if getattr(empty, name) is None}
    assert undefined >= {
        *("acceptance", "draft_yield", "tokens_per_pass", "tokens_per_second", "latency_ms"),
        *("speedup", "plain", "probes", "baseline", "c", "predicted_speedup", "ms_per_token"),
    }
    nothing_took_time = [
        *[bare_round(i, "ar", verify=0) for i in range(3)],
        _probe(0),
        _probe(0),
        _probe(0),
        _baseline(0, 0),
    ]
    for events in (nothing_took_time, [_baseline()], [bare_round(0, "c", closing=False)]):
        figures = statistics(events)
        _only_none_or_finite(figures)
        assert figures.speedup is None


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_one_event_at_a_time_gives_the_figures_of_the_whole(temperature: float) -> None:
    events = make_trace(rounds=30, temperature=temperature)
    gathered = Statistics()
    for n, event in enumerate(events, start=1):
        gathered.add(event)
        assert gathered.figures() == statistics(events[:n])
    figures = gathered.figures()
    assert gathered.figures() is figures
    _only_none_or_finite(figures)
    assert figures.emitted == len(emitted_ids_of(events))
    assert figures.accepted <= figures.tested <= figures.drafted
    assert sum(place.tested for place in figures.positions) == figures.tested


def test_figures_of_the_parts_between_changes_add_up_to_the_whole() -> None:
    events = make_trace(rounds=30, drafter="ngram")
    cuts = [i for i, event in enumerate(events) if isinstance(event, SettingsChanged)]
    assert len(cuts) == 2
    parts = [events[: cuts[0]], events[cuts[0] : cuts[1]], events[cuts[1] :]]
    whole = statistics(events)
    figures = [statistics(part) for part in parts]
    for name in ("rounds", "drafted", "accepted", "tested", "emitted", "round_ns", "cut", "bonus"):
        assert sum(getattr(part, name) for part in figures) == getattr(whole, name)
    assert figures[1].acceptance is None


def test_counts_agree_with_the_rounds_own_words() -> None:
    events = make_trace(rounds=60, temperature=1.0)
    rounds = [event for event in events if isinstance(event, Round)]
    figures = statistics(events)
    assert figures.accepted == sum(one.accepted for one in rounds)
    assert figures.rejected == sum(one.rejected for one in rounds)
    assert figures.discarded == sum(one.discarded for one in rounds)
    assert figures.round_ns == sum(one.times.round for one in rounds)
    fates = [token.fate for one in rounds for token in one.drafted]
    assert figures.cut == fates.count(Fate.CUT)


def test_long_runs_keep_sums_and_not_rounds() -> None:
    gathered = Statistics()
    one, count = bare_round(1, "aard"), 20_000
    gc.collect()
    tracemalloc.start()
    try:
        for _ in range(count):
            gathered.add(one)
        kept, _peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < count * 24  # a Round takes kilobytes
    assert gathered.figures().rounds == count
