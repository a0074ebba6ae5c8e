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


class Wish(NamedTuple):
    """What is to be found of scores on the way, where anything is."""

    shares: bool = False  # of the best
    temperature: float = 0.0  # of the laws; 0: no laws
    uniform: float = 0.0  # that draws from the last law


NOTHING = Wish()


class Kept(NamedTuple):
    """What is to be kept of the rows of a pass, and where."""

    rows: Tensor  # [n, (1 + taps) W], contiguous
    taps: tuple[int, ...] = ()  # numbers of layers, from 1 and rising


class Passed(NamedTuple):
    """What a pass gave."""

    rows: Tensor  # [n, (1 + taps) W], after the last layer, then after each tap
    scores: Tensor  # [m, R] in float32 or wider, of the last m rows
    best: Sequence[Best] | None = None  # of each of them; these three where they were found
    laws: Tensor | None = None  # [m, R]
    drawn: int | None = None  # the place that was drawn from the last law


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
        wish: Wish = NOTHING,
        kept: Kept | None = None,
        near: bool = False,
    ) -> Passed:
        """Run n ids as `read` does, and score the last so many rows.

        Parameters
        ----------
        wish
            May be granted or not: what was found stands in what is returned.
        kept
            States after lower layers that are asked for as well; where its rows were written to,
            they are those that come back.
        near
            Whether the weights were read a moment ago: this changes no number.
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
        return self._run(ids, cache, states, ())

    def score(
        self,
        ids: Ids,
        cache: KVCache,
        states: Tensor | None = None,
        *,
        last: int = 1,
        wish: Wish = NOTHING,  # whoever has one looks at the scores
        kept: Kept | None = None,
        near: bool = False,
    ) -> Passed:
        """Run n ids as `read` does, and score the last so many rows."""
        rows = self._run(ids, cache, states, () if kept is None else kept.taps)
        width = self.exit.norm.shape[0]
        return Passed(rows, scores(self.plan, rows[-last:, :width], self.exit, self.epsilon))

    def _run(
        self, ids: Ids, cache: KVCache, states: Tensor | None, taps: tuple[int, ...]
    ) -> Tensor:
        n, done, parts = len(ids), 0, []
        x = self._enter(ids, states)
        for tap in taps:
            x, done = self.stack.run(x, cache, slice(done, tap)), tap
            parts.append(x[:n])
        x = self.stack.run(x, cache, slice(done, None))[:n]
        cache.append(n)
        return torch.cat((x, *parts), dim=-1) if parts else x

    def _enter(self, ids: Ids, states: Tensor | None) -> Tensor:
        """Return what the layers read, with padding behind it; [n or more, W]."""
        n, entrance = len(ids), self.entrance
        x = functional.embedding(padded_ids(ids, self.plan), entrance.table).to(self.plan.dtype)
        if entrance.linear is None or entrance.norms is None:
            return x
        parts = x[:, None]
        if states is not None:
            missing = x.shape[0] - n
            padded = functional.pad(states, (0, 0, 0, missing)) if missing else states
            parts = torch.cat((padded.reshape(x.shape[0], -1, x.shape[1]), parts), dim=1)
        normed = functional.rms_norm(parts, parts.shape[-1:], None, self.epsilon)
        return entrance.linear((normed * entrance.norms).flatten(1))


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
