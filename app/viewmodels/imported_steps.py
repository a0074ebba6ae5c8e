"""Running sums over the parts of an imported run, where its program told each round.

Only then is there a curve over the rounds. Parts that are intervals or answers are no rounds, and
of those no curve is made. Knows counts; no program and no Qt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from engine.trace.imported import Imported, ImportedStep

    Array = npt.NDArray[np.float64]


def tested_sums(imported: Imported) -> tuple[Array, Array]:
    """Return accepted and tested tokens, summed up to each round.

    Returns
    -------
    tuple
        Two arrays that start with 0, shape [rounds + 1]; [1] where rounds were not told.
    """
    steps = imported.steps if _are_rounds(imported) else ()
    # A draft that was not accepted whole ended in one rejection.
    tested = (step.accepted + (step.accepted < step.drafted) for step in steps)
    return _summed(step.accepted for step in steps), _summed(tested)


def timed_sums(imported: Imported) -> tuple[Array, Array]:
    """Return emitted tokens and seconds, summed up to each round; as `tested_sums`."""
    told = [
        (step.emitted, step.ns / 1e9)
        for step in imported.steps
        if step.emitted is not None and step.ns is not None
    ]
    if not _are_rounds(imported) or len(told) < len(imported.steps):
        told = []
    return _summed(emitted for emitted, _ in told), _summed(seconds for _, seconds in told)


def _are_rounds(imported: Imported) -> bool:
    return bool(imported.steps) and all(_is_round(step) for step in imported.steps)


def _is_round(step: ImportedStep) -> bool:
    return step.drafts == 1 or (step.drafts == 0 and step.drafted == 0)


def _summed(values: Iterable[float]) -> Array:
    return np.concatenate(([0.0], np.cumsum(np.fromiter(values, np.float64))))
