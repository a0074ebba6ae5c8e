"""Laws and draws by the built library. Knows rows of numbers; no token and no rule.

What the library does not take (another type, laws that are cut) is left to torch.
"""

from __future__ import annotations

import math
from ctypes import c_float
from typing import TYPE_CHECKING

import torch

from engine.sampling import SMALLEST_TEMPERATURE, not_finite, probabilities, sound_law

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from engine.models.native.library import Library
    from engine.sampling import Sampling

_BYTES = 4  # of a float32


class NativeLaws:
    """Makes laws of float32 on the CPU and draws from them."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def takes(self, *laws: Tensor | None) -> bool:
        """Whether these are rows that the library reads."""
        return all(one is None or _taken(one) for one in laws)

    def law(self, scores: Tensor, sampling: Sampling, side: str) -> Tensor:
        """Return the law of each row; a DraftscopeError names the side without numbers."""
        if not _taken(scores) or sampling.greedy or sampling.cuts:
            return sound_law(probabilities(scores, sampling), side)
        n, width = scores.shape
        laws, temperature = torch.empty(n, width), max(sampling.temperature, SMALLEST_TEMPERATURE)
        peaks = self._library.laws(
            *(scores.data_ptr(), n, width, temperature, laws.data_ptr()), torch.get_num_threads()
        )
        if not all(map(math.isfinite, peaks)):
            raise not_finite(side)
        return laws

    def at(self, laws: Tensor, ids: Sequence[int]) -> tuple[float, ...]:
        """Return the mass of id i in row i."""
        begin, width = laws.data_ptr(), laws.shape[1]
        return tuple(
            c_float.from_address(begin + _BYTES * (row * width + token)).value
            for row, token in enumerate(ids)
        )

    def draw(self, laws: Tensor, row: int, uniform: float) -> tuple[int, float]:
        """Draw from a row; the id and its probability."""
        width = laws.shape[1]
        law = laws.data_ptr() + _BYTES * row * width
        place, mass = self._library.draw(law, width, uniform)
        return place, c_float.from_address(law + _BYTES * place).value / mass

    def residual(self, p_target: Tensor, q_draft: Tensor | None, row: int, rejected: int) -> Tensor:
        """Return what is left of a row of `p_target`; [1, V]."""
        width = p_target.shape[1]
        left, skipped = torch.empty(1, width), _BYTES * row * width
        self._library.residual(
            p_target.data_ptr() + skipped,
            None if q_draft is None else q_draft.data_ptr() + skipped,
            *(rejected, width, left.data_ptr()),
        )
        return left


def _taken(rows: Tensor) -> bool:
    return rows.dtype == torch.float32 and rows.is_contiguous() and rows.device.type == "cpu"
