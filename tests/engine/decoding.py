"""A scripted drafter, and one way to run a decoder to its end with invariant 1 checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.decoder import Choice, Decoder
from engine.drafters.protocol import Proposal
from engine.emission import Limits
from engine.models.text.streaming import TextStream
from engine.sampling import Sampling
from engine.sequence import Sequence
from engine.trace.events import ModelInfo

if TYPE_CHECKING:
    from collections.abc import Sequence as Ids

    from engine.drafters.protocol import Context, Drafter, DraftRequest
    from engine.loading import LoadedModel
    from engine.trace.events import Round

PROMPT = [104, 101, 108, 108, 111, 32, 104, 101, 108, 108, 111]


class Scripted:
    """A deterministic drafter that proposes given texts, whatever the context."""

    spec = "scripted"
    cache = None

    def __init__(self, text: Ids[int]) -> None:
        self.info = ModelInfo(name="scripted", kind="ngram")
        self._text = text

    def begin(self) -> None:
        """Nothing to forget."""

    def prepare(self, context: Context, stopped: object) -> None:
        """Nothing to read."""

    def propose(self, context: Context, request: DraftRequest) -> Proposal:
        at = len(context.tokens) - len(PROMPT)
        return Proposal(tuple(self._text[at : at + request.k]))

    def observe(self, tokens: Ids[int]) -> None:
        """Nothing to drop."""

    def close(self) -> None:
        """Nothing is held."""


def decode(
    target: LoadedModel,
    drafter: Drafter | None,
    *,
    k: int = 4,
    sampling: Sampling = Sampling(),  # noqa: B008  # frozen
    count: int = 24,
    seed: int = 0,
    ends: frozenset[int] = frozenset(),
    stops: tuple[str, ...] = (),
    prompt: Ids[int] = PROMPT,
    drafter_sampling: Sampling | None = None,
    k_min: int = 0,
    confidence: float = 0.0,
    queued: bool | None = None,
) -> tuple[list[int], list[Round], Decoder]:
    """Run a decoder to its end; check invariant 1 on the way."""
    taps = getattr(drafter, "taps", ())
    sequence = Sequence(target.transformer, target.transformer.new_pool(), prompt, taps)
    sequence.prefill()
    if drafter is not None:
        drafter.begin()
    limits = Limits(len(prompt), count, target.info.context_length, ends)
    stream = TextStream(target.tokenizer, stops)
    choice = Choice(drafter, k, sampling, drafter_sampling, k_min, confidence)
    decoder = Decoder(sequence, target.tokenizer, stream, choice, limits, seed=seed, queued=queued)
    rounds = []
    for one in decoder.rounds():
        rounds.append(one)
        assert sequence.cache.length == len(sequence.tokens) - 1
        assert sequence.cache.pages == -(-sequence.cache.length // 16)
        assert len(sequence.hidden) == sequence.cache.length
        if drafter is not None and drafter.cache is not None:
            assert drafter.cache.length <= len(sequence.tokens) - 1
    return sequence.tokens[len(prompt) :], rounds, decoder
