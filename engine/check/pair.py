"""The drafters that a check runs with a target: which they are, and that they are there at once.

Knows sessions and names of drafters; runs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.drafters.names import EARLY, usual_exit
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
        look-up and its own first layers), and the bundled head where it fits.

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
    try:
        session.drafter("head", cancelled, progress=progress)
    except DraftscopeError:  # it was trained for another target
        return names
    return (*names, "head")
