"""The plain target, measured: a whole run of the same prompt, and probes inside a run.

Both are what a user without speculation would get: one token a pass, drawn by the same function.
Neither draws from the speculative run's uniforms or changes its caches.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import torch

from engine.decoder import Choice, Decoder
from engine.models.settling import queues_rounds, uploaded
from engine.penalties import adjusted
from engine.prefill import Stopped
from engine.sampling import draw, drawn_ids, greedy_ids, probabilities
from engine.sequence import Sequence
from engine.trace.events import Baseline, Probe

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from engine.cache import PagePool
    from engine.emission import Limits
    from engine.loading import LoadedModel
    from engine.models.text.streaming import TextStream
    from engine.sampling import Sampling

PROBE_SHARE = 0.05  # of the time of a run's rounds and probes together
_EVERY = 4  # rounds between two probes, at least


class Prober:
    """Runs whole plain rounds at the run's own context, within its share of the time."""

    def __init__(self) -> None:
        self._rounds_ns = 0
        self._probes_ns = 0
        self._last_ns = 0
        self._since = 0

    def round_took(self, round_ns: int, pass_ns: int) -> None:
        """Count a speculative round; the quickest pass guesses what a first probe would take."""
        self._rounds_ns += round_ns
        self._since += 1
        if not self._probes_ns:  # the first passes of a run are often slow
            self._last_ns = min(self._last_ns or pass_ns, pass_ns)

    def due(self) -> bool:
        """Return whether a probe now would stay within the share."""
        spent = self._probes_ns + self._last_ns
        return self._since >= _EVERY and spent <= PROBE_SHARE * (self._rounds_ns + spent)

    @torch.inference_mode()
    def probe(self, sequence: Sequence, sampling: Sampling, run: str, after_round: int) -> Probe:
        """Measure pass, sampling and transfer of one plain round; commit nothing."""
        length = sequence.cache.length
        begin = time.perf_counter_ns()
        waiting = uploaded(sequence.tokens[length:], torch.long, sequence.model.plan.device)
        passed = sequence.run(waiting)
        seen = sequence.seen_by(sampling)
        scores = adjusted(passed.scores, sampling, seen)
        found = passed.best is not None and scores is passed.scores and sampling.greedy
        if not found:  # else it was chosen on the way
            _choose(scores, sampling, queued=queues_rounds(scores.device))
        took = time.perf_counter_ns() - begin
        sequence.cache.truncate(length)
        self._probes_ns += took
        self._last_ns = took
        self._since = 0
        return Probe(run=run, after_round=after_round, context_length=length, ns=took)


def _choose(scores: Tensor, sampling: Sampling, *, queued: bool) -> int:
    """Return the token that a plain round would emit for the uniform 0.5, as its device does."""
    if sampling.greedy:
        return int(greedy_ids(scores)[0])
    law = probabilities(scores, sampling, queued=queued)
    if not queued:
        return draw(law[0], 0.5)
    half = torch.full((1,), 0.5, dtype=torch.float64, device=law.device)
    return int(drawn_ids(law, half)[0])


def run_baseline(
    target: LoadedModel,
    pool: PagePool,
    prompt: list[int],
    sampling: Sampling,
    limits: Limits,
    *,
    run: str,
    seed: int,
    stream: TextStream,
    stopped: Callable[[], bool] = lambda: False,
) -> Baseline:
    """Run the plain target on the prompt to its end.

    Greedy, its text is what the speculative text must equal. Sampled, it follows the same law with
    other draws: a bonus or a correction is not the draw of a plain round.
    """
    sequence = Sequence(target.transformer, pool, prompt)
    round_ns: list[int] = []
    texts: list[str] = []
    tail = ""
    complete = True
    prefill_ns = 0
    try:
        begin = time.perf_counter_ns()
        sequence.prefill(stopped)
        prefill_ns = time.perf_counter_ns() - begin
        choice = Choice(None, 0, sampling)
        decoder = Decoder(
            sequence, target.tokenizer, stream, choice, limits, run=run, seed=seed, top_n=0
        )
        for one in decoder.rounds():
            round_ns.append(one.times.round)
            texts += one.texts
            if stopped() and decoder.reason is None:
                complete = False
                break
        tail = stream.flush()
        token_ids = tuple(sequence.tokens[len(prompt) :])
    except Stopped:
        complete, token_ids = False, ()
    finally:
        sequence.close()
    return Baseline(
        run=run,
        token_ids=token_ids,
        text="".join(texts) + tail,
        round_ns=tuple(round_ns),
        prefill_ns=prefill_ns,
        complete=complete,
        texts=tuple(texts),
    )
