"""The drafters that a check runs with a target: which they are, and that they are there at once.

Knows sessions and names of drafters; runs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.drafters.names import BUNDLED, EARLY, usual_exit
from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.loading import Progress
    from engine.session import Session


def load_drafters(
    session: Session,
    specs: Sequence[str] | None,
    *,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> tuple[str, ...]:
    """Load every drafter before anything long runs, and return their names.

    Parameters
    ----------
    specs
        As in `Settings.drafter`, without repetition; None: what every target has (the n-gram
        look-up and its own first layers), and the bundled drafters that were trained for it.

    Raises
    ------
    DraftscopeError
        For the first name that is wrong, or that does not fit the target.
    LoadingCancelled
        If `cancelled()` became true.
    """
    if specs is not None:
        names = tuple(dict.fromkeys(specs))
        for name in names:
            session.drafter(name, cancelled, progress=progress)
        return names
    names = ("ngram",)
    layers = session.target.info.layers
    if layers > 1:
        names += (f"{EARLY}{usual_exit(layers)}",)
    for name in BUNDLED:
        try:
            session.drafter(name, cancelled, progress=progress)
        except DraftscopeError:  # it was trained for another target
            continue
        names += (name,)
    return names
