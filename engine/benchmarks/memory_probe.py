"""Memory of one process that loads a model and decodes, read from the system at each stage.

Run as a program, with what to load as JSON on standard input: in a process of its own nothing else
counts. Writes one JSON object. Reads /proc, which only Linux has. Knows models; no report.
"""

from __future__ import annotations

import gc
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import torch

from engine.benchmarks.work import cache_bytes, kept_bytes
from engine.cache import KVCache
from engine.loading import choose_device, load_model
from engine.prefill import feed

if TYPE_CHECKING:
    from types import TracebackType

    from engine.models.transformer import Transformer

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")
_EVERY_S = 0.002  # between two looks of the sampler
_PASSES = 16  # on one token, after the prompt


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """What to load, and how long a context to read."""

    target: str
    device: str | None = None
    plan: str | None = None
    context: int = 2048


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes of this process that are in memory at one moment."""

    resident: int  # anonymous + file
    anonymous: int  # its own
    file: int  # pages of files that it has mapped: the system may take them back at any time
    at: str = ""  # what it was doing


class Stages(msgspec.Struct, frozen=True, kw_only=True):
    """Memory from the start of the interpreter to a text of `context` tokens."""

    imported: Reading  # interpreter, torch and engine; no model
    loading_peak: Reading  # the highest that was sampled, with what had been loaded by then
    loading_peak_resident: int  # the system's own high-water mark of the same time
    loaded: Reading
    decoding_peak_resident: int  # the system's own, over prompt and passes
    decoded: Reading
    context: int  # tokens in the cache at the end
    weight_bytes: int  # matrices, table and vectors, as the plan keeps them
    cache_bytes: int  # keys and values of the context
    store_bytes: int  # that the store of keys and values reserves
    device_peak_bytes: int | None = None  # of the GPU's memory, while loading
    device_loaded_bytes: int | None = None
    device_decoding_peak_bytes: int | None = None


def read_status(text: str, at: str = "") -> Reading:
    """Read a process's status as Linux writes it."""
    values = _kilobytes(text)
    return Reading(
        resident=1024 * values["VmRSS"],
        anonymous=1024 * values["RssAnon"],
        file=1024 * (values["RssFile"] + values.get("RssShmem", 0)),
        at=at,
    )


def high_water(text: str) -> int:
    """Return the most bytes that were resident at once since the mark was set back."""
    return 1024 * _kilobytes(text)["VmHWM"]


def _kilobytes(text: str) -> dict[str, int]:
    lines = (line.split() for line in text.splitlines())
    return {one[0].rstrip(":"): int(one[1]) for one in lines if len(one) == 3 and one[2] == "kB"}


class Sampler:
    """Looks at this process's memory again and again while entered; keeps the highest reading."""

    def __init__(self) -> None:
        self.at = "before the first layer"  # set from outside, as things go on
        self.highest = read_status(_STATUS.read_text())
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, name="memory sampler")

    def __enter__(self) -> Sampler:
        """Begin."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End."""
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(_EVERY_S):
            found = read_status(_STATUS.read_text(), self.at)
            if found.resident > self.highest.resident:
                self.highest = found


def probe(ask: Ask) -> Stages:
    """Load, read a context, run a few passes; read memory at each stage."""
    where = choose_device(ask.device)
    on_gpu = where.type == "cuda"
    imported = _fresh()
    with Sampler() as sampler:

        def progress(done: int, total: int, what: str) -> None:
            sampler.at = f"{done} of {total} layers loaded"

        loaded = load_model(ask.target, device=ask.device, plan=ask.plan, progress=progress)
    peak = high_water(_STATUS.read_text())
    gpu_peak = torch.cuda.max_memory_allocated(where) if on_gpu else None
    after = _fresh()
    gpu_after = torch.cuda.memory_allocated(where) if on_gpu else None
    if on_gpu:
        torch.cuda.reset_peak_memory_stats(where)
    model = loaded.transformer
    context = min(ask.context, model.config.context_length - _PASSES)
    store = _decode(model, context)
    return Stages(
        imported=imported,
        loading_peak=sampler.highest,
        loading_peak_resident=peak,
        loaded=after,
        decoding_peak_resident=high_water(_STATUS.read_text()),
        decoded=read_status(_STATUS.read_text()),
        context=context + _PASSES,
        weight_bytes=kept_bytes(model),
        cache_bytes=cache_bytes(model.config, context + _PASSES, model.plan.dtype),
        store_bytes=store,
        device_peak_bytes=gpu_peak,
        device_loaded_bytes=gpu_after,
        device_decoding_peak_bytes=torch.cuda.max_memory_allocated(where) if on_gpu else None,
    )


@torch.inference_mode()
def _decode(model: Transformer, context: int) -> int:
    """Read a context and run passes; return the bytes of the store that they needed."""
    pool = model.new_pool()
    cache = KVCache(pool)
    feed(model, [1 + i % (model.vocabulary - 1) for i in range(context)], cache)
    for _ in range(_PASSES):
        model.logits(model.forward([1], cache))
    return sum(part.numel() * part.element_size() for part in (*pool.keys, *pool.values))


def _fresh() -> Reading:
    """Set the high-water mark back to what is resident now, and read it."""
    gc.collect()
    _CLEAR.write_text("5")
    return read_status(_STATUS.read_text())


if __name__ == "__main__":
    stages = probe(msgspec.json.decode(sys.stdin.buffer.read(), type=Ask))
    sys.stdout.buffer.write(msgspec.json.encode(stages))
