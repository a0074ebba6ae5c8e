"""The decoding loop: propose, verify, accept, commit, yield a Round; `finally` leaves caches right.

Knows a target's sequence, a drafter and the rule. Knows no prompt, no file and no viewer; the
session prepares the sequence and says when to stop.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch

from engine.acceptance import accept, accept_greedy
from engine.drafters.protocol import Context, DraftRequest, Proposal, QueuedProposal
from engine.emission import emit
from engine.errors import DraftscopeError
from engine.judgement import (
    CacheReading,
    Judged,
    cache_span,
    closing_record,
    drafted_records,
)
from engine.laws import laws_of
from engine.models.network import NOTHING, Wish
from engine.models.settling import queues_rounds, settle, side_stream
from engine.observation import Observer
from engine.penalties import adjusted
from engine.phases import Phases, device_events
from engine.queued import QueuedRound, Sent
from engine.sampling import Sampling, probabilities, sound, sound_ids, sound_law
from engine.trace.events import DraftEnd, Round, RoundTimes
from engine.uniforms import Purpose, uniform

if TYPE_CHECKING:
    from collections.abc import Generator
    from collections.abc import Sequence as Ids

    from torch import Tensor

    from engine.drafters.protocol import Drafter
    from engine.emission import Emission, Limits
    from engine.laws import Lawmaker
    from engine.models.network import Passed
    from engine.models.text.streaming import TextStream
    from engine.models.text.tokenizer import Tokenizer
    from engine.observation import Look
    from engine.sequence import Sequence
    from engine.trace.events import FinishReason, Laws, Settings


@dataclass(frozen=True)
class Choice:
    """What may change between rounds."""

    drafter: Drafter | None  # None: plain rounds
    k: int
    sampling: Sampling
    drafter_sampling: Sampling | None = None  # None: the same
    k_min: int = 0
    confidence: float = 0.0

    @classmethod
    def of(cls, settings: Settings, drafter: Drafter | None) -> Choice:
        """Take what settings ask of a drafter and of both sides' laws."""
        return cls(
            drafter,
            settings.k,
            Sampling.of(settings),
            Sampling.of_drafter(settings),
            settings.k_min,
            settings.confidence,
        )

    def request(
        self,
        k: int,
        uniforms: Ids[float],
        queue: Tensor | None = None,
        laws: Lawmaker | None = None,
    ) -> DraftRequest:
        """Return what is asked of the drafter in a round that may draft k tokens."""
        sampling = self.drafter_sampling or self.sampling
        return DraftRequest(k, sampling, uniforms, self.k_min, self.confidence, queue, laws)


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
        queued: bool | None = None,
    ) -> None:
        """Take a prefilled sequence: every token but the last is in the target's cache.

        Whether rounds are `queued` whole on the device changes no token, fate, law or uniform of
        theirs; cache peaks may differ where a confidence ends drafts, as a queued draft runs on.
        None leaves it to the device.
        """
        self.sequence = sequence
        self.choice = choice
        self.reason: FinishReason | None = None  # why the text ended; None: it goes on
        self.paced = False  # whether the engine waited for the picture before the next round
        self.disturbed = False  # whether something else computes on the machine meanwhile
        self._tokenizer = tokenizer
        self.stream = stream
        self._limits = limits
        self._run = run
        self._seed = seed
        self._scans = sequence.model.plan.scans
        self._laws = laws_of(sequence.model.plan)
        self._observer = Observer(top_n, tokenizer.piece, self._scans) if top_n else None
        self._index = 0
        self._device = sequence.model.plan.device
        self._queued = queues_rounds(self._device) if queued is None else queued
        self._phases = Phases(device_events(self._device) if self._queued else None)
        self._beside = side_stream(self._device)

    def rounds(self) -> Generator[Round, None, None]:
        """Yield rounds until one ends the text; `choice` may be replaced between them."""
        try:
            while self.reason is None:
                yield self._round()
        except DraftscopeError:  # logits or a law were no numbers: rows of the caches may be none
            self._heal()
            raise
        finally:
            self.sequence.restore()
            if self.choice.drafter is not None:
                self.choice.drafter.observe(self.sequence.tokens)

    def _heal(self) -> None:
        """Leave no row in either store that would spoil the texts that come after this one."""
        own = None if self.choice.drafter is None else self.choice.drafter.cache
        for cache in (self.sequence.cache, own):
            if cache is not None:
                cache.heal()

    @torch.inference_mode()
    def _round(self) -> Round:
        sequence, drafter = self.sequence, self.choice.drafter
        own = None if drafter is None else drafter.cache
        position = len(sequence.tokens)
        before = CacheReading.of(sequence.cache), CacheReading.of(own)
        self._phases.begin()
        draft = self._propose(position)
        self._phases.next()
        passed = self._verify(draft)
        self._phases.next()
        judged = self._accept(draft, passed, position)
        drafting, verify, accepting = self._phases.end()
        moments = [time.perf_counter_ns()]
        look = self._look(judged)
        peak = CacheReading.of(sequence.cache), CacheReading.of(own)
        moments.append(time.perf_counter_ns())
        emission = self._commit(judged, passed.rows)
        moments.append(time.perf_counter_ns())
        laws = self._observe(judged, emission, look)
        moments.append(time.perf_counter_ns())
        after = CacheReading.of(sequence.cache), CacheReading.of(own)
        proposal = judged.proposal
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
                draft=drafting,
                verify=verify,
                accept=accepting,
                commit=moments[2] - moments[1],
                observe=moments[1] - moments[0] + moments[3] - moments[2],
            ),
            target_cache=span,
            drafter_cache=cache_span(before[1], peak[1], after[1]),
            match=proposal.match,
            draft_end=proposal.end,
            paced=self.paced,
            disturbed=self.disturbed,
        )

    def _propose(self, position: int) -> Proposal | QueuedRound:
        """Draft up to k tokens, never more than the limit leaves beside the closing one."""
        choice = self.choice
        asked = 0 if choice.drafter is None else choice.k
        k = min(asked, max(0, self._limits.room(position) - 1))
        sent: Sent | None = None
        if self._queued:
            sent = Sent.of(self.sequence.tokens[-1], position, k, self._seed, self._device)
        proposal: Proposal | QueuedProposal = Proposal(())
        if choice.drafter is not None and k:
            uniforms = [uniform(self._seed, position + i, Purpose.DRAFT) for i in range(k)]
            queue = None if sent is None else sent.drafts
            request = choice.request(k, uniforms, queue, self._laws)
            proposal = choice.drafter.propose(self._context(), request)
        if k < asked and proposal.length == k:
            proposal = replace(proposal, end=DraftEnd.LIMIT)
        if sent is not None:
            return QueuedRound.of(sent, proposal)
        assert isinstance(proposal, Proposal), "nothing was asked to be queued"
        return proposal

    def _context(self) -> Context:
        sequence = self.sequence
        seen = sequence.seen_by(self.choice.sampling)
        return Context(sequence.tokens, sequence.hidden, sequence.cache, seen, sequence)

    def _verify(self, draft: Proposal | QueuedRound) -> Passed:
        """Run the round's one pass: states [k+1, D or more] and logits [k+1, V]."""
        sequence = self.sequence
        waiting = sequence.tokens[sequence.cache.length :]
        assert len(waiting) == 1, "invariant 1: all but the last token is cached"
        if isinstance(draft, QueuedRound):
            return sequence.run(draft.ids, draft.proposal.lower)
        sampling, wish = self.choice.sampling, NOTHING
        if sampling.softens:
            wish = Wish(temperature=sampling.temperature)
        passed = sequence.run([*waiting, *draft.tokens], draft.lower, wish)
        settle(passed.scores.device)  # draft and accept end with reading a number, this does not
        return passed

    def _accept(self, draft: Proposal | QueuedRound, passed: Passed, position: int) -> Judged:
        try:
            if isinstance(draft, Proposal):
                return self._accept_read(draft, passed, position)
            judged = self._accept_queued(draft, passed.scores, position)
        except ValueError as error:
            raise DraftscopeError(
                f"The drafter's law is broken ({error}), so its tokens cannot be verified; "
                "choose another drafter."
            ) from error
        proposed = judged.proposal.length
        if proposed < draft.proposal.length:  # rows of the others are padding: never counted
            self.sequence.cache.truncate(position + proposed)
        return judged

    def _accept_read(self, proposal: Proposal, passed: Passed, position: int) -> Judged:
        """Judge tokens that the host knows, reading numbers on the way."""
        tokens, sampling, logits = proposal.tokens, self.choice.sampling, passed.scores
        k = len(tokens)
        scores = adjusted(logits, sampling, self.sequence.seen_by(sampling), tokens)
        if sampling.greedy:
            best = passed.best if scores is logits else None
            if best is None:
                ids = sound_ids(scores, "target", self._scans)
            else:
                ids = [sound(one, "target") for one in best]
            verdict = accept_greedy(ids, tokens, proposal.q_draft)
            return Judged(proposal, position, self._seed, logits, None, verdict, tuple(ids))
        if passed.laws is not None and passed.best is not None:
            p_target = passed.laws
            for one in passed.best:
                sound(one, "target")
        elif self._laws is None:
            p_target = sound_law(probabilities(scores, sampling), "target")
        else:
            p_target = self._laws.law(scores, sampling, "target")
        last = Purpose.BONUS if k else Purpose.PLAIN
        tests = [uniform(self._seed, position + i, Purpose.TEST) for i in range(k)]
        closings = [uniform(self._seed, position + i, Purpose.CORRECTION) for i in range(k)]
        closings.append(uniform(self._seed, position + k, last))
        verdict = accept(p_target, proposal.q_draft, tokens, tests, closings, self._laws)
        return Judged(proposal, position, self._seed, logits, p_target, verdict)

    def _accept_queued(self, draft: QueuedRound, logits: Tensor, position: int) -> Judged:
        """Judge what stands on the device, and read the round's one transfer."""
        sampling = self.choice.sampling
        seen = self.sequence.seen_by(sampling)
        scores = adjusted(logits, sampling, seen, draft.proposal.ids)
        return draft.judge(logits, scores, sampling, position, self._seed)

    def _commit(self, judged: Judged, states: Tensor) -> Emission:
        """Add what was emitted to the text and drop from both caches what was not."""
        sequence = self.sequence
        emission = emit(judged.kept, len(sequence.tokens), self._limits, self.stream)
        sequence.commit(emission.tokens, states)
        if self.choice.drafter is not None:
            self.choice.drafter.observe(sequence.tokens)
        self.reason = emission.reason
        return emission

    def _look(self, judged: Judged) -> Look | None:
        """Let the device look at a queued round, beside all else, while the host commits it."""
        if self._observer is None or not self._queued:
            return None
        with self._beside():
            return self._observer.look(judged, self.choice.sampling)

    def _observe(self, judged: Judged, emission: Emission, look: Look | None) -> list[Laws] | None:
        if self._observer is None:
            return None
        if look is None:
            return self._observer.observe(judged, self.choice.sampling, cut=emission.cut)
        with self._beside():
            return self._observer.laws(look, cut=emission.cut)
