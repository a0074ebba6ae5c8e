"""The runs of one session told apart in a few words. Knows their first events alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.viewmodels.run_words import NO_DRAFTER
from app.viewmodels.settings_words import settings_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.trace.events import RunStarted


def run_titles(runs: Sequence[RunStarted]) -> tuple[str, ...]:
    """Name each run by its drafter, and by its settings where drafters are alike."""
    drafters = [NO_DRAFTER if one.drafter is None else one.drafter.name for one in runs]
    if len(set(drafters)) == len(drafters):
        return tuple(drafters)
    words = [settings_words(one.settings, None if one.drafter else 0) for one in runs]
    return tuple(f"{name}, {said}" for name, said in zip(drafters, words, strict=True))
