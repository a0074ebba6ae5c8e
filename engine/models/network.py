"""A network run whole, from ids to scores: what drafts a token, or verifies some.

Knows parts that a plan prepared, and how they follow one another; a plan may run them all at once
(`Fusing`). Knows no drafting and no rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import torch
from torch.nn import functional

from engine.models.settling import uploaded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from engine.cache import KVCache
    from engine.models.plans.protocol import Linear, Plan, Stack

    Ids = Sequence[int] | Tensor  # n of them; a tensor is [n] on the plan's device


@dataclass(frozen=True)
class Entrance:
    """What a row is made of: an id's embedding, behind s states where some are read."""

    table: Tensor  # [V, E], as the plan keeps it
    norms: Tensor | None = None  # [s + 1, E], of each state and of the embedding
    linear: Linear | None = None  # [W, (s + 1) E]; None, as its norms: the embedding is the row


@dataclass(frozen=True)
class Exit:
    """How a row is scored."""

    norm: Tensor  # [W]
    head: Linear  # [R, W]


class Best(NamedTuple):
    """The largest score of a row."""

    score: float  # NaN where the row holds one
    place: int  # the lowest, if several are the largest
    share: float  # its probability at temperature 1, where it was asked for


class Passed(NamedTuple):
    """What a pass gave."""

    rows: Tensor  # [n, W or more], after the last layer
    scores: Tensor  # [m, R] in float32 or wider, of the last m rows
    best: Sequence[Best] | None = None  # of each of them, where it was found on the way

    @property
    def last(self) -> Best | None:
        """The best score of the last row, if it was found."""
        return None if self.best is None else self.best[-1]


class Network(Protocol):
    """Layers with both their ends, ready to run."""

    def read(self, ids: Ids, cache: KVCache, states: Tensor | None = None) -> Tensor:
        """Run n ids that follow what is cached, and count them there; [n, W].

        `states` are [n, s E], where the entrance reads some.
        """
        ...

    def score(
        self,
        ids: Ids,
        cache: KVCache,
        states: Tensor | None = None,
        *,
        last: int = 1,
        shares: bool = False,
        rows: Tensor | None = None,
    ) -> Passed:
        """Run n ids as `read` does, and score the last so many rows.

        `shares` asks for the probability of the best of each, where the best is found at all.
        `rows` [n, W] is memory that the rows may be written to, and are where they come back.
        """
        ...


@runtime_checkable
class Fusing(Protocol):
    """A plan that runs networks at once."""

    def network(self, entrance: Entrance, stack: Stack, exit_: Exit, epsilon: float) -> Network:
        """Make a network of parts that this plan prepared ready to run."""
        ...


def make_network(
    plan: Plan, entrance: Entrance, stack: Stack, exit_: Exit, epsilon: float
) -> Network:
    """Return the plan's own network, or one that runs part after part."""
    if isinstance(plan, Fusing):
        return plan.network(entrance, stack, exit_, epsilon)
    return PartedNetwork(plan, entrance, stack, exit_, epsilon)


@dataclass(frozen=True)
class PartedNetwork:
    """A network whose parts run one after another, on any device."""

    plan: Plan
    entrance: Entrance
    stack: Stack
    exit: Exit
    epsilon: float

    def read(self, ids: Ids, cache: KVCache, states: Tensor | None = None) -> Tensor:
        """Run n ids that follow what is cached, and count them there; [n, W]."""
        n, entrance = len(ids), self.entrance
        x = functional.embedding(padded_ids(ids, self.plan), entrance.table).to(self.plan.dtype)
        if entrance.linear is not None and entrance.norms is not None:
            parts = x[:, None]
            if states is not None:
                missing = x.shape[0] - n
                padded = functional.pad(states, (0, 0, 0, missing)) if missing else states
                parts = torch.cat((padded.reshape(x.shape[0], -1, x.shape[1]), parts), dim=1)
            normed = functional.rms_norm(parts, parts.shape[-1:], None, self.epsilon)
            x = entrance.linear((normed * entrance.norms).flatten(1))
        x = self.stack.run(x, cache, slice(None))
        cache.append(n)
        return x[:n]

    def score(
        self,
        ids: Ids,
        cache: KVCache,
        states: Tensor | None = None,
        *,
        last: int = 1,
        shares: bool = False,  # whoever wants one takes it from the scores
        rows: Tensor | None = None,  # not used: the parts have memory of their own
    ) -> Passed:
        """Run n ids as `read` does, and score the last so many rows."""
        made = self.read(ids, cache, states)
        return Passed(made, scores(self.plan, made[-last:], self.exit, self.epsilon))


def padded_ids(ids: Ids, plan: Plan) -> Tensor:
    """Return ids on the plan's device, with others after them up to a width that rounds alike."""
    missing = plan.width(len(ids)) - len(ids)
    if isinstance(ids, torch.Tensor):
        return functional.pad(ids, (0, missing)) if missing else ids
    return uploaded([*ids, *([0] * missing)], torch.long, plan.device)


def scores(plan: Plan, rows: Tensor, exit_: Exit, epsilon: float) -> Tensor:
    """Norm, pad to a width that rounds alike, and multiply; [m, R] from [m, W]."""
    m = rows.shape[0]
    width = plan.width(m)
    if width > m:
        rows = functional.pad(rows, (0, 0, 0, width - m))
    found = exit_.head.normed(rows, exit_.norm, epsilon)[:m]
    return found if found.dtype == torch.float64 else found.float()
