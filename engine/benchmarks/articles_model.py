"""What rounds should gain, from what a draft is worth and what it costs. Pure: counts and times in.

Times are in units of the target's pass on one token. Knows two predictions: with one acceptance for
all positions, as the articles have it, and with acceptance by position and all that a round costs.
Knows no model, no event and no file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from engine.trace.figures import expected_tokens, ratio

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


@dataclass(frozen=True)
class RoundCost:
    """What one round did and took; times in nanoseconds."""

    drafted: int  # tokens
    steps: int  # of the drafter: one more than drafted where it looked and was unsure
    draft_ns: int
    verify_ns: int
    rest_ns: int  # accept and commit


class CostModel(msgspec.Struct, frozen=True, kw_only=True):
    """One drafter at one temperature, over all rounds of all its k.

    Times over `pass_ns`, the mean pass on one token of the plain runs beside them. Looks are the
    drafter's steps: early exit spares the pass the layers of all that it looked at.
    """

    drafter: str
    temperature: float
    texts: str  # what was gone on with or asked for
    acceptance: tuple[float, ...]  # by position, all before it accepted; over every fixed k
    pass_ns: float
    step: float  # c: a further token of a draft, by least squares over rounds
    begin: float  # what a draft costs beside its steps, likewise
    passes: tuple[tuple[int, int, float], ...]  # tokens drafted, looks, the verifying pass: v
    rest: float  # verdicts and commit
    plain_rest: float  # all of a plain round but its pass

    @property
    def fixed(self) -> float:
        """What a round costs beside its pass and its steps."""
        return self.begin + self.rest


class Prediction(msgspec.Struct, frozen=True, kw_only=True):
    """A predicted speed-up and how far it is from the measured one."""

    speedup: float
    difference: float  # predicted / measured - 1


def kept_tokens(acceptance: Sequence[float], drafted: int) -> float:
    """Return 1 + a1 + a1 a2 + ...: the tokens of a round that drafts so many.

    Parameters
    ----------
    acceptance
        By position, given that all before it were accepted; a position that is missing counts 0.
    """
    total, kept = 1.0, 1.0
    for place in range(drafted):
        kept *= acceptance[place] if place < len(acceptance) else 0.0
        total += kept
    return total


def line_through(points: Iterable[tuple[int, float]]) -> tuple[float, float]:
    """Return slope and height at 0 of the least squares line; through 0 if all lie at one place."""
    pairs = list(points)
    if not pairs:
        return 0.0, 0.0
    mean_x = sum(x for x, _ in pairs) / len(pairs)
    mean_y = sum(y for _, y in pairs) / len(pairs)
    spread = sum((x - mean_x) ** 2 for x, _ in pairs)
    if spread == 0.0:
        return (mean_y / mean_x, 0.0) if mean_x else (0.0, mean_y)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in pairs) / spread
    return slope, mean_y - slope * mean_x


def cost_model(
    drafter: str,
    temperature: float,
    texts: str,
    acceptance: Sequence[float],
    rounds: Sequence[RoundCost],
    plain: Sequence[RoundCost],
) -> CostModel:
    """Return what a drafter's rounds cost, from all of them and the plain rounds beside them.

    Raises
    ------
    ValueError
        If there is no round of either sort.
    """
    if not rounds or not plain:
        raise ValueError("a cost model needs rounds of both sorts")
    one = sum(each.verify_ns for each in plain) / len(plain)
    slope, height = line_through((each.steps, each.draft_ns) for each in rounds)
    by_length: dict[tuple[int, int], list[int]] = {}
    for each in rounds:
        by_length.setdefault((each.drafted, each.steps), []).append(each.verify_ns)
    return CostModel(
        drafter=drafter,
        temperature=temperature,
        texts=texts,
        acceptance=tuple(acceptance),
        pass_ns=one,
        step=slope / one,
        begin=height / one,
        passes=tuple((*n, sum(ns) / len(ns) / one) for n, ns in sorted(by_length.items())),
        rest=sum(each.rest_ns for each in rounds) / len(rounds) / one,
        plain_rest=sum(each.draft_ns + each.rest_ns for each in plain) / len(plain) / one,
    )


def with_one_acceptance(
    acceptance: float, lengths: Mapping[int, int], c: float, passes: Mapping[int, float]
) -> float | None:
    """Return (1 - a^(k+1)) / ((1 - a)(k c + v)), over the lengths that were really drafted.

    Parameters
    ----------
    acceptance
        a in [0, 1], the same at each position.
    lengths
        Rounds by tokens drafted; with k throughout the formula is the one above.
    c
        Time per drafted token.
    passes
        v: the verifying pass by tokens drafted.

    Notes
    -----
    Leviathan et al. 2023, theorem 3.8, with the verifying pass's own cost in place of 1.
    """
    tokens = sum(count * expected_tokens(acceptance, n) for n, count in lengths.items())
    cost = sum(count * (n * c + passes[n]) for n, count in lengths.items())
    return ratio(tokens, cost)


def by_position(
    model: CostModel, acceptance: Sequence[float], lengths: Mapping[tuple[int, int], int]
) -> float | None:
    """Return E[tokens] (1 + r) / (v + c k + fixed), over the lengths that were really drafted.

    E[tokens] is `kept_tokens`; r is what a plain round costs beside its own pass.

    Parameters
    ----------
    model
        Costs of the drafter, over all its rounds.
    acceptance
        By position.
    lengths
        Rounds by (tokens drafted, steps of the drafter).
    """
    passes = {(drafted, looks): cost for drafted, looks, cost in model.passes}
    tokens = sum(count * kept_tokens(acceptance, n) for (n, _), count in lengths.items())
    cost = sum(
        count * (passes[n, steps] + model.step * steps + model.fixed)
        for (n, steps), count in lengths.items()
    )
    return ratio(tokens * (1.0 + model.plain_rest), cost)


def beside(predicted: float | None, measured: float | None) -> Prediction | None:
    """Put a prediction beside what was measured; None where either is missing."""
    apart = ratio(predicted, measured)
    if predicted is None or apart is None:
        return None
    return Prediction(speedup=predicted, difference=apart - 1.0)
