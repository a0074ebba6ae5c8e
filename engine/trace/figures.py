"""The figures of a run as frozen values, and the words that say what each one divides by.

Knows the glossary and nothing of events or files: `statistics` computes these. A figure that is
undefined (nothing tested, nothing measured) is None, never zero and never NaN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from engine.trace.imported import Stated

PlainSource = Literal["probes", "baseline"]


class PlainMeasure(msgspec.Struct, frozen=True, kw_only=True):
    """The plain target as measured: whole plain rounds and the rate that follows from them.

    The interval holds the mean round with 95 % confidence (Student's t); it needs two samples.
    Its ends as rates are `1e9 / high_ns` and `1e9 / low_ns`.
    """

    samples: int  # plain rounds measured
    mean_ns: float
    low_ns: float | None = None
    high_ns: float | None = None
    tokens_per_second: float  # samples / summed round times
    low_tokens_per_second: float | None = None
    high_tokens_per_second: float | None = None


class PositionFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One draft position, 0 first, over all rounds."""

    drafted: int  # tokens drafted there, cut ones left out
    tested: int
    accepted: int
    acceptance: float | None  # accepted / tested: given that all before it were accepted


class PassCost(msgspec.Struct, frozen=True, kw_only=True):
    """What a pass over `drafted` + 1 tokens took, with its verdicts and its commit."""

    drafted: int
    rounds: int
    mean_ns: float  # verify + accept + commit, a round
    cost: float | None  # mean_ns over a plain round


class Percentiles(msgspec.Struct, frozen=True, kw_only=True):
    """p50, p95 and p99 in milliseconds, linear between the two nearest samples."""

    p50: float
    p95: float
    p99: float


class ImportedFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Counts that another program told, and the figures that follow from them; None: not told.

    No figure is computed by another definition than the glossary's.
    """

    program: str
    rounds: int | None
    drafts: int | None  # rounds with a draft
    drafted: int | None
    tested: int | None
    accepted: int | None
    rejected: int | None
    discarded: int | None
    emitted: int | None
    prompt_tokens: int | None
    decode_ns: int | None
    prefill_ns: int | None
    first_token_ns: int | None
    acceptance: float | None  # accepted / tested
    draft_yield: float | None  # accepted / drafted
    tokens_per_pass: float | None  # emitted / rounds
    tokens_per_draft: float | None  # (accepted + drafts) / drafts: of rounds with a draft
    tokens_per_second: float | None  # as the program states it, or emitted / decode_ns
    stated_rate: bool  # the program's own
    ms_per_token: float | None  # decode_ns / emitted
    positions: tuple[PositionFigures, ...]  # `drafted` there: those that were tested
    accepted_lengths: tuple[int, ...]  # [n] = rounds with a draft of which n were accepted
    stated: tuple[Stated, ...]  # the program's own figures, in its own words
    missing: tuple[str, ...]  # what it does not tell


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """Every figure of the glossary over some rounds of a run."""

    # Counts. drafted = tested + discarded; cut tokens are in `cut` alone.
    rounds: int  # = passes of the target
    plain_rounds: int  # rounds in which nothing was drafted
    drafted: int  # tested + discarded
    tested: int  # accepted + rejected
    accepted: int  # drafted tokens kept
    rejected: int  # the first of a round that was not
    discarded: int  # after a rejected one, never tested
    cut: int  # past a stop or the limit, in no other count
    bonus: int  # rounds whose draft was accepted whole and that drew one more
    emitted: int  # tokens added to the text

    # Ratios of counts.
    acceptance: float | None  # accepted / tested
    draft_yield: float | None  # accepted / drafted
    tokens_per_pass: float | None  # emitted / rounds
    positions: tuple[PositionFigures, ...]  # acceptance by draft position
    accepted_lengths: tuple[int, ...]  # [n] = drafted rounds with n accepted; cut rounds left out
    repeated_share: float | None  # 3-grams of the emitted ids that had been there before
    repetitive: bool  # over 60 % repeated: the acceptance says little about other text

    # Engine time, nanoseconds, measured. `round_ns` = draft + verify + accept + commit.
    round_ns: int
    draft_ns: int  # the drafter's
    verify_ns: int  # the target's passes, scored
    accept_ns: int  # laws, tests and draws
    commit_ns: int  # text, caches, what the drafter learns
    observe_ns: int  # outside the rounds' own time
    prefill_ns: int | None  # of the target, the prompt but for its last token
    first_token_ns: int | None  # prefill + first round
    # the engine waited for the picture; rates come from summed round times all the same
    paced: bool
    disturbed: bool  # a training computed meanwhile: times are not those of a quiet machine

    # Rates.
    tokens_per_second: float | None  # emitted / round_ns
    ms_per_token: float | None  # round_ns / emitted, amortised: not the time between tokens
    observe_share: float | None  # observe_ns / round_ns
    latency_ms: Percentiles | None  # time between arrivals: one burst a round

    # The plain target and what speculation gains over it.
    probes: PlainMeasure | None  # plain rounds between this run's rounds, at its own contexts
    baseline: PlainMeasure | None  # a plain run of the same prompt
    plain_source: PlainSource | None  # which of them the next figures use: probes if 2 or more
    plain: PlainMeasure | None  # that one
    speedup: float | None  # tokens_per_second / plain tokens per second, measured
    speedup_low: float | None  # by the ends of the plain interval
    speedup_high: float | None  # by the other end

    # The cost model (Leviathan et al. 2023, thm 3.8), with a = acceptance, n drafted in a round.
    c: float | None  # time per drafted token / plain round
    pass_costs: tuple[PassCost, ...]  # by tokens drafted
    expected_tokens_per_pass: float | None  # derived: mean of (1 - a^(n+1)) / (1 - a)
    predicted_speedup: float | None  # predicted: (1 - a^(n+1)) / ((1 - a)(c n + 1))

    # Of a run that another program made; there are no rounds then, and all else is 0 or None.
    imported: ImportedFigures | None = None


def expected_tokens(acceptance: float, drafted: int) -> float:
    """Return (1 - a^(n+1)) / (1 - a), the tokens of a pass on `drafted` tokens.

    It is the sum 1 + a + ... + a^n, which is n + 1 at a = 1. Summed rather than divided: no
    cancellation near 1.

    Parameters
    ----------
    acceptance
        a in [0, 1], the same at each position.
    drafted
        n >= 0.
    """
    # Leviathan et al. 2023, eq. 1.
    total, power = 1.0, 1.0
    for _ in range(drafted):
        power *= acceptance
        total += power
    return total


def predicted_speedup(acceptance: float, drafted: int, c: float) -> float:
    """Return (1 - a^(n+1)) / ((1 - a)(c n + 1)): the pass on n + 1 tokens taken as one plain pass.

    Parameters
    ----------
    acceptance
        a in [0, 1].
    drafted
        n >= 0.
    c
        Time per drafted token over the time of a plain round.
    """
    # Leviathan et al. 2023, thm 3.8.
    return expected_tokens(acceptance, drafted) / (c * drafted + 1.0)


def ratio(over: float | None, under: float | None) -> float | None:
    """Return over / under; None where either is missing or `under` is not positive."""
    if over is None or under is None or under <= 0:
        return None
    return over / under
