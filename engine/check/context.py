"""One real context, decoded many times: the first tokens of its rounds against the target's law.

Every draw is a real round of the decoder from the same prefilled text, with a seed of its own; then
the text is rewound. Knows decoder, sequence and drafters; no session and no command line.
"""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

import msgspec
import torch

from engine.check.fit import Fit, Share, chi_square, share
from engine.decoder import Choice, Decoder
from engine.drafters.protocol import Context
from engine.emission import Limits
from engine.models.text.streaming import TextStream
from engine.penalties import Seen, adjusted
from engine.sampling import Sampling, probabilities
from engine.sequence import Sequence
from engine.trace.events import Fate

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Sequence as Ids

    from engine.cache import PagePool
    from engine.drafters.protocol import Drafter
    from engine.loading import LoadedModel
    from engine.trace.events import Round, Settings

_LEAST_SECOND = 25  # rounds with two tokens, below which their second one is not compared


class ContextResult(msgspec.Struct, frozen=True, kw_only=True):
    """What the rounds of one drafter came to."""

    drafter: str
    k: int
    drafted: float  # tokens a round
    emitted: float  # tokens a round
    first: Fit  # of the first emitted token against the target's law
    second_after: int | None  # the commonest first token of rounds that emitted two
    second: Fit | None  # of the second one against the law after it; None where rounds are few
    acceptance: Share | None  # of the first drafted token; None where nothing was drafted


class _Rounds:
    """What is kept of the rounds."""

    def __init__(self) -> None:
        self.first: Counter[int] = Counter()
        self.pairs: Counter[tuple[int, int]] = Counter()
        self.drafted = self.emitted = self.tested = self.accepted = 0
        self.overlap: float | None = None  # of the first drafted position

    def add(self, one: Round) -> None:
        ids = one.emitted_ids
        self.first[ids[0]] += 1
        if len(ids) > 1:
            self.pairs[ids[0], ids[1]] += 1
        self.drafted += len(one.drafted)
        self.emitted += len(ids)
        if one.drafted:
            self.tested += 1
            self.accepted += one.drafted[0].fate is Fate.ACCEPTED
            laws = one.drafted[0].laws
            if laws is not None:
                self.overlap = laws.overlap


def law_after(
    model_of: LoadedModel, pool: PagePool, prompt: Ids[int], output: Ids[int], sampling: Sampling
) -> list[float]:
    """Return the target's law after prompt and output, from a pass on the last token alone; [V]."""
    model = model_of.transformer
    sequence = Sequence(model, pool, [*prompt, *output])
    try:
        sequence.prefill()
        with torch.inference_mode():
            hidden = model.forward(sequence.tokens[-1:], sequence.cache)
            seen = Seen(model.vocabulary, hidden.device, prompt)
            seen.extend(output)
            scores = adjusted(model.logits(hidden), sampling, seen)
            law: list[float] = probabilities(scores, sampling)[0].double().tolist()
    finally:
        sequence.close()
    return law


def run_context(
    target: LoadedModel,
    pool: PagePool,
    prompt: Ids[int],
    drafter: Drafter,
    settings: Settings,
    draws: int,
    on_progress: Callable[[int, int, str], None] | None = None,
) -> ContextResult:
    """Decode one round `draws` times, with the seeds 0, 1, 2, ... .

    Parameters
    ----------
    prompt
        The context, at least two tokens; no end token ends a round.
    settings
        k and how the laws are shaped; `drafter` is what drafts.
    """
    kept = _decode(target, pool, prompt, drafter, settings, draws, on_progress)
    sampling = Sampling.of(settings)
    first = chi_square(kept.first, law_after(target, pool, prompt, (), sampling))
    second, after = _second(
        kept.pairs, lambda token: law_after(target, pool, prompt, (token,), sampling)
    )
    acceptance = None
    if kept.tested and kept.overlap is not None:
        acceptance = share(kept.accepted, kept.tested, kept.overlap)
    return ContextResult(
        drafter=settings.drafter,
        k=settings.k,
        drafted=kept.drafted / draws,
        emitted=kept.emitted / draws,
        first=first,
        second_after=after,
        second=second,
        acceptance=acceptance,
    )


def _decode(
    target: LoadedModel,
    pool: PagePool,
    prompt: Ids[int],
    drafter: Drafter,
    settings: Settings,
    draws: int,
    on_progress: Callable[[int, int, str], None] | None,
) -> _Rounds:
    kept = _Rounds()
    choice = Choice.of(settings, drafter)
    limits = Limits(len(prompt), settings.k + 2, target.info.context_length)
    sequence = Sequence(target.transformer, pool, prompt)
    drafter.begin()
    try:
        sequence.prefill()
        _read(drafter, sequence)
        for seed in range(draws):
            decoder = Decoder(
                sequence,
                target.tokenizer,
                TextStream(target.tokenizer),
                choice,
                limits,
                seed=seed,
                top_n=1 if seed == 0 else 0,  # the overlap is the same in every round
            )
            with closing(decoder.rounds()) as rounds:
                kept.add(next(rounds))
            sequence.rewind(len(prompt))
            if drafter.cache is None:  # it may remember the text itself
                drafter.begin()
                _read(drafter, sequence)
            else:
                drafter.observe(sequence.tokens)
            if on_progress is not None:
                on_progress(seed + 1, draws, f"Decoding with {settings.drafter}")
    finally:
        drafter.begin()
        sequence.close()
    return kept


def _read(drafter: Drafter, sequence: Sequence) -> None:
    context = Context(sequence.tokens, sequence.hidden, sequence.cache, sequence=sequence)
    with torch.inference_mode():
        drafter.prepare(context, lambda: False)


def _second(
    pairs: Counter[tuple[int, int]], law_of: Callable[[int], list[float]]
) -> tuple[Fit | None, int | None]:
    """Compare second tokens after the commonest first one.

    Given that the first drafted token was kept, the second token of the round follows the law
    after it: it has uniforms of its own.
    """
    by_first: Counter[int] = Counter()
    for (token, _), count in pairs.items():
        by_first[token] += count
    if not by_first:
        return None, None
    token, count = by_first.most_common(1)[0]
    if count < _LEAST_SECOND:
        return None, token
    counts = {second: times for (first, second), times in pairs.items() if first == token}
    return chi_square(counts, law_of(token)), token
