"""Uniforms are a function of (seed, position, purpose), and uniform."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from engine import RunRequest, Session, Settings
from engine.trace.events import Round, SettingsChanged
from engine.uniforms import Purpose, uniform

if TYPE_CHECKING:
    from pathlib import Path

    from engine.loading import LoadedModel


@pytest.mark.parametrize(
    ("seed", "position", "purpose", "number"),
    [
        (0, 0, Purpose.DRAFT, 0.5490683570988659),
        (7, 41, Purpose.TEST, 0.7119516669528249),
        (-3, 0, Purpose.CORRECTION, 0.0036903373548367036),
        (2**70, 10**6, Purpose.BONUS, 0.8794192610533778),
        (0, 1, Purpose.PLAIN, 0.14567211061071716),
    ],
)
def test_numbers_are_those_of_every_version(
    seed: int, position: int, purpose: Purpose, number: float
) -> None:
    # a trace that was written once must follow for ever
    assert uniform(seed, position, purpose) == number


@given(st.integers(), st.integers(0), st.sampled_from(Purpose))
def test_a_number_is_a_multiple_of_two_to_the_minus_53(
    seed: int, position: int, purpose: Purpose
) -> None:
    number = uniform(seed, position, purpose)
    assert 0.0 <= number < 1.0
    assert (Fraction(number) * 2**53).denominator == 1


def test_the_same_triple_gives_the_same_number_whatever_ran_before() -> None:
    first = uniform(2**32 + 5, 17, Purpose.TEST)
    for position in range(100):
        uniform(3, position, Purpose.DRAFT)
    assert uniform(2**32 + 5, 17, Purpose.TEST) == first


def test_seed_position_and_purpose_all_matter() -> None:
    numbers = {
        uniform(seed, position, purpose)
        for seed in (0, 1, -1, 2**70)
        for position in (0, 1, 10)
        for purpose in Purpose
    }
    assert len(numbers) == 4 * 3 * len(Purpose)


def test_numbers_are_uniform_on_the_unit_interval() -> None:
    numbers = np.array([uniform(5, i, Purpose.TEST) for i in range(20_000)])
    assert numbers.min() >= 0.0
    assert numbers.max() < 1.0
    assert stats.kstest(numbers, "uniform").pvalue > 1e-3


def test_purposes_at_one_position_are_independent() -> None:
    tests = np.array([uniform(5, i, Purpose.TEST) for i in range(5_000)])
    draws = np.array([uniform(5, i, Purpose.DRAFT) for i in range(5_000)])
    assert abs(stats.pearsonr(tests, draws).statistic) < 0.06


@pytest.mark.parametrize("seed", [0, 1, 2**63])
def test_neighbouring_positions_and_seeds_are_independent(seed: int) -> None:
    here = np.array([uniform(seed, i, Purpose.TEST) for i in range(5_000)])
    other = np.array([uniform(seed + 1, i, Purpose.TEST) for i in range(5_000)])
    for first, second in ((here[:-1], here[1:]), (here, other)):
        assert abs(stats.pearsonr(first, second).statistic) < 0.06
    cells = (10 * here[:-1]).astype(int) * 10 + (10 * here[1:]).astype(int)
    assert stats.chisquare(np.bincount(cells, minlength=100)).pvalue > 1e-4


def _decided(session: Session, request: RunRequest) -> list[tuple[object, ...]]:
    """Every id and every u of a run, with where it stood."""
    decided: list[tuple[object, ...]] = []
    for event in session.run(request):
        if isinstance(event, Round):
            decided += [(event.index, t.id, t.fate, t.u) for t in event.drafted]
            closing = event.closing
            decided.append((event.index, None if closing is None else (closing.id, closing.u)))
        assert not isinstance(event, SettingsChanged)
    return decided


@pytest.mark.case("A43")
@pytest.mark.parametrize("drafter", ["model", "ngram", "early:1", "none"])
def test_the_same_seed_gives_the_same_run_whatever_ran_in_between(
    tiny_target: LoadedModel, near_folder: Path, drafter: str
) -> None:
    spec = f"model:{near_folder}" if drafter == "model" else drafter
    session, other = Session(tiny_target), Session(tiny_target)

    def request(seed: int, **changes: object) -> RunRequest:
        settings = Settings(drafter=spec, k=4, temperature=1.2)
        named = {"prompt": "hello hello", "seed": seed, "max_new_tokens": 40} | changes
        return RunRequest(settings=settings, **named)  # type: ignore[arg-type]  # of mixed types

    first = _decided(session, request(5))
    torch.manual_seed(1)  # a global generator decides nothing
    in_between = _decided(other, request(6))
    unlike = _decided(session, request(7, prompt="something else", baseline=True))
    torch.rand(100)
    assert _decided(session, request(5)) == first
    assert _decided(other, request(5, probes=False, top_n=0)) == first
    assert len({tuple(first), tuple(in_between), tuple(unlike)}) == 3
    assert any(entry[-1] is not None for entry in first)
