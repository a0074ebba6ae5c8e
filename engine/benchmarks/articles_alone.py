"""The models of `articles` alone: how well each knows a text, and how fast it is by itself.

Every drafter is asked for the law of each token, all before it given, beside the target's. Knows
drafters and laws; no rule and no rate of a round.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec
import torch

from engine.benchmarks.figures import spread
from engine.drafters.protocol import Context, DraftRequest
from engine.sampling import Sampling, draw, probabilities
from engine.sequence import Sequence
from engine.trace.figures import ratio
from engine.uniforms import Purpose, uniform

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.drafters.protocol import Drafter
    from engine.loading import LoadedModel

TARGET = "target"
_LAW = Sampling(temperature=1.0)
_LEAST = 2  # tokens given before the first that is asked for: a head joins two
_TINY = 1e-45  # the smallest float32 above 0: a law may round a token's mass to 0


class Alone(msgspec.Struct, frozen=True, kw_only=True):
    """One model on one sort of text, teacher-forced, at temperature 1.

    A drafter that scores a part of the vocabulary gives the other tokens no mass: its nats, and the
    target's beside them, are over the tokens that it scores. A head reads the target's states up to
    the token before the last one, so it looks two tokens ahead of them.
    """

    model: str  # "target" or a drafter's name
    texts: str  # "held-out" or "the target's own"
    tokens: int  # asked for
    covered: float  # share of them that the model scores
    nats_per_byte: float | None  # over the covered ones
    target_nats_per_byte: float | None  # the target's, over the same ones
    tokens_per_second: float  # 1 / median time of a token; of a head: of its step
    passes_per_token: float | None  # of the target: at the drafter's best greedy k


@dataclass
class Told:
    """What a model said of tokens."""

    nats: list[float] = field(default_factory=list)
    target_nats: list[float] = field(default_factory=list)
    piece_bytes: list[int] = field(default_factory=list)  # of the covered tokens
    ns: list[int] = field(default_factory=list)  # of every token

    def add(self, mass: float | None, target_mass: float, size: int, took: int) -> None:
        """Take in a token; without a mass it is outside the vocabulary that is scored."""
        self.ns.append(took)
        if mass is not None:
            self.nats.append(-math.log(max(mass, _TINY)))
            self.target_nats.append(-math.log(max(target_mass, _TINY)))
            self.piece_bytes.append(size)

    def figures(self, model: str, texts: str, passes_per_token: float | None) -> Alone:
        """Return them as figures; at least one token must have been asked for."""
        size = sum(self.piece_bytes)
        return Alone(
            model=model,
            texts=texts,
            tokens=len(self.ns),
            covered=len(self.nats) / len(self.ns),
            nats_per_byte=ratio(sum(self.nats), size),
            target_nats_per_byte=ratio(sum(self.target_nats), size),
            tokens_per_second=1e9 / spread(self.ns).median_ns,
            passes_per_token=passes_per_token,
        )


class Listener:
    """Asks models for the laws of a text's tokens, one after another."""

    def __init__(self, target: LoadedModel, drafters: Mapping[str, Drafter]) -> None:
        """Take drafters by name; none may be a look-up, which has no law."""
        self._target = target
        self._drafters = drafters
        self._pool = target.transformer.new_pool()

    @torch.inference_mode()
    def hear(
        self, told: Mapping[str, Told], ids: list[int], *, own: int = 0, seed: int = 0
    ) -> None:
        """Walk a text, or with `own` so many tokens that the target draws after it.

        Parameters
        ----------
        told
            By name, the target's among them; is added to.
        ids
            The text. Given are its first two tokens, or with `own` all of them.
        """
        begin = len(ids) if own else _LEAST
        if begin < _LEAST or begin + own > self._target.info.context_length:
            return
        sequence = Sequence(self._target.transformer, self._pool, ids[:begin])
        try:
            sequence.prefill()
            for drafter in self._drafters.values():
                drafter.begin()
                drafter.observe(sequence.tokens)
                drafter.prepare(_context(sequence), lambda: False)
            for index in range(begin, begin + own if own else len(ids)):
                drawn = None if own else ids[index]
                if self._step(told, sequence, drawn, seed) in self._target.end_tokens and own:
                    return
        finally:
            sequence.close()

    def _step(
        self, told: Mapping[str, Told], sequence: Sequence, token: int | None, seed: int
    ) -> int:
        """Ask every model for one token's mass, and put the token behind the text."""
        laws, took = {}, {}
        for name, drafter in self._drafters.items():
            begin = time.perf_counter_ns()
            request = DraftRequest(k=1, sampling=_LAW, uniforms=(0.5,))
            laws[name] = drafter.propose(_context(sequence), request)
            took[name] = time.perf_counter_ns() - begin
        begin = time.perf_counter_ns()
        model = sequence.model
        states = sequence.forward(sequence.tokens[-1:])
        law = probabilities(model.logits(sequence.last(states)), _LAW)[0]
        drawn = draw(law, uniform(seed, len(sequence.tokens), Purpose.PLAIN))
        took[TARGET] = time.perf_counter_ns() - begin
        token = drawn if token is None else token
        mass = float(law[token])
        size = len(self._target.tokenizer.piece(token))
        told[TARGET].add(mass, mass, size, took[TARGET])
        for name, proposal in laws.items():
            if proposal.q_draft is None:  # past the drafter's own context
                continue
            support = proposal.support
            scored = support is None or bool((support == token).any())
            given = float(proposal.q_draft[0, token]) if scored else None
            told[name].add(given, mass, size, took[name])
        sequence.commit((token,), states)
        for drafter in self._drafters.values():
            drafter.observe(sequence.tokens)
        return token


def _context(sequence: Sequence) -> Context:
    return Context(sequence.tokens, sequence.hidden, sequence.cache, sequence=sequence)
