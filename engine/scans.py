"""What is looked for along the vocabulary: the largest score, the top of a law, its entropy.

A plan says who looks (`Plan.scans`): torch, on any device, or a library of the plan's own. Knows
rows of numbers; no token, no rule. Draws nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import torch

if TYPE_CHECKING:
    from torch import Tensor

_SMALLEST = 2e-38  # a normal float32
_BLOCK = 128  # ids whose maximum is taken first when looking for the largest


class Seen(NamedTuple):
    """What is seen of each row of logits."""

    law: Tensor  # [n, V], their softmax
    top: Tensor  # [n, count], the most probable ids, in falling order
    entropies: Tensor  # [n], nats, but for rounding


class Described(NamedTuple):
    """What is seen of each row of any law."""

    top: Tensor  # [n, count], the most probable ids, in falling order
    entropies: Tensor  # [n], nats, but for rounding


class Scans(Protocol):
    """Looks along rows."""

    def largest(self, scores: Tensor) -> tuple[list[float], list[int]]:
        """Return each row's largest value and its lowest id; a NaN comes before any number."""
        ...

    def look(
        self, logits: Tensor, count: int, *, law: Tensor | None = None, out: Tensor | None = None
    ) -> Seen:
        """Return what is seen of logits [n, V].

        Parameters
        ----------
        count
            How many ids of each row, at most V.
        law
            [n, V], the softmax, where it was made already.
        out
            [n, V], memory for it where it was not.
        """
        ...

    def describe(self, law: Tensor, count: int, *, out: Tensor | None = None) -> Described:
        """Return the top and the entropy of each row of a law [n, V]; `out` may be written over."""
        ...

    def top(self, law: Tensor, count: int) -> Tensor:
        """Return the most probable ids of each row, in falling order; [n, count] from [n, V]."""
        ...


class TorchScans:
    """Looks with torch's operations, on any device; `look` reads nothing back."""

    def largest(self, scores: Tensor) -> tuple[list[float], list[int]]:
        """Return each row's largest value and its lowest id; a NaN comes before any number."""
        values, ids = scores.max(dim=-1)
        return values.tolist(), ids.tolist()

    def look(
        self, logits: Tensor, count: int, *, law: Tensor | None = None, out: Tensor | None = None
    ) -> Seen:
        """Return what is seen of logits [n, V]."""
        if law is None:
            law = torch.softmax(logits, dim=-1, out=out)
        top = top_ids(law, count)
        return Seen(law, top, softmax_entropies(logits, law, top[:, :1]))

    def describe(self, law: Tensor, count: int, *, out: Tensor | None = None) -> Described:
        """Return the top and the entropy of each row of a law [n, V]."""
        return Described(top_ids(law, count), entropies(law, out))

    def top(self, law: Tensor, count: int) -> Tensor:
        """Return the most probable ids of each row."""
        return top_ids(law, count)


def top_ids(law: Tensor, count: int) -> Tensor:
    """Return the ids of the `count` largest entries of each row; [n, count] from [n, V].

    The largest entries lie in the blocks with the largest maxima, so only those are sorted: a
    pass over V and a small sort instead of a sort over V.
    """
    rows, vocabulary = law.shape
    if vocabulary <= 2 * count * _BLOCK:
        return law.topk(min(count, vocabulary), dim=-1).indices
    whole = vocabulary // _BLOCK
    blocks = law[:, : whole * _BLOCK].view(rows, whole, _BLOCK)
    best = blocks.amax(dim=-1).topk(count, dim=-1).indices
    ids = (best[:, :, None] * _BLOCK + torch.arange(_BLOCK, device=law.device)).flatten(1)
    tail = torch.arange(whole * _BLOCK, vocabulary, device=law.device).expand(rows, -1)
    ids = torch.cat((ids, tail), dim=-1)
    return ids.gather(1, law.gather(1, ids).topk(count, dim=-1).indices)


def entropies(law: Tensor, scratch: Tensor | None = None) -> Tensor:
    """Return the entropy of each row in nats, but for rounding; [n] from [n, V].

    `scratch` is written over, if it is given: memory that is used again is quicker than new.
    """
    # 0 log 0 = 0, and the logarithms of 0 and of subnormal numbers are ten times slower
    logs = torch.clamp(law, min=_SMALLEST, out=scratch).log_()
    found: Tensor = torch.linalg.vecdot(law, logs)
    return found.neg_()


def softmax_entropies(logits: Tensor, law: Tensor, best: Tensor) -> Tensor:
    """Return the entropies of law = softmax(logits) without taking V logarithms a row; [n].

    `best` is [n, 1], a probable id of each row: its logit less the logarithm of its probability is
    log sum exp.
    """
    total = (logits.gather(1, best) - law.gather(1, best).log())[:, 0]
    found: Tensor = total - torch.linalg.vecdot(law, logits)
    return found
