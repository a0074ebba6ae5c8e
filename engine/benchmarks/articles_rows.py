"""The figures of `articles`: from rounds beside plain rounds to rows. Pure: runs no model.

What comes after a text has begun to repeat itself is in figures of its own.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import msgspec

from engine.benchmarks.articles_model import (
    CostModel,
    Prediction,
    RoundCost,
    beside,
    by_position,
    cost_model,
    with_one_acceptance,
)
from engine.benchmarks.figures import Ratio, rate_ratio
from engine.repetition import where_repeated
from engine.trace.events import DraftEnd, Fate
from engine.trace.figures import PositionFigures, ratio
from engine.trace.statistics import statistics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.trace.events import Round

Verdict = Literal["identical", "tie", "fault"]  # on greedy text beside the plain target's


@dataclass(frozen=True)
class Cell:
    """What is measured: a drafter, and how it drafts."""

    drafter: str
    k: int
    temperature: float
    confidence: float = 0.0  # below it a draft ends before another token is drawn; 0: never


@dataclass(frozen=True)
class Taken:
    """A text decoded, beside the plain target's."""

    rounds: Sequence[Round]
    plain: Sequence[Round]
    verdict: Verdict | None = None  # None: sampled


class Repetition(msgspec.Struct, frozen=True, kw_only=True):
    """What was said again and again, in no other figure."""

    texts: int  # that fell into it
    tokens: int
    acceptance: float | None  # at the first position
    tokens_per_pass: float | None
    speedup: float | None


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One drafter, k and temperature over some texts, beside plain runs of the same."""

    drafter: str
    k: int
    temperature: float
    confidence: float  # 0: every draft has k tokens if it can
    texts: str  # "beginnings", a kind of prompt, or "all kinds"
    runs: int
    rounds: int
    tokens: int  # emitted
    tokens_per_second: float  # emitted / summed round times
    plain_tokens_per_second: float
    speedup: Ratio | None  # of these two; bootstrapped over runs
    identical: int | None  # greedy texts that are the plain target's; None if sampled
    ties: int  # that differ first where two logits are equal but for rounding
    acceptance: float | None  # accepted / tested
    positions: tuple[PositionFigures, ...]
    overlap: float | None  # mean sum(min(p_target, q_draft)) at the first position; None if greedy
    tokens_per_pass: float  # emitted / rounds
    drafted: float  # tokens a round
    c: float | None  # time per drafted token over the plain pass
    v: float | None  # the verifying pass after k drafted tokens over the plain pass
    fixed: float  # verdicts and commit over the plain pass
    one_acceptance: Prediction | None  # (1 - a^(k+1)) / ((1 - a)(k c + v)), from this row
    by_position: Prediction | None  # from the drafter's CostModel
    repetition: Repetition | None  # None: no text fell into it

    @property
    def cell(self) -> Cell:
        """Return what was measured."""
        return Cell(self.drafter, self.k, self.temperature, self.confidence)


def split(rounds: Sequence[Round], begin: int | None) -> tuple[list[Round], list[Round]]:
    """Split rounds at the first that begins with `begin` emitted tokens or more; None: nowhere."""
    if begin is None:
        return list(rounds), []
    before = [one for one in rounds if one.position - rounds[0].position < begin]
    return before, list(rounds[len(before) :])


def emitted_ids(rounds: Sequence[Round]) -> tuple[int, ...]:
    """Return the ids that rounds added to the text."""
    return tuple(token for one in rounds for token in one.emitted_ids)


def parted(run: Taken) -> tuple[Taken, Taken | None]:
    """Return a run before its text repeats itself, and from there on."""
    begin = where_repeated(emitted_ids(run.rounds))
    rounds, again = split(run.rounds, begin)
    plain, plain_again = split(run.plain, where_repeated(emitted_ids(run.plain)))
    fresh = Taken(rounds, plain, run.verdict)
    return fresh, Taken(again, plain_again) if again else None


def steps_of(one: Round) -> int:
    """Return how often the drafter looked: once more where it was unsure."""
    return len(one.drafted) + (one.draft_end is DraftEnd.UNSURE)


def cost_of(one: Round) -> RoundCost:
    """Return what a round took, for the cost model."""
    times = one.times
    rest = times.accept + times.commit
    return RoundCost(len(one.drafted), steps_of(one), times.draft, times.verify, rest)


def make_rows(
    taken: Mapping[Cell, Sequence[Taken]], texts: str
) -> tuple[CostModel | None, tuple[Row, ...]]:
    """Return the figures of one drafter at one temperature: a row for each cell, and its costs.

    Parameters
    ----------
    taken
        Runs of each cell, all of one drafter and temperature.
    texts
        What was decoded, as `Row.texts` keeps it.
    """
    parts = {cell: [parted(run) for run in runs] for cell, runs in taken.items()}
    rounds = {
        cell: [one for fresh, _ in both for one in fresh.rounds] for cell, both in parts.items()
    }
    plain = [one for both in parts.values() for fresh, _ in both for one in fresh.plain]
    every = [one for some in rounds.values() for one in some]
    if not every or not plain:
        return None, ()
    fixed_k = [one for cell, some in rounds.items() if not cell.confidence for one in some]
    first = next(iter(taken))
    model = cost_model(
        first.drafter,
        first.temperature,
        texts,
        curve(fixed_k or every),
        [cost_of(one) for one in every],
        [cost_of(one) for one in plain],
    )
    return model, tuple(_row(cell, both, model) for cell, both in parts.items() if rounds[cell])


def curve(rounds: Sequence[Round]) -> tuple[float, ...]:
    """Return acceptance by position, as far as any token was tested."""
    found = (place.acceptance for place in statistics(rounds).positions)
    return tuple(value for value in found if value is not None)


def _row(cell: Cell, both: Sequence[tuple[Taken, Taken | None]], model: CostModel) -> Row:
    runs = [fresh for fresh, _ in both]
    rounds = [one for run in runs for one in run.rounds]
    figures = statistics(rounds)
    speedup = _speedup(runs)
    measured = None if speedup is None else speedup.value
    whole = [one for one in rounds if all(token.fate is not Fate.CUT for token in one.drafted)]
    lengths = Counter((len(one.drafted), steps_of(one)) for one in whole)
    own = curve(rounds) if cell.confidence else model.acceptance
    passes = _passes(rounds, model.pass_ns)
    drafted = sum(len(one.drafted) for one in rounds)
    c = ratio(figures.draft_ns / model.pass_ns, drafted)
    verdicts = [run.verdict for run in runs if run.verdict is not None]
    plain_rate = _rate([one for run in runs for one in run.plain])
    return Row(
        drafter=cell.drafter,
        k=cell.k,
        temperature=cell.temperature,
        confidence=cell.confidence,
        texts=model.texts,
        runs=len(runs),
        rounds=len(rounds),
        tokens=figures.emitted,
        tokens_per_second=_rate(rounds),
        plain_tokens_per_second=plain_rate,
        speedup=speedup,
        identical=verdicts.count("identical") if verdicts else None,
        ties=verdicts.count("tie"),
        acceptance=figures.acceptance,
        positions=figures.positions,
        overlap=_overlap(rounds),
        tokens_per_pass=figures.emitted / len(rounds),
        drafted=drafted / len(rounds),
        c=c,
        v=passes.get(cell.k),
        fixed=(figures.accept_ns + figures.commit_ns) / len(rounds) / model.pass_ns,
        one_acceptance=beside(_one(figures.acceptance, lengths, c, passes), measured),
        by_position=beside(by_position(model, own, lengths), measured),
        repetition=_repetition([again for _, again in both if again is not None]),
    )


def _one(
    acceptance: float | None,
    lengths: Mapping[tuple[int, int], int],
    c: float | None,
    passes: Mapping[int, float],
) -> float | None:
    if acceptance is None or c is None:
        return None
    drafted: Counter[int] = Counter()
    for (length, _), count in lengths.items():
        drafted[length] += count
    return with_one_acceptance(acceptance, drafted, c, passes)


def _passes(rounds: Sequence[Round], pass_ns: float) -> dict[int, float]:
    """Return the mean verifying pass by tokens drafted, over the plain pass."""
    found: dict[int, list[int]] = {}
    for one in rounds:
        found.setdefault(len(one.drafted), []).append(one.times.verify)
    return {length: sum(ns) / len(ns) / pass_ns for length, ns in found.items()}


def _amount(rounds: Sequence[Round]) -> tuple[int, int]:
    return sum(one.emitted for one in rounds), sum(one.times.round for one in rounds)


def _rate(rounds: Sequence[Round]) -> float:
    tokens, ns = _amount(rounds)
    return 1e9 * tokens / ns if ns else 0.0


def _speedup(runs: Sequence[Taken]) -> Ratio | None:
    return rate_ratio([_amount(run.rounds) for run in runs], [_amount(run.plain) for run in runs])


def _overlap(rounds: Sequence[Round]) -> float | None:
    laws = [one.drafted[0].laws for one in rounds if one.drafted]
    seen = [law.overlap for law in laws if law is not None and law.overlap is not None]
    return ratio(sum(seen), len(seen))


def _repetition(runs: Sequence[Taken]) -> Repetition | None:
    if not runs:
        return None
    rounds = [one for run in runs for one in run.rounds]
    figures, speedup = statistics(rounds), _speedup(runs)
    return Repetition(
        texts=len(runs),
        tokens=figures.emitted,
        acceptance=figures.positions[0].acceptance if figures.positions else None,
        tokens_per_pass=figures.tokens_per_pass,
        speedup=None if speedup is None else speedup.value,
    )
