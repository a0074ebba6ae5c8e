"""Rounds written by hand, by their fates: "aar" is two accepted, then a rejected drafted token."""

from __future__ import annotations

from engine.trace.events import (
    CacheSpan,
    ClosingKind,
    ClosingToken,
    DraftedToken,
    Fate,
    Probe,
    Round,
    RoundTimes,
)

RUN = "run"
_FATES = {"a": Fate.ACCEPTED, "r": Fate.REJECTED, "d": Fate.DISCARDED, "c": Fate.CUT}


def make_round(
    index: int,
    fates: str = "",
    *,
    draft_ns: int = 0,
    verify_ns: int = 20_000_000,
    token: int = 7,
    span: CacheSpan | None = None,
) -> Round:
    drafted = tuple(
        DraftedToken(id=token, piece=b"x", q_draft=0.5, p_target=0.5, fate=_FATES[fate])
        for fate in fates
    )
    kind = ClosingKind.PLAIN
    if fates:
        kind = ClosingKind.CORRECTION if "r" in fates else ClosingKind.BONUS
    closing = None
    if "c" not in fates:
        closing = ClosingToken(id=token, piece=b"x", kind=kind, probability=0.5)
    emitted = fates.count("a") + (closing is not None)
    return Round(
        run=RUN,
        index=index,
        position=10 + index,
        drafter="head",
        k=len(fates),
        drafted=drafted,
        closing=closing,
        texts=("x",) * emitted,
        times=RoundTimes(draft=draft_ns, verify=verify_ns, accept=0, commit=0),
        target_cache=span
        or CacheSpan(
            before=9, peak=14, after=10, pages_before=1, pages_peak=1, pages_after=1, page_size=16
        ),
    )


def make_probe(after_round: int, ns: int = 20_000_000) -> Probe:
    return Probe(run=RUN, after_round=after_round, context_length=10, ns=ns)
