"""A network of the compiled plan: ids in, scores and the best of them out, in one call.

Knows a stack that the library runs and both ends of it; no drafting. What is found on the way is
what `NativeScans` finds.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import torch

from engine.models.native import library as native
from engine.models.network import NOTHING, Best, Passed
from engine.sampling import SMALLEST_TEMPERATURE

if TYPE_CHECKING:
    from torch import Tensor

    from engine.cache import KVCache
    from engine.models.network import Entrance, Exit, Ids, Kept, Wish
    from engine.models.plans.compiled import CompiledStack
    from engine.models.plans.protocol import Linear


class CompiledNetwork:
    """Layers with both their ends, as one function."""

    def __init__(
        self, entrance: Entrance, stack: CompiledStack, exit_: Exit, epsilon: float
    ) -> None:
        assert stack.epsilon == epsilon, "all norms of a network have one epsilon"
        self._parts = entrance, exit_  # their tensors are read by address
        self._stack = stack
        table, norms = entrance.table, entrance.norms
        assert table.dtype == torch.float16, "a plan reads the table that it prepared"
        assert table.is_contiguous()
        self._ids, width = table.shape
        self._states = 0 if norms is None else norms.shape[0] - 1
        self._entrance = native.Entrance(
            *(table.data_ptr(), width, self._states),
            None if norms is None else norms.data_ptr(),
            native.Weights() if entrance.linear is None else weights_of(entrance.linear),
        )
        head = weights_of(exit_.head)
        self._exit = native.Exit(exit_.norm.data_ptr(), head)
        self._scored = head.out

    def read(self, ids: Ids, cache: KVCache, states: Tensor | None = None) -> Tensor:
        """Run n ids that follow what is cached, and count them there; [n, W]."""
        return self.score(ids, cache, states, last=0).rows

    def score(
        self,
        ids: Ids,
        cache: KVCache,
        states: Tensor | None = None,
        *,
        last: int = 1,
        wish: Wish = NOTHING,
        kept: Kept | None = None,
        near: bool = False,
    ) -> Passed:
        """Run n ids as `read` does, and score the last so many rows."""
        read = array("q", ids.tolist() if isinstance(ids, torch.Tensor) else ids)
        n, taps = len(read), array("q", () if kept is None else kept.taps)
        if not 0 <= min(read) <= max(read) < self._ids:
            raise IndexError(f"an id is not within the table of {self._ids}")
        states, stride = self._checked(states, n)
        x = kept.rows if kept is not None and not taps else torch.empty(n, self._stack.width)
        rows = x if kept is None else kept.rows
        assert rows.is_contiguous()
        scores = torch.empty(last, self._scored)
        laws = torch.empty(last, self._scored) if wish.temperature else None
        best = (native.Best * last)()
        ends = native.Ends(
            *(read.buffer_info()[0], None if states is None else states.data_ptr(), stride),
            *(taps.buffer_info()[0], len(taps), rows.data_ptr()),
            *(last, scores.data_ptr(), best, wish.shares),
            max(wish.temperature, SMALLEST_TEMPERATURE),
            *(None if laws is None else laws.data_ptr(), wish.uniform, 0),
        )
        whole = native.Whole(self._entrance, self._exit, ends)
        self._stack.launch(x, cache, whole=whole, near=near)
        cache.append(n)
        found = [Best(one.score, one.place, one.share) for one in best]
        return Passed(rows, scores, found, laws, None if laws is None else ends.drawn)

    def _checked(self, states: Tensor | None, n: int) -> tuple[Tensor | None, int]:
        """Return states as the library reads them, with the floats of a row."""
        width = self._states * self._entrance.width
        if states is None:
            assert not width, "this network reads states beside ids"
            return None, 0
        states = states if states.stride(1) == 1 else states.contiguous()
        assert states.dtype == torch.float32
        assert states.shape == (n, width)
        return states, states.stride(0)


def weights_of(linear: Linear) -> native.Weights:
    """Return where the library has packed a weight."""
    found = getattr(linear, "weights", None)
    assert isinstance(found, native.Weights), "a plan runs what it prepared"
    return found
