"""How a CUDA graph is captured: the order of calls, on a stand-in for torch's own streams."""

from __future__ import annotations

import gc
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
import torch

from engine.models.plans.cuda_recorder import WARM_UPS, CudaRecorder

if TYPE_CHECKING:
    from collections.abc import Iterator


class StandIn:
    """Streams and graphs that write down what is asked of them."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.current = "main"
        self.made = 0
        self.pools: dict[tuple[int, int], weakref.WeakSet[Graph]] = {}

    def install(self, patch: pytest.MonkeyPatch) -> None:
        patch.setattr(torch.cuda, "device", self.entered)
        patch.setattr(torch.cuda, "stream", self.on)
        patch.setattr(torch.cuda, "Stream", lambda device: Stream(self, "side"))
        patch.setattr(torch.cuda, "current_stream", lambda: Stream(self, self.current))
        patch.setattr(torch.cuda, "synchronize", lambda: self.calls.append("synchronize"))
        patch.setattr(torch.cuda, "graph_pool_handle", self.handle)
        patch.setattr(torch.cuda, "CUDAGraph", lambda: Graph(self))

    def handle(self) -> tuple[int, int]:
        self.made += 1
        return (0, self.made)

    @contextmanager
    def entered(self, device: torch.device) -> Iterator[None]:
        self.calls.append(f"device {device}")
        yield

    @contextmanager
    def on(self, stream: Stream) -> Iterator[None]:
        before, self.current = self.current, stream.name
        try:
            yield
        finally:
            self.current = before


class Stream:
    def __init__(self, seen: StandIn, name: str) -> None:
        self.seen, self.name = seen, name

    def wait_stream(self, other: Stream) -> None:
        self.seen.calls.append(f"{self.name} waits for {other.name}")


class Graph:
    def __init__(self, seen: StandIn) -> None:
        self.seen = seen

    def capture_begin(self, **options: Any) -> None:
        assert options["capture_error_mode"] == "thread_local"  # other threads may do as they like
        pool = options["pool"]
        # as torch has it: a pool that was used goes with the last of its graphs, its name does not
        if pool in self.seen.pools and not self.seen.pools[pool]:
            raise RuntimeError("use_count > 0 INTERNAL ASSERT FAILED")
        self.seen.pools.setdefault(pool, weakref.WeakSet()).add(self)
        self.seen.calls.append(f"begin on {self.seen.current} in {pool}")

    def capture_end(self) -> None:
        self.seen.calls.append("end")

    def replay(self) -> None:
        self.seen.calls.append(f"replay on {self.seen.current}")


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    made = StandIn()
    made.install(monkeypatch)
    return made


def test_a_body_is_warmed_up_and_captured_beside_the_current_stream(seen: StandIn) -> None:
    recorder, result = CudaRecorder(torch.device("cuda:1")), torch.ones(1)

    def body() -> torch.Tensor:
        seen.calls.append(f"body on {seen.current}")
        return result

    recording = recorder.record(body)
    assert recording.output is result
    assert seen.calls == [
        "device cuda:1",
        "side waits for main",
        *["body on side"] * WARM_UPS,
        "synchronize",
        "begin on side in (0, 1)",
        "body on side",
        "end",
        "main waits for side",
    ]
    recording.replay()
    assert seen.calls[-1] == "replay on main"


def test_graphs_share_a_stream_and_a_pool_of_memory(seen: StandIn) -> None:
    recorder = CudaRecorder(torch.device("cuda"))
    for _ in range(3):
        recorder.record(lambda: torch.ones(1))
        gc.collect()  # none of them is kept here, and the pool still lives
    begun = {call for call in seen.calls if call.startswith("begin")}
    assert begun == {"begin on side in (0, 1)"}


def test_a_failed_capture_is_ended_and_its_stream_left(seen: StandIn) -> None:
    runs = iter(range(10))

    def body() -> torch.Tensor:
        if next(runs) == WARM_UPS:
            raise RuntimeError("operation not permitted when stream is capturing")
        return torch.ones(1)

    recorder = CudaRecorder(torch.device("cuda"))
    with pytest.raises(RuntimeError, match="not permitted"):
        recorder.record(body)
    assert seen.calls[-2:] == ["end", "main waits for side"]
    assert seen.current == "main"
    gc.collect()
    recorder.record(lambda: torch.ones(1))
    assert [call for call in seen.calls if "begin" in call][-1] == "begin on side in (0, 2)"


def test_after_a_failure_in_a_pool_in_use_another_is_taken(seen: StandIn) -> None:
    recorder, runs = CudaRecorder(torch.device("cuda")), iter(range(10))
    kept = recorder.record(lambda: torch.ones(1))

    def body() -> torch.Tensor:
        if next(runs) == WARM_UPS:
            raise RuntimeError("operation not permitted when stream is capturing")
        return torch.ones(1)

    with pytest.raises(RuntimeError, match="not permitted"):
        recorder.record(body)
    for _ in range(2):
        recorder.record(lambda: torch.ones(1))
        gc.collect()
    assert len(seen.pools[0, 1]) == 1
    assert len(seen.pools[0, 2]) == 1  # the first graph of the pool in use, and no other
    kept.replay()
