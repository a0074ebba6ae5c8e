"""Every figure over one small trace, with the arithmetic that it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from engine.trace.events import Baseline, PrefillFinished, Probe
from engine.trace.figures import Figures, PassCost, Percentiles, PlainMeasure, PositionFigures
from engine.trace.statistics import Statistics, statistics
from tests.engine.trace.rounds import bare_round

if TYPE_CHECKING:
    from engine.trace.events import Event

MS = 1_000_000


def _events() -> list[Event]:
    """Five rounds: a bonus, two rejections, a plain one, and one that the end of the text cut."""
    first = {"verify": 30 * MS, "accept": 1 * MS, "commit": 1 * MS}
    costs = {"verify": 24 * MS, "accept": 1 * MS, "commit": 1 * MS}
    plain = {"verify": 20 * MS, "accept": MS // 2, "commit": MS // 2}
    cut = {"verify": 26 * MS, "accept": 1 * MS, "commit": 1 * MS}
    return [
        PrefillFinished(run="a", ns=70 * MS, tokens=9),
        bare_round(0, "aaa", draft=6 * MS, observe=4 * MS, **first),  # 38 ms; emits 0 1 2 100
        bare_round(1, "rdd", draft=6 * MS, observe=4 * MS, **costs),  # 32 ms; emits 100
        bare_round(2, "ard", draft=6 * MS, observe=2 * MS, **costs),  # 32 ms; emits 0 100
        bare_round(3, "", **plain),  # 21 ms; emits 100
        bare_round(4, "aacc", draft=8 * MS, closing=False, **cut),  # 36 ms; emits 0 1
        *[Probe(run="a", after_round=3, context_length=20, ns=ms * MS) for ms in (20, 21, 19, 22)],
        Baseline(
            run="a", token_ids=(1, 2), text="", round_ns=(25 * MS, 25 * MS), prefill_ns=60 * MS
        ),
    ]


ROUND_S = 0.159  # 38 + 32 + 32 + 21 + 36 ms
PLAIN_MS = 20.5  # (20 + 21 + 19 + 22) / 4
# deviations -0.5, 0.5, -1.5, 1.5: squares sum to 5; sqrt(5 / 3 / 4) times t of 3 degrees, 3.182446
HALF_MS = 3.182446 * (5 / 3 / 4) ** 0.5
C = 26 / 13 / PLAIN_MS  # 26 ms of drafting over 13 drafted tokens, two of them cut
A = 6 / 8
TOKENS = 3 * (1 + A + A**2 + A**3) + 1  # three whole rounds of 3, one plain; the cut one is out

EXPECTED: dict[str, Any] = {
    "rounds": 5,
    "plain_rounds": 1,
    "drafted": 3 + 3 + 3 + 0 + 2,
    "tested": 3 + 1 + 2 + 0 + 2,
    "accepted": 3 + 0 + 1 + 0 + 2,
    "rejected": 0 + 1 + 1 + 0 + 0,
    "discarded": 0 + 2 + 1 + 0 + 0,
    "cut": 2,
    "bonus": 1,
    "emitted": 4 + 1 + 2 + 1 + 2,
    "acceptance": 6 / 8,
    "draft_yield": 6 / 11,
    "tokens_per_pass": 10 / 5,
    "positions": (
        PositionFigures(drafted=4, tested=4, accepted=3, acceptance=3 / 4),
        PositionFigures(drafted=4, tested=3, accepted=2, acceptance=2 / 3),
        PositionFigures(drafted=3, tested=1, accepted=1, acceptance=1 / 1),
    ),
    "accepted_lengths": (1, 1, 0, 1),  # of rounds 1, 2 and 0
    # 0 1 2 100 100 0 100 100 0 1: eight 3-grams, of which (100, 100, 0) comes twice
    "repeated_share": 1 / 8,
    "repetitive": False,
    "round_ns": 159 * MS,
    "draft_ns": (6 + 6 + 6 + 0 + 8) * MS,
    "verify_ns": (30 + 24 + 24 + 20 + 26) * MS,
    "accept_ns": 4.5 * MS,
    "commit_ns": 4.5 * MS,
    "observe_ns": (4 + 4 + 2) * MS,
    "prefill_ns": 70 * MS,
    "first_token_ns": (70 + 38) * MS,
    "paced": False,
    "disturbed": False,
    "tokens_per_second": 10 / ROUND_S,
    "ms_per_token": 159 / 10,
    "observe_share": 10 / 159,
    # bursts after the first: 21, 32, 32, 36 ms; places 1.5, 2.85 and 2.97 of 0 to 3
    "latency_ms": Percentiles(p50=32.0, p95=32 + 0.85 * 4, p99=32 + 0.97 * 4),
    "probes": PlainMeasure(
        samples=4,
        mean_ns=PLAIN_MS * MS,
        low_ns=(PLAIN_MS - HALF_MS) * MS,
        high_ns=(PLAIN_MS + HALF_MS) * MS,
        tokens_per_second=1e3 / PLAIN_MS,
        low_tokens_per_second=1e3 / (PLAIN_MS + HALF_MS),
        high_tokens_per_second=1e3 / (PLAIN_MS - HALF_MS),
    ),
    "baseline": PlainMeasure(
        samples=2,
        mean_ns=25 * MS,
        low_ns=25 * MS,
        high_ns=25 * MS,
        tokens_per_second=40.0,
        low_tokens_per_second=40.0,
        high_tokens_per_second=40.0,
    ),
    "plain_source": "probes",
    "speedup": 10 / ROUND_S * PLAIN_MS / 1e3,
    "speedup_low": 10 / ROUND_S * (PLAIN_MS - HALF_MS) / 1e3,
    "speedup_high": 10 / ROUND_S * (PLAIN_MS + HALF_MS) / 1e3,
    "c": C,
    "pass_costs": (
        # verify + accept + commit: 21; (32 + 26 + 26) / 3; 28
        PassCost(drafted=0, rounds=1, mean_ns=21 * MS, cost=21 / PLAIN_MS),
        PassCost(drafted=3, rounds=3, mean_ns=28 * MS, cost=28 / PLAIN_MS),
        PassCost(drafted=4, rounds=1, mean_ns=28 * MS, cost=28 / PLAIN_MS),
    ),
    "expected_tokens_per_pass": TOKENS / 4,
    "predicted_speedup": TOKENS / (3 * (3 * C + 1) + 1),
    "imported": None,  # of runs that another program made: test_imported.py
}
EXPECTED["plain"] = EXPECTED["probes"]


def _flat(value: object) -> list[object]:
    """Every number of a figure, in order."""
    if hasattr(value, "__struct_fields__"):
        return [n for name in value.__struct_fields__ for n in _flat(getattr(value, name))]
    return [n for part in value for n in _flat(part)] if isinstance(value, tuple) else [value]


def test_the_table_has_every_figure() -> None:
    assert set(EXPECTED) == set(Figures.__struct_fields__)


@pytest.mark.parametrize("name", Figures.__struct_fields__)
def test_figure_is_what_the_arithmetic_gives(name: str) -> None:
    figure = getattr(statistics(_events()), name)
    found, wanted = _flat(figure), _flat(EXPECTED[name])
    assert len(found) == len(wanted)
    for number, other in zip(found, wanted, strict=True):
        if isinstance(other, int) or other is None or isinstance(other, str):
            assert number == other
        else:
            assert number == pytest.approx(other, rel=1e-6)


def test_figures_do_not_depend_on_the_order_in_which_events_that_time_come() -> None:
    events = _events()
    gathered = Statistics()
    for event in [*events[6:], *events[:6]]:  # probes and baseline first
        gathered.add(event)
    assert gathered.figures() == statistics(events)


@pytest.mark.case("A57")
def test_means_are_over_all_rounds_and_not_the_last() -> None:
    rounds = [bare_round(0, "aaa"), bare_round(1, "rdd"), bare_round(2, "ard")]
    figures = statistics(rounds)
    assert figures.tokens_per_pass == pytest.approx((4 + 1 + 2) / 3)  # 2.333
    assert (figures.accepted, figures.accepted_lengths) == (3 + 0 + 1, (1, 1, 0, 1))
    assert figures.expected_tokens_per_pass == pytest.approx(1 + 2 / 3 + 4 / 9 + 8 / 27)  # a = 4/6


@pytest.mark.case("A58")
@pytest.mark.parametrize(
    ("k", "formula"),
    [
        (3, (1 + 0.4 + 0.16 + 0.064) / 1.9),  # 0.8547
        (5, (1 - 0.4**6) / 0.6 / 2.5),  # 0.6639
        (10, (1 - 0.4**11) / 0.6 / 4.0),  # 0.4166
    ],
)
def test_a_dear_drafter_is_predicted_and_measured_to_lose(k: int, formula: float) -> None:
    # acceptance 2 of 5; c = 6 ms a drafted token over a plain round of 20 ms
    fates = ["aar", "r", "r"]
    rounds = [
        bare_round(i, f + "d" * (k - len(f)), draft=6 * MS * k, verify=20 * MS)
        for i, f in enumerate(fates)
    ]
    probes = [Probe(run="a", after_round=0, context_length=9, ns=20 * MS)] * 3
    figures = statistics([*rounds, *probes])
    assert figures.acceptance == pytest.approx(0.4)
    assert figures.c == pytest.approx(0.3)
    assert figures.predicted_speedup == pytest.approx(formula)
    # measured: 5 tokens in three rounds of (0.3 k + 1) plain rounds each
    assert figures.speedup == pytest.approx(5 / 3 / (0.3 * k + 1))
    assert figures.predicted_speedup < 1
    assert figures.speedup < 1
    assert figures.speedup_high is not None
    assert figures.speedup_high < 1  # what the window's flag asks for


@pytest.mark.case("A65")
@pytest.mark.parametrize(("loops", "share"), [(6, 18 / 30), (7, 22 / 34), (20, 74 / 86)])
def test_a_text_of_which_more_than_sixty_percent_repeats_is_flagged(
    loops: int, share: float
) -> None:
    # 8 ids of another text, then 4 ids again and again: 8 + 4 n ids have 6 + 4 n 3-grams, of which
    # the first 8 and the loop's own 4 are new
    fresh = [bare_round(0, "aaa", first_id=1000), bare_round(1, "aaa", first_id=2000)]
    figures = statistics([*fresh, *[bare_round(2 + i, "aaa") for i in range(loops)]])
    assert figures.repeated_share == pytest.approx(share)
    assert figures.repetitive is (share > 0.6)  # 60 % exactly is not over 60 %
