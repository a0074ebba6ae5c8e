"""Settings that no run can have had are named; those at the ends of a range are not."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from engine import DraftscopeError, Settings
from engine.check.findings import Kind, Ledger
from engine.check.ranges import _RANGES, check_ranges
from engine.check.trace import check_trace
from engine.run import check_settings
from tests.traces import make_trace

PLAIN = Settings(drafter="ngram", k=2, temperature=0.5)
V = 100


@dataclass
class Case:
    name: str
    value: float

    @property
    def settings(self) -> Settings:
        return replace(PLAIN, **{self.name: self.value})


def beyond(value: float, direction: float) -> float:
    return int(value + direction) if isinstance(value, int) else value + direction * 1e-3


INSIDE = [Case(name, end) for name, ends in _RANGES.items() for end in ends if end != math.inf]
OUTSIDE = [
    Case(name, beyond(end, direction))
    for name, ends in _RANGES.items()
    for end, direction in zip(ends, (-1, 1), strict=True)
    if end != math.inf
]


def named(settings: Settings) -> list[str]:
    ledger = Ledger()
    check_ranges(settings, V, ledger)
    assert all(finding.kind is Kind.SETTINGS for finding in ledger.findings)
    return [finding.what for finding in ledger.findings]


@pytest.mark.parametrize("case", INSIDE, ids=str)
def test_what_the_engine_takes_is_in_range(case: Case) -> None:
    check_settings(case.settings, V)
    assert named(case.settings) == []


@pytest.mark.parametrize("case", OUTSIDE, ids=str)
def test_what_the_engine_refuses_is_named(case: Case) -> None:
    with pytest.raises(DraftscopeError):
        check_settings(case.settings, V)
    assert named(case.settings) == [case.name]


@pytest.mark.parametrize("bias", [(-1, 1.0), (V, 1.0), (5, 1e5), (5, math.nan)])
def test_a_bias_that_the_engine_refuses_is_named(bias: tuple[int, float]) -> None:
    settings = replace(PLAIN, logit_bias=(bias,))
    with pytest.raises(DraftscopeError):
        check_settings(settings, V)
    assert named(settings) == [f"bias of token {bias[0]}"]


def test_a_trace_with_settings_that_cannot_be_says_so() -> None:
    events = make_trace(rounds=6)
    started = events[0]
    forged = replace(started, settings=replace(started.settings, repetition_penalty=-1.0))
    found = check_trace([forged, *events[1:]]).findings
    assert "repetition_penalty" in [finding.what for finding in found]
