"""Recording a body as a CUDA graph, captured by hand. Knows streams and memory; no model.

Works on any thread: the streams and the library handles that a capture needs are those of the
thread that makes it, and what other threads do meanwhile is no concern of it. Not measured on a
GPU.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor
    from torch.cuda import _POOL_HANDLE

    from engine.models.plans.recordings import Recording

WARM_UPS = 2  # libraries choose kernels and take their workspaces in the first


@dataclass(frozen=True)
class CudaGraph:
    """A captured body."""

    graph: torch.cuda.CUDAGraph
    output: Tensor

    def replay(self) -> None:
        """Queue the whole body at once on the current stream."""
        self.graph.replay()


class CudaRecorder:
    """Captures bodies on one side stream, into one pool of memory that its graphs share.

    They may share it because they are replayed one after another and each result is copied out
    before the next. Torch refuses a pool whose graphs have all gone, so the first graph of a pool
    is kept for as long as the pool is used; and after a capture that failed another pool is taken.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._stream: torch.cuda.Stream | None = None
        self._pool: _POOL_HANDLE | None = None
        self._first: torch.cuda.CUDAGraph | None = None  # of the pool; never replayed by this

    def record(self, body: Callable[[], Tensor]) -> Recording:
        """Run the body twice, then capture it.

        Raises
        ------
        RuntimeError
            If the body does what cannot be captured, or memory is short.
        """
        with torch.cuda.device(self._device):
            if self._stream is None:
                self._stream = torch.cuda.Stream(self._device)  # type: ignore[no-untyped-call]  # torch gives no types
            here = torch.cuda.current_stream()
            self._stream.wait_stream(here)
            # not torch.cuda.graph: if a capture fails it leaves its stream the current one, and it
            # empties torch's store of free memory each time
            try:
                with torch.cuda.stream(self._stream):
                    for _ in range(WARM_UPS):
                        body()
                    torch.cuda.synchronize()
                    return self._captured(body)
            finally:
                here.wait_stream(self._stream)

    def _captured(self, body: Callable[[], Tensor]) -> CudaGraph:
        pool, first = self._pool, self._first
        self._pool = self._first = None  # unless this capture succeeds
        if pool is None:
            pool = torch.cuda.graph_pool_handle()
        graph = torch.cuda.CUDAGraph()
        # what other threads do meanwhile is no fault of this one
        graph.capture_begin(pool=pool, capture_error_mode="thread_local")
        try:
            output = body()
        finally:
            graph.capture_end()
        self._pool, self._first = pool, graph if first is None else first
        return CudaGraph(graph, output)
