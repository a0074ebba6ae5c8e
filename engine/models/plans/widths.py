"""Widths of passes: which round alike, and which one a pass is padded to.

Knows a pass by its width alone; no kernel, no plan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

WIDEST_PROBED = 33  # on a CPU: passes wider than this are prompts, padded to multiples of 8


def alike(run: Callable[[int], Tensor], widths: Sequence[int]) -> tuple[int, ...]:
    """Return the widths at which shared rows come out bit for bit as in the widest pass.

    Parameters
    ----------
    run
        `run(w)` returns the w rows of a pass on the first w of some fixed rows.
    widths
        Those to be tried.

    Returns
    -------
    tuple of int
        In rising order; the widest is always there.
    """
    widest = max(widths)
    reference = run(widest)
    return tuple(
        width
        for width in sorted(widths)
        if width == widest or torch.equal(run(width), reference[:width])
    )


def padded(rows: int, widths: Sequence[int], step: int = 8) -> int:
    """Return the least of the widths that holds `rows`; past them a multiple of `step`."""
    for width in widths:
        if width >= rows:
            return width
    return -(-rows // step) * step
