"""The cost model of `articles`: both predictions by hand."""

from __future__ import annotations

import pytest

from engine.benchmarks.articles_model import (
    CostModel,
    RoundCost,
    beside,
    by_position,
    cost_model,
    kept_tokens,
    line_through,
    with_one_acceptance,
)


def model(**changes: object) -> CostModel:
    figures = {
        "drafter": "head", "temperature": 0.0, "texts": "beginnings", "acceptance": (0.8, 0.5),
        "pass_ns": 100.0, "step": 0.1, "begin": 0.05,
        "passes": ((0, 0, 1.0), (0, 1, 1.0), (1, 1, 1.1), (2, 2, 1.2)),
        "rest": 0.05, "plain_rest": 0.02,
    }  # fmt: skip
    return CostModel(**figures | changes)  # type: ignore[arg-type]  # of mixed types


def test_one_acceptance_is_the_articles_formula() -> None:
    a, k, c, v = 0.7, 3, 0.1, 1.2
    predicted = with_one_acceptance(a, {k: 5}, c, {k: v})
    assert predicted == pytest.approx((1 - a ** (k + 1)) / ((1 - a) * (k * c + v)))
    assert predicted == pytest.approx(2.533 / 1.5)


def test_one_acceptance_over_lengths_that_differ_by_hand() -> None:
    # three rounds without a draft, one of two tokens: (3 + 1.75) / (3 + 2 * 0.1 + 1.3)
    found = with_one_acceptance(0.5, {0: 3, 2: 1}, 0.1, {0: 1.0, 2: 1.3})
    assert found == pytest.approx(4.75 / 4.5)
    assert with_one_acceptance(0.5, {}, 0.1, {}) is None


def test_tokens_of_a_round_are_one_and_the_products_of_the_positions() -> None:
    assert kept_tokens((0.8, 0.5, 0.25), 3) == pytest.approx(1 + 0.8 + 0.4 + 0.1)
    assert kept_tokens((0.8, 0.5, 0.25), 0) == 1.0
    assert kept_tokens((0.8,), 3) == pytest.approx(1.8)  # nothing was ever tested further on


def test_acceptance_by_position_with_the_fixed_cost_by_hand() -> None:
    # E = 1 + 0.8 + 0.4; the round 1.2 + 2 * 0.1 + (0.05 + 0.05); the plain one 1.02
    found = by_position(model(), (0.8, 0.5), {(2, 2): 7})
    assert found == pytest.approx(2.2 * 1.02 / 1.5)


def test_a_look_without_a_draft_costs_a_step_and_gains_nothing() -> None:
    # one round unsure at once: E = 1, the round 1.0 + 1 * 0.1 + 0.1
    assert by_position(model(), (0.8, 0.5), {(0, 1): 1}) == pytest.approx(1.02 / 1.2)
    mixed = by_position(model(), (0.8, 0.5), {(0, 1): 1, (2, 2): 1})
    assert mixed == pytest.approx((1 + 2.2) * 1.02 / (1.2 + 1.5))


def test_costs_are_read_off_the_rounds() -> None:
    plain = [RoundCost(0, 0, 1, 90, 3), RoundCost(0, 0, 3, 110, 1)]
    rounds = [
        RoundCost(1, 1, 25, 120, 4),  # drafting takes 15 + 10 a step
        RoundCost(2, 2, 35, 130, 6),
        RoundCost(2, 2, 35, 150, 8),
        RoundCost(0, 1, 25, 100, 2),
    ]
    found = cost_model("head", 0.0, "beginnings", (0.5,), rounds, plain)
    assert found.pass_ns == 100
    assert (found.step, found.begin) == (pytest.approx(0.10), pytest.approx(0.15))
    assert found.passes == ((0, 1, 1.0), (1, 1, 1.2), (2, 2, 1.4))
    assert found.rest == pytest.approx(0.05)
    assert found.fixed == pytest.approx(0.20)
    assert found.plain_rest == pytest.approx(0.04)  # ((1 + 3) + (3 + 1)) / 2 over 100


def test_drafts_of_one_length_are_all_steps() -> None:
    assert line_through([(4, 40.0), (4, 44.0)]) == (10.5, 0.0)
    assert line_through([(0, 7.0), (0, 9.0)]) == (0.0, 8.0)
    assert line_through([]) == (0.0, 0.0)


def test_a_model_of_no_round_is_refused() -> None:
    with pytest.raises(ValueError, match="rounds of both sorts"):
        cost_model("head", 0.0, "beginnings", (), [], [RoundCost(0, 0, 1, 1, 1)])


def test_the_difference_is_relative_to_what_was_measured() -> None:
    found = beside(1.26, 1.2)
    assert found is not None
    assert found.difference == pytest.approx(0.05)
    assert beside(None, 1.2) is None
    assert beside(1.2, None) is None
