"""The decoding loop: propose, verify, accept, commit, yield a Round; `finally` leaves caches right.

Knows a target's sequence, a drafter and the rule. Knows no prompt, no file and no viewer; the
session prepares the sequence and says when to stop.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import torch

from engine.acceptance import accept, accept_greedy
from engine.drafters.protocol import Context, Proposal
from engine.emission import emit
from engine.errors import DraftscopeError
from engine.judgement import (
    CacheReading,
    Judged,
    cache_span,
    closing_record,
    drafted_records,
)
from engine.models.settling import settle
from engine.observation import Observer
from engine.sampling import greedy_ids, probabilities
from engine.trace.events import Round, RoundTimes
from engine.uniforms import Purpose, uniform

if TYPE_CHECKING:
    from collections.abc import Generator

    from torch import Tensor

    from engine.drafters.protocol import Drafter
    from engine.emission import Emission, Limits
    from engine.models.streaming import TextStream
    from engine.models.tokenizer import Tokenizer
    from engine.sampling import Sampling
    from engine.sequence import Sequence
    from engine.trace.events import FinishReason, Laws


@dataclass(frozen=True)
class Choice:
    """What may change between rounds."""

    drafter: Drafter | None  # None: plain rounds
    k: int
    sampling: Sampling


class Decoder:
    """Runs rounds on one sequence until a stop or the limit."""

    def __init__(
        self,
        sequence: Sequence,
        tokenizer: Tokenizer,
        stream: TextStream,
        choice: Choice,
        limits: Limits,
        *,
        run: str = "",
        seed: int = 0,
        top_n: int = 8,
    ) -> None:
        """Take a prefilled sequence: every token but the last is in the target's cache."""
        self.sequence = sequence
        self.choice = choice
        self.reason: FinishReason | None = None  # why the text ended; None: it goes on
        self.paced = False  # whether the engine waited for the picture before the next round
        self._tokenizer = tokenizer
        self.stream = stream
        self._limits = limits
        self._run = run
        self._seed = seed
        self._observer = Observer(top_n, tokenizer.piece) if top_n else None
        self._index = 0

    def rounds(self) -> Generator[Round, None, None]:
        """Yield rounds until one ends the text; `choice` may be replaced between them."""
        try:
            while self.reason is None:
                yield self._round()
        finally:
            self.sequence.restore()
            if self.choice.drafter is not None:
                self.choice.drafter.observe(self.sequence.tokens)

    @torch.inference_mode()
    def _round(self) -> Round:
        sequence, drafter = self.sequence, self.choice.drafter
        own = None if drafter is None else drafter.cache
        position = len(sequence.tokens)
        before = CacheReading.of(sequence.cache), CacheReading.of(own)
        moments = [time.perf_counter_ns()]
        proposal = self._propose(position)
        moments.append(time.perf_counter_ns())
        hidden, logits = self._verify(proposal)
        moments.append(time.perf_counter_ns())
        judged = self._accept(proposal, logits, position)
        moments.append(time.perf_counter_ns())
        peak = CacheReading.of(sequence.cache), CacheReading.of(own)
        emission = self._commit(judged, hidden)
        moments.append(time.perf_counter_ns())
        laws = self._observe(judged)
        moments.append(time.perf_counter_ns())
        after = CacheReading.of(sequence.cache), CacheReading.of(own)
        draft, verify, accepting, commit, observe = (
            end - begin for begin, end in pairwise(moments)
        )
        span = cache_span(before[0], peak[0], after[0])
        assert span is not None
        index, self._index = self._index, self._index + 1
        return Round(
            run=self._run,
            index=index,
            position=position,
            drafter="none" if drafter is None else drafter.spec,
            k=0 if drafter is None else self.choice.k,
            drafted=drafted_records(judged, emission, laws, self._tokenizer.piece),
            closing=closing_record(judged, emission, laws, self._tokenizer.piece),
            texts=emission.texts,
            times=RoundTimes(
                draft=draft, verify=verify, accept=accepting, commit=commit, observe=observe
            ),
            target_cache=span,
            drafter_cache=cache_span(before[1], peak[1], after[1]),
            match=proposal.match,
            paced=self.paced,
        )

    def _propose(self, position: int) -> Proposal:
        """Draft up to k tokens, never more than the limit leaves beside the closing one."""
        choice = self.choice
        k = min(choice.k, self._limits.room(position) - 1)
        if choice.drafter is None or k <= 0:
            return Proposal(())
        uniforms = [uniform(self._seed, position + i, Purpose.DRAFT) for i in range(k)]
        context = Context(self.sequence.tokens, self.sequence.hidden)
        return choice.drafter.propose(context, k, choice.sampling, uniforms)

    def _verify(self, proposal: Proposal) -> tuple[Tensor, Tensor]:
        """Run the round's one pass; hidden rows [k+1, D] and logits [k+1, V]."""
        sequence = self.sequence
        waiting = sequence.tokens[sequence.cache.length :]
        assert len(waiting) == 1, "invariant 1: all but the last token is cached"
        hidden = sequence.model.forward([*waiting, *proposal.tokens], sequence.cache)
        logits = sequence.model.logits(hidden)
        settle(logits.device)  # draft and accept end with reading a number, this phase does not
        return hidden, logits

    def _accept(self, proposal: Proposal, logits: Tensor, position: int) -> Judged:
        tokens, sampling = proposal.tokens, self.choice.sampling
        k = len(tokens)
        if sampling.greedy:
            target_ids = _argmax_ids(logits)
            verdict = accept_greedy(target_ids, tokens)
            return Judged(proposal, position, self._seed, logits, None, verdict, tuple(target_ids))
        p_target = probabilities(logits, sampling)
        if not math.isfinite(float(p_target.sum())):
            raise _not_finite()
        last = Purpose.BONUS if k else Purpose.PLAIN
        tests = [uniform(self._seed, position + i, Purpose.TEST) for i in range(k)]
        closings = [uniform(self._seed, position + i, Purpose.CORRECTION) for i in range(k)]
        closings.append(uniform(self._seed, position + k, last))
        try:
            verdict = accept(p_target, proposal.q_draft, tokens, tests, closings)
        except ValueError as error:
            raise DraftscopeError(
                f"The drafter's law is broken ({error}), so its tokens cannot be verified; "
                "choose another drafter."
            ) from error
        return Judged(proposal, position, self._seed, logits, p_target, verdict)

    def _commit(self, judged: Judged, hidden: Tensor) -> Emission:
        """Add what was emitted to the text and drop from both caches what was not."""
        sequence = self.sequence
        emission = emit(judged.kept, len(sequence.tokens), self._limits, self.stream)
        sequence.commit(emission.tokens, hidden)
        if self.choice.drafter is not None:
            self.choice.drafter.observe(sequence.tokens)
        self.reason = emission.reason
        return emission

    def _observe(self, judged: Judged) -> list[Laws] | None:
        if self._observer is None:
            return None
        return self._observer.observe(judged, self.choice.sampling)


def _argmax_ids(logits: Tensor) -> list[int]:
    """Return each row's argmax in one transfer, unless what chose it is no number."""
    ids = greedy_ids(logits)
    sound = torch.isfinite(logits.gather(1, ids[:, None]))[:, 0]
    found: list[list[int]] = torch.stack((ids, sound.to(ids.dtype))).tolist()
    if not all(found[1]):
        raise _not_finite()
    return found[0]


def _not_finite() -> DraftscopeError:
    return DraftscopeError(
        "The target's logits are not finite numbers, so nothing can be drawn from them; "
        "check its weights, or choose the eager plan (--plan eager)."
    )
