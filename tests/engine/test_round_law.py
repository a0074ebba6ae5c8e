"""The law of the text that one round emits, in exact fractions: the target's, for any laws."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise, product
from math import prod

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import engine.acceptance as acceptance_module
from engine.acceptance import Verdict, accept

PARTS = 64  # masses are multiples of 1/64: exact in float64, and residuals have denominators <= 64
NUDGE = 2.0**-40
Text = tuple[int, ...]
Law = tuple[Fraction, ...]


@dataclass(frozen=True)
class Laws:
    """Laws over `size` tokens, one of a few after each prefix of a draft of k tokens."""

    size: int
    k: int
    targets: tuple[Law, ...]
    drafters: tuple[Law, ...]

    def target(self, prefix: Text) -> Law:
        return self.targets[(3 * len(prefix) + sum(prefix)) % len(self.targets)]

    def drafter(self, prefix: Text) -> Law:
        return self.drafters[(2 * len(prefix) + sum(prefix)) % len(self.drafters)]


@st.composite
def some_laws(draw: st.DrawFn) -> Laws:
    size, k = draw(st.integers(2, 6)), draw(st.integers(1, 3))
    cuts = st.lists(st.integers(0, PARTS), min_size=size - 1, max_size=size - 1)

    def law(places: list[int]) -> Law:
        ends = [0, *sorted(places), PARTS]
        return tuple(Fraction(b - a, PARTS) for a, b in pairwise(ends))

    pool = st.lists(cuts.map(law), min_size=1, max_size=3).map(tuple)
    targets = draw(pool)
    drafters = targets if draw(st.booleans()) and draw(st.booleans()) else draw(pool)
    return Laws(size, k, targets, drafters)


def rows(laws: list[Law]) -> torch.Tensor:
    return torch.tensor([[float(mass) for mass in law] for law in laws], dtype=torch.float64)


def exact(law: torch.Tensor) -> Law:
    """The fractions that a law's floats stand for; exact because of their small denominators."""
    return tuple(Fraction(mass).limit_denominator(PARTS) for mass in law.tolist())


def law_of_a_round(laws: Laws, closing_uniform: float) -> dict[Text, Fraction]:
    """How probable each emitted text is, by asking `accept` for every outcome of every draft.

    Each test's uniform is integrated over: the verdict must change at u = p_target / q_draft, which
    is asked just below and just above.
    """
    found: dict[Text, Fraction] = {}
    for draft in product(range(laws.size), repeat=laws.k):
        chance = prod(laws.drafter(draft[:i])[draft[i]] for i in range(laws.k))
        if chance == 0:
            continue
        p_target = rows([laws.target(draft[:i]) for i in range(laws.k + 1)])
        q_draft = rows([laws.drafter(draft[:i]) for i in range(laws.k)])
        first = accept(p_target, q_draft, draft, [0.0] * laws.k, [closing_uniform] * (laws.k + 1))
        pairs = zip(first.p_target, first.q_draft, strict=True)
        kept = [min(Fraction(1), Fraction(p) / Fraction(q)) for p, q in pairs]
        for accepted in range(laws.k + 1):
            edges = [max(0.0, float(edge) - NUDGE) for edge in kept[:accepted]]
            weight = chance * prod(kept[:accepted])
            if accepted < laws.k:
                edges += [float(kept[accepted]) + NUDGE] * (laws.k - accepted)
                weight *= 1 - kept[accepted]
            if weight == 0:
                continue
            closings = [closing_uniform] * (laws.k + 1)
            verdict = accept(p_target, q_draft, draft, edges, closings)
            assert verdict.accepted == accepted
            closing = closing_law(laws, draft, verdict)
            assert verdict.closing == drawn(closing, closing_uniform)
            for token, mass in enumerate(closing):
                text = (*draft[:accepted], token)
                found[text] = found.get(text, Fraction(0)) + weight * mass
    return found


def closing_law(laws: Laws, draft: Text, verdict: Verdict) -> Law:
    if verdict.residual is not None:
        return exact(verdict.residual)
    assert verdict.accepted == len(draft)
    return laws.target(draft)


def drawn(law: Law, uniform: float) -> int:
    """The token that a uniform picks, away from the steps of the cumulative law."""
    return next(i for i, mass in enumerate(accumulate(law)) if Fraction(uniform) < mass)


def assert_the_targets(laws: Laws, found: dict[Text, Fraction]) -> None:
    """Go on with the target where the round stopped short of k + 1 tokens, and compare."""
    assert sum(found.values()) == 1
    for text in product(range(laws.size), repeat=laws.k + 1):
        steps = [laws.target(text[:i])[text[i]] for i in range(laws.k + 1)]
        emitted = sum(
            found.get(text[:length], Fraction(0)) * prod(steps[length:])
            for length in range(1, laws.k + 2)
        )
        assert emitted == prod(steps)


# an odd multiple of a tiny step: never on a step of a law with denominators up to 64
away_from_steps = st.integers(0, 2**20 - 1).map(lambda i: (2 * i + 1) * 2.0**-21)


@pytest.mark.case("A01", "A11", "A15")
@settings(max_examples=60)
@given(some_laws(), away_from_steps)
def test_a_rounds_text_follows_the_targets_law_exactly(laws: Laws, uniform: float) -> None:
    assert_the_targets(laws, law_of_a_round(laws, uniform))


def test_a_wrong_residual_or_row_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def of(*parts: int) -> Law:
        return tuple(Fraction(part, PARTS) for part in parts)

    laws = Laws(3, 2, (of(32, 20, 12), of(8, 8, 48)), (of(12, 20, 32), of(30, 4, 30)))
    assert_the_targets(laws, law_of_a_round(laws, 0.3))
    right = acceptance_module.residual_law
    for wrong in (
        lambda p, q: torch.softmax((p - q).clamp(min=0.0), dim=0),
        lambda p, q: p,
        lambda p, q: right(q, p),
    ):
        monkeypatch.setattr(acceptance_module, "residual_law", wrong)
        with pytest.raises(AssertionError):
            assert_the_targets(laws, law_of_a_round(laws, 0.3))
    monkeypatch.undo()
    row = acceptance_module._row
    monkeypatch.setattr(acceptance_module, "_row", lambda q, t, i, like: row(q, t, 0, like))
    with pytest.raises(AssertionError):
        assert_the_targets(laws, law_of_a_round(laws, 0.3))
