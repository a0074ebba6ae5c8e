"""Bare rounds with given verdicts and times, for figures that can be worked out by hand."""

from __future__ import annotations

from engine.trace.events import (
    CacheSpan,
    ClosingKind,
    ClosingToken,
    DraftedToken,
    Fate,
    Round,
    RoundTimes,
)

_FATES = {"a": Fate.ACCEPTED, "r": Fate.REJECTED, "d": Fate.DISCARDED, "c": Fate.CUT}
_SPAN = CacheSpan(
    before=0, peak=0, after=0, pages_before=1, pages_peak=1, pages_after=1, page_size=16
)


def bare_round(
    index: int,
    fates: str,
    *,
    draft: int = 0,
    verify: int = 1_000_000,
    accept: int = 0,
    commit: int = 0,
    observe: int = 0,
    closing: bool = True,
    paced: bool = False,
    first_id: int = 0,
) -> Round:
    """Return a round whose drafted tokens have these fates, one letter each: a, r, d or c."""
    drafted = tuple(
        DraftedToken(id=first_id + i, piece=b"x", q_draft=0.5, p_target=0.5, fate=_FATES[fate])
        for i, fate in enumerate(fates)
    )
    kind = ClosingKind.CORRECTION if "r" in fates else ClosingKind.BONUS
    kind = kind if fates else ClosingKind.PLAIN
    token = ClosingToken(id=first_id + 100, piece=b"y", kind=kind, probability=1.0)
    emitted = fates.count("a") + closing
    return Round(
        run="a",
        index=index,
        position=0,
        drafter="ngram",
        k=len(fates),
        drafted=drafted,
        closing=token if closing else None,
        texts=("x",) * emitted,
        times=RoundTimes(draft=draft, verify=verify, accept=accept, commit=commit, observe=observe),
        target_cache=_SPAN,
        paced=paced,
    )
