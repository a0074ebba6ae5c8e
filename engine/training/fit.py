"""Fitting a drafter's weights to a target's laws: steps, what they cost, and the best so far.

Knows batches, a loss and an optimiser; no text, no target's file and no drafter's file.
"""

from __future__ import annotations

import math
import random
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from engine.training.batch import make_batch
from engine.training.events import Evaluated, Stepped
from engine.training.loss import LawLoss
from engine.training.measure import HeldOut, measure
from engine.training.optimiser import Optimiser
from engine.training.states import batches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import torch
    from torch import Tensor

    from engine.training.batch import Batch
    from engine.training.corpus import Corpus
    from engine.training.states import States
    from engine.training.trainable import Trainable
    from engine.training.vocabulary import Scored

PLACES = 4096  # of a batch, padding included
LATER = 0.8  # weight of a step beside the one before it
HARDNESS = 0.1  # share of the cross-entropy that asks for the target's argmax
SHARPNESS = 3.0  # the cross-entropy's share of the loss is exp(-SHARPNESS * overlap)
SMOOTH = 0.9  # share of what is known in what is known after one more step
FURTHER = (0.55, 0.75)  # shares of a training at which drafts are unrolled one step further
POSITIONS = 4  # of a draft that are measured
MEASURED_TOKENS = 12_000  # of the rows kept for measuring, while training goes on
EVALUATIONS = 10  # in all
_REPORT_SECONDS = 1.0


@dataclass(frozen=True)
class Text:
    """What is trained on."""

    corpus: Corpus
    states: States
    prefix: int  # first tokens of every row whose laws do not count


@dataclass
class Budget:
    """How long a training takes: by time, or by steps."""

    seconds: float
    steps: int | None = None

    def share(self, step: int, spent: float) -> float:
        """Return how much of it is done."""
        if self.steps is not None:
            return step / max(1, self.steps)
        return spent / self.seconds

    def total(self, step: int, spent: float) -> int:
        """Return how many steps it will be."""
        if self.steps is not None:
            return self.steps
        return max(step, round(step * self.seconds / max(spent, 1e-3)))

    def left(self, step: int, spent: float) -> float:
        """Return how many seconds are left."""
        if self.steps is not None:
            return spent / max(1, step) * (self.steps - step)
        return max(0.0, self.seconds - spent)


@dataclass
class Progress:
    """Where a training stands; a checkpoint keeps all of it."""

    step: int = 0
    seconds: float = 0.0  # of fitting alone
    tokens: int = 0  # laws that were counted
    evaluations: int = 0  # those that were due
    looked_at: int = -1  # the step of the newest one
    best_step: int = 0
    best_score: float = -1.0
    overlap: list[float] = field(default_factory=list)  # of late, by step of the draft
    best: dict[str, Tensor] = field(default_factory=dict)


class Fit:
    """A drafter, its optimiser, and the text it is fitted to."""

    def __init__(
        self,
        drafter: Trainable,
        scored: Scored,
        text: Text,
        budget: Budget,
        *,
        unroll: int,
        seed: int,
        device: torch.device,
    ) -> None:
        self.drafter = drafter
        self.progress = Progress()
        self._scored = scored
        self._text = text
        self._budget = budget
        self._unroll = unroll
        self._device = device
        self._optimiser = Optimiser(drafter.module)
        self._random = random.Random(seed)
        self._waiting: list[list[int]] = []  # batches of this epoch that are still to come
        kept = sorted(text.corpus.validation)
        self._train = text.corpus.trained
        self._measured = _first_tokens(text.corpus, kept, MEASURED_TOKENS)

    def run(
        self, wait: Callable[[], bool], checkpoint: Callable[[], None]
    ) -> Iterator[Stepped | Evaluated]:
        """Step until the budget is spent or `wait` says to stop; yield what happens.

        Parameters
        ----------
        wait
            Called between steps; it may block while the training is paused.
        checkpoint
            Called after each evaluation.
        """
        progress = self.progress
        if progress.looked_at < 0:
            progress.evaluations += 1
            yield self._evaluate()
        losses: list[float] = []
        reported, seconds_then, tokens_then = time.monotonic(), progress.seconds, progress.tokens
        while self._share() < 1.0 and not wait():
            begin = time.monotonic()
            losses.append(self._step())
            now = time.monotonic()
            progress.seconds += now - begin
            share = self._share()
            if share >= 1.0 or now - reported >= _REPORT_SECONDS:
                took = max(1e-6, progress.seconds - seconds_then)
                yield self._stepped(
                    sum(losses) / len(losses), (progress.tokens - tokens_then) / took
                )
                losses = []
                reported, seconds_then, tokens_then = now, progress.seconds, progress.tokens
            if progress.evaluations <= share * EVALUATIONS < EVALUATIONS:
                progress.evaluations += 1
                yield self._evaluate()
                checkpoint()
        if progress.looked_at < progress.step:  # also after a stop: what it came to may be the best
            yield self._evaluate()
            checkpoint()

    def held_out(self) -> HeldOut:
        """Measure on all rows kept for it, with the best weights."""
        self.drafter.module.load_state_dict(self.progress.best)
        return self._measure(sorted(self._text.corpus.validation))

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint keeps."""
        return {
            "weights": self.drafter.module.state_dict(),
            "optimiser": self._optimiser.state(),
            "progress": vars(self.progress),
            "random": self._random.getstate(),
            "waiting": self._waiting,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        self.drafter.module.load_state_dict(state["weights"])
        self._optimiser.restore(state["optimiser"])
        self.progress = Progress(**state["progress"])
        self._waiting = state["waiting"]
        version, numbers, gauss = state["random"]
        self._random.setstate((version, tuple(numbers), gauss))

    def _share(self) -> float:
        return self._budget.share(self.progress.step, self.progress.seconds)

    def _step(self) -> float:
        """Fit to one batch; return the cross-entropy of the draft's first position, in nats."""
        batch = self._batch()
        target = self._scored.normed(batch.hidden)
        columns = self._scored.columns[batch.choices]
        total, first = batch.hidden.new_zeros(()), 0.0
        self.drafter.module.train()
        for index, step in enumerate(self.drafter.unroll(batch, self._steps_now())):
            ahead = step.offset
            told = batch.counted[:, ahead:]
            rows = step.rows[:, : told.shape[1]][told]
            loss, crossed, overlap = LawLoss.apply(  # type: ignore[no-untyped-call]  # torch's own
                rows,
                target[:, ahead:][told],
                self._scored.table,
                batch.normalisers[:, ahead:][told],
                columns[:, ahead:][told],
                rows.new_full((len(rows),), 1.0 / max(1, len(rows))),
                HARDNESS,
                math.exp(-SHARPNESS * self._known_overlap(index)),
            )
            if len(rows):
                self._know_overlap(index, float(overlap))
            total = total + LATER**index * loss
            first = float(crossed) if index == 0 else first
        total.backward()  # type: ignore[no-untyped-call]  # torch's own
        self._optimiser.step(min(1.0, self._share()))
        self.progress.step += 1
        self.progress.tokens += int(batch.counted.sum())
        return first

    def _known_overlap(self, index: int) -> float:
        """Return the overlap of a step of the draft of late; none before it was first made."""
        known = self.progress.overlap
        return known[index] if index < len(known) else 0.0

    def _know_overlap(self, index: int, overlap: float) -> None:
        known = self.progress.overlap
        if index == len(known):
            known.append(overlap)
        else:
            known[index] = SMOOTH * known[index] + (1.0 - SMOOTH) * overlap

    def _steps_now(self) -> int:
        """Unroll further as training goes on: later steps need a first one that is worth it."""
        share = self._share()
        return min(self._unroll, 1 + sum(share >= begin for begin in FURTHER))

    def _batch(self) -> Batch:
        if not self._waiting:
            self._waiting = list(batches(self._text.corpus, self._train, PLACES, self._random))
            self._random.shuffle(self._waiting)
        return self._gathered(self._waiting.pop())

    def _gathered(self, rows: list[int]) -> Batch:
        text = self._text
        return make_batch(text.corpus, text.states, rows, text.prefix, self._device)

    def _measure(self, rows: list[int]) -> HeldOut:
        found = HeldOut()
        self.drafter.module.eval()
        for some in batches(self._text.corpus, rows, PLACES):
            measure(self.drafter, self._gathered(some), self._scored, POSITIONS, found)
        return found

    def _evaluate(self) -> Evaluated:
        found, progress = self._measure(self._measured), self.progress
        greedy, overlap = found.greedy(), found.overlaps()
        score = _expected(greedy) + _expected(overlap)
        best = score > progress.best_score
        progress.looked_at = progress.step
        if best:
            progress.best_score, progress.best_step = score, progress.step
            kept = self.drafter.module.state_dict()
            progress.best = {name: value.detach().clone() for name, value in kept.items()}
        return Evaluated(progress.step, greedy, overlap, found.loss(), best)

    def _stepped(self, loss: float, tokens_per_second: float) -> Stepped:
        step, spent = self.progress.step, self.progress.seconds
        return Stepped(
            step,
            self._budget.total(step, spent),
            loss,
            self._optimiser.rate,
            tokens_per_second,
            self._budget.left(step, spent),
        )


def _expected(acceptance: tuple[float, ...]) -> float:
    """Return how many drafted tokens are accepted on average, by acceptance at each position."""
    total, alive = 0.0, 1.0
    for share in acceptance:
        alive *= share
        total += alive
    return total


def _first_tokens(corpus: Corpus, rows: list[int], tokens: int) -> list[int]:
    """Return rows, spread over all of them, that have about so many tokens together."""
    lengths = corpus.lengths()
    whole = sum(lengths[row] for row in rows)
    stride = max(1, round(whole / tokens))
    return rows[::stride]
