"""Who makes laws of scores and draws from them, where a plan has a library for it.

Where it has none, `engine.sampling` and `engine.acceptance` do it with torch's operations. Both
compute the same law, but for rounding. Knows rows of numbers; no token, no rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from engine.models.plans.protocol import Plan
    from engine.sampling import Sampling


class Lawmaker(Protocol):
    """Makes laws and draws from them."""

    def law(self, scores: Tensor, sampling: Sampling, side: str) -> Tensor:
        """Return the law of each row; [n, V] from [n, V].

        Raises
        ------
        DraftscopeError
            Naming the side, "target" or "drafter", whose scores are no numbers.
        """
        ...

    def takes(self, *laws: Tensor | None) -> bool:
        """Whether laws are of a kind that can be read here; the methods below ask for such."""
        ...

    def at(self, laws: Tensor, ids: Sequence[int]) -> tuple[float, ...]:
        """Return the mass of id i in row i."""
        ...

    def draw(self, laws: Tensor, row: int, uniform: float) -> tuple[int, float]:
        """Draw from a row as `engine.sampling.draw` does; the id and its probability."""
        ...

    def residual(self, p_target: Tensor, q_draft: Tensor | None, row: int, rejected: int) -> Tensor:
        """Return `engine.acceptance.residual_law` of a row of both; [1, V].

        With no `q_draft`, all its mass is at `rejected`.
        """
        ...


@runtime_checkable
class Lawful(Protocol):
    """A plan that has a library for laws."""

    @property
    def laws(self) -> Lawmaker:
        """Who makes laws and draws."""
        ...


def laws_of(plan: Plan) -> Lawmaker | None:
    """Return the plan's own; None where torch does it."""
    return plan.laws if isinstance(plan, Lawful) else None
