"""For plans that keep a trained drafter as they keep a target. Knows no kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from engine.models.plans.protocol import Linear, Plan


class DraftsAlike:
    """A plan's side towards trained drafters, by its side towards targets."""

    draft_weight_bytes: int | None = None

    @property
    def draft_description(self: Plan) -> str:
        """Say the same as of a target."""
        return self.description

    def draft_linear(self: Plan, weight: Tensor) -> Linear:
        """Prepare it as any other weight."""
        return self.linear(weight)
