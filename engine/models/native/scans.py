"""Looking along the vocabulary with the built library, in one call a round. Knows rows of numbers.

What the library does not take (another type, a top of hundreds) is left to torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from engine.scans import Described, Seen, TorchScans

if TYPE_CHECKING:
    from torch import Tensor

    from engine.models.native.library import Library

_MOST_SHOWN = 256  # as in rows.h


class NativeScans:
    """Looks along rows of float32 on the CPU."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._torch = TorchScans()

    def largest(self, scores: Tensor) -> tuple[list[float], list[int]]:
        """Return each row's largest value and its lowest id; a NaN comes before any number."""
        if not _taken(scores):
            return self._torch.largest(scores)
        n, width = scores.shape
        values, places = torch.empty(n), torch.empty(n, dtype=torch.long)
        self._library.largest(
            *(scores.data_ptr(), n, width, values.data_ptr(), places.data_ptr()),
            torch.get_num_threads(),
        )
        return values.tolist(), places.tolist()

    def look(
        self, logits: Tensor, count: int, *, law: Tensor | None = None, out: Tensor | None = None
    ) -> Seen:
        """Return what is seen of logits [n, V]."""
        n, width = logits.shape
        count = min(count, width)
        written = torch.empty_like(logits) if out is None else out
        law_or_out = written if law is None else law
        if not (_taken(logits) and _taken(law_or_out) and count <= _MOST_SHOWN):
            return self._torch.look(logits, count, law=law, out=out)
        places, found = torch.empty(n, count, dtype=torch.long), torch.empty(n)
        self._library.look(
            *(logits.data_ptr(), law_or_out.data_ptr(), law is not None, n, width),
            *(count, places.data_ptr(), found.data_ptr(), torch.get_num_threads()),
        )
        return Seen(law_or_out, places, found)

    def describe(self, law: Tensor, count: int, *, out: Tensor | None = None) -> Described:
        """Return the top and the entropy of each row of a law."""
        n, width = law.shape
        count = min(count, width)
        if not _taken(law) or count > _MOST_SHOWN:
            return self._torch.describe(law, count, out=out)
        places, found = torch.empty(n, count, dtype=torch.long), torch.empty(n)
        self._library.describe(
            *(law.data_ptr(), n, width, count, places.data_ptr(), found.data_ptr()),
            torch.get_num_threads(),
        )
        return Described(places, found)

    def top(self, law: Tensor, count: int) -> Tensor:
        """Return the most probable ids of each row."""
        return self.describe(law, count).top


def _taken(rows: Tensor) -> bool:
    return rows.dtype == torch.float32 and rows.is_contiguous() and rows.device.type == "cpu"
