"""How well a drafter in training drafts, on rows that it never saw, by position in the draft.

Knows laws and choices; no file and no optimiser. The text stands for what was emitted: a draft that
began at a place goes on for as long as the text there is the target's own choice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from engine.training.loss import ROWS

if TYPE_CHECKING:
    from torch import Tensor

    from engine.training.batch import Batch
    from engine.training.trainable import Trainable
    from engine.training.vocabulary import Scored


@dataclass
class HeldOut:
    """Sums over batches; index s is the draft's position s + 1."""

    tested: list[int] = field(default_factory=list)  # all before it were accepted
    accepted: list[int] = field(default_factory=list)
    overlap: list[float] = field(default_factory=list)  # summed over `places`
    places: list[int] = field(default_factory=list)
    nats: float = 0.0  # summed over the places of the first position

    def loss(self) -> float:
        """Return the cross-entropy to the target's law at the first position, in nats."""
        return self.nats / max(1, sum(self.places[:1]))

    def add(self, step: int, tested: int, accepted: int, overlap: float, places: int) -> None:
        """Add a batch's sums."""
        while len(self.tested) <= step:
            self.tested.append(0)
            self.accepted.append(0)
            self.overlap.append(0.0)
            self.places.append(0)
        self.tested[step] += tested
        self.accepted[step] += accepted
        self.overlap[step] += overlap
        self.places[step] += places

    def greedy(self) -> tuple[float, ...]:
        """Return the acceptance at each position."""
        return tuple(a / max(1, t) for a, t in zip(self.accepted, self.tested, strict=True))

    def overlaps(self) -> tuple[float, ...]:
        """Return the mean overlap at each position."""
        return tuple(o / max(1, n) for o, n in zip(self.overlap, self.places, strict=True))


@torch.no_grad()
def measure(
    drafter: Trainable, batch: Batch, scored: Scored, positions: int, into: HeldOut
) -> None:
    """Add one batch's drafts of so many positions."""
    found: list[tuple[Tensor, Tensor]] = []  # right [B, T], overlap [B, T], by start
    nats = batch.normalisers[:0]
    steps = list(drafter.unroll(batch, positions))
    for step in steps:
        right, overlap, cross = _compare(step.rows, step.offset, batch, scored)
        found.append((right, overlap))
        nats = cross if step is steps[0] else nats
    offset = steps[0].offset
    into.nats += float(nats[_ahead(batch.counted, offset)].sum())
    if len(steps) == 1:  # one step for all: a draft's next position is the next place
        right, overlap = found[0]
        found = [(_ahead(right, s), _ahead(overlap, s)) for s in range(positions)]
    counted, follows = batch.counted, _follows(batch)
    alive = counted.new_ones(counted.shape)
    for index, (right, overlap) in enumerate(found):
        law = offset + index  # the law told is the one after token i + law
        valid = _ahead(counted, law)
        if index:
            alive = alive & found[index - 1][0] & _ahead(follows, law - 1)
        tested = alive & valid
        into.add(
            index,
            int(tested.sum()),
            int((tested & right).sum()),
            float(overlap[valid].sum()),
            int(valid.sum()),
        )


def _follows(batch: Batch) -> Tensor:
    """[B, T]: whether the text goes on after token i with the target's choice."""
    following = functional.pad(batch.tokens[:, 1:], (0, 1), value=-1)
    return following == batch.choices


def _ahead(x: Tensor, by: int) -> Tensor:
    """[B, T]: what stands `by` places further on; nothing past the end."""
    return functional.pad(x[:, by:], (0, by)) if by else x


def _compare(
    rows: Tensor, offset: int, batch: Batch, scored: Scored
) -> tuple[Tensor, Tensor, Tensor]:
    """Return whether each row's argmax is the target's, both laws' overlap and cross-entropy."""
    shape = rows.shape[:2]
    drafted = rows.flatten(0, 1)
    target = _ahead_rows(scored.normed(batch.hidden), offset).flatten(0, 1)
    normalisers = _ahead(batch.normalisers, offset).flatten()
    choices = _ahead(batch.choices, offset).flatten()
    right = torch.zeros(len(drafted), dtype=torch.bool, device=rows.device)
    overlap = torch.zeros(len(drafted), device=rows.device)
    nats = torch.zeros(len(drafted), device=rows.device)
    for begin in range(0, len(drafted), ROWS):
        span = slice(begin, begin + ROWS)
        log_law = _scores(drafted[span], scored).log_softmax(dim=-1)
        logits = _scores(target[span], scored)
        p_target = (logits - normalisers[span, None]).exp()
        right[span] = scored.ids[log_law.argmax(dim=-1)] == choices[span]
        nats[span] = -(p_target * log_law).sum(dim=-1)
        overlap[span] = torch.minimum(log_law.exp_(), p_target).sum(dim=-1)
    return right.view(shape), overlap.view(shape), nats.view(shape)


def _scores(rows: Tensor, scored: Scored) -> Tensor:
    """[n, R] float32. Ties that the products' rounding makes are a few in a thousand places."""
    return functional.linear(rows.to(scored.table.dtype), scored.table).float()


def _ahead_rows(x: Tensor, by: int) -> Tensor:
    return functional.pad(x[:, by:], (0, 0, 0, by)) if by else x
