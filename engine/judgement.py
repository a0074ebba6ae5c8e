"""From one judged pass to the frozen records of a Round. Computes nothing that was not decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.cache import PAGE_SIZE
from engine.trace.events import CacheSpan, ClosingKind, ClosingToken, DraftedToken, Fate
from engine.uniforms import Purpose, uniform

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from engine.acceptance import Verdict
    from engine.cache import KVCache
    from engine.drafters.protocol import Proposal
    from engine.emission import Emission
    from engine.trace.events import Laws


@dataclass(frozen=True)
class Judged:
    """A pass and its verdict, before anything is committed."""

    proposal: Proposal
    position: int  # of the first drafted token
    seed: int
    logits: Tensor  # [k+1, V]
    p_target: Tensor | None  # [k+1, V]; None if greedy
    verdict: Verdict
    target_ids: tuple[int, ...] | None = None  # the target's k+1 argmax ids; only if greedy

    @property
    def kept(self) -> tuple[int, ...]:
        """Accepted tokens and the closing one."""
        return (*self.proposal.tokens[: self.verdict.accepted], self.verdict.closing)

    @property
    def kind(self) -> ClosingKind:
        """Where the closing token came from."""
        drafted = len(self.proposal.tokens)
        if drafted == 0:
            return ClosingKind.PLAIN
        return ClosingKind.BONUS if self.verdict.accepted == drafted else ClosingKind.CORRECTION

    def test_uniform(self, index: int) -> float | None:
        """Return the uniform that tested drafted token `index`; None if greedy."""
        if self.p_target is None:
            return None
        return uniform(self.seed, self.position + index, Purpose.TEST)

    def closing_uniform(self) -> float | None:
        """Return the uniform that drew the closing token; None if greedy."""
        if self.p_target is None:
            return None
        return uniform(self.seed, self.position + self.verdict.accepted, Purpose(self.kind.value))


def drafted_records(
    judged: Judged,
    emission: Emission,
    laws: list[Laws] | None,
    piece: Callable[[int], bytes],
) -> tuple[DraftedToken, ...]:
    """Return one record for each drafted token, with its fate."""
    verdict = judged.verdict
    chances = verdict.acceptance_probabilities
    records = []
    for index, token in enumerate(judged.proposal.tokens):
        fate = _fate(index, verdict.accepted, emission)
        tested = fate in (Fate.ACCEPTED, Fate.REJECTED)
        records.append(
            DraftedToken(
                id=token,
                piece=piece(token),
                q_draft=verdict.q_draft[index],
                p_target=verdict.p_target[index],
                fate=fate,
                acceptance_probability=chances[index] if tested else None,
                u=judged.test_uniform(index) if tested else None,
                laws=None if laws is None else laws[index],
            )
        )
    return tuple(records)


def closing_record(
    judged: Judged,
    emission: Emission,
    laws: list[Laws] | None,
    piece: Callable[[int], bytes],
) -> ClosingToken | None:
    """Return the record of the closing token; None if the round was cut before it."""
    if emission.cut:
        return None
    verdict = judged.verdict
    return ClosingToken(
        id=verdict.closing,
        piece=piece(verdict.closing),
        kind=judged.kind,
        probability=verdict.closing_probability,
        u=judged.closing_uniform(),
        laws=None if laws is None else laws[verdict.accepted],
    )


def _fate(index: int, accepted: int, emission: Emission) -> Fate:
    if emission.cut and index >= len(emission.tokens):
        return Fate.CUT
    if index < accepted:
        return Fate.ACCEPTED
    return Fate.REJECTED if index == accepted else Fate.DISCARDED


@dataclass(frozen=True)
class CacheReading:
    """A cache's length and pages at one moment."""

    length: int
    pages: int

    @classmethod
    def of(cls, cache: KVCache | None) -> CacheReading | None:
        """Read a cache, if there is one."""
        return None if cache is None else cls(cache.length, cache.pages)


def cache_span(
    before: CacheReading | None, peak: CacheReading | None, after: CacheReading | None
) -> CacheSpan | None:
    """Join three readings of one cache; None if there is no cache."""
    if before is None or peak is None or after is None:
        return None
    return CacheSpan(
        before=before.length,
        peak=peak.length,
        after=after.length,
        pages_before=before.pages,
        pages_peak=peak.pages,
        pages_after=after.pages,
        page_size=PAGE_SIZE,
    )
