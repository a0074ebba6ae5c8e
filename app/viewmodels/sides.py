"""Which side takes its argmax: the target and the drafter may have a temperature each.

Knows settings. Knows no verdict and no words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.trace.events import Settings


def target_greedy(settings: Settings | None) -> bool:
    """Whether `p_target` is one-hot at the target's argmax."""
    return settings is not None and settings.temperature == 0


def drafter_greedy(settings: Settings | None) -> bool:
    """Whether a drafter that has logits takes its argmax, so that `q_draft` is one-hot."""
    if settings is None:
        return False
    own = settings.drafter_temperature
    return (settings.temperature if own is None else own) == 0
