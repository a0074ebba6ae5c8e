"""`memory`: what loading a model and reading a long text take, each plan in a process of its own.

Knows processes and plans; `memory_probe` is what runs in them.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import msgspec

from engine.benchmarks.header import Header, header
from engine.benchmarks.measuring import Progress, silent
from engine.benchmarks.memory_probe import Ask, Stages
from engine.benchmarks.runnable import runnable
from engine.errors import DraftscopeError
from engine.loading import choose_device

if TYPE_CHECKING:
    from collections.abc import Callable

    Probe = Callable[[Ask], Stages]

TARGET = 1.3  # what `ratio` is to reach


class PlanMemory(msgspec.Struct, frozen=True, kw_only=True):
    """One plan's memory. Bytes in main memory, without what was there before: `base_bytes`."""

    plan: str
    base_bytes: int  # interpreter, torch and engine, before anything is loaded
    weight_bytes: int  # counted: matrices, table and vectors as the plan keeps them
    cache_bytes: int  # counted: keys and values of the context
    store_bytes: int  # that the store of keys and values reserves for them
    loaded_bytes: int  # after loading
    loading_peak_bytes: int
    decoding_peak_bytes: int  # reading the context, then a few passes
    decoded_bytes: int  # when the text is closed again
    mapped_bytes: int  # pages of files in the loading peak: the system may take them back
    peak_at: str  # how far loading was when the highest reading was sampled
    # Of the GPU's memory where the weights are there, else of main memory.
    ratio: float  # the higher peak / (weight_bytes + cache_bytes)
    loading_ratio: float  # loading peak / weight_bytes
    stages: Stages  # everything that was read, nothing subtracted


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """The report."""

    header: Header
    target_ratio: float
    plans: tuple[PlanMemory, ...]
    left_out: tuple[str, ...]  # plans that this machine cannot run, and why


def measure(
    *,
    target: str,
    device: str | None = None,
    plan: str | None = None,
    context: int = 2048,
    progress: Progress = silent,
    run: Probe | None = None,
) -> Memory:
    """Load the target under one plan, or under every plan, each in a fresh process."""
    where = choose_device(device)
    about = header("memory", device=where, settings={"target": target, "context": context})
    names, left_out = runnable(plan, where)
    found = []
    for done, name in enumerate(names):
        progress(done, len(names), f"Loading in a process of its own, {name} plan")
        ask = Ask(target=target, device=device, plan=name, context=context)
        found.append(plan_memory(name, (run or in_a_process)(ask)))
    return Memory(header=about, target_ratio=TARGET, plans=tuple(found), left_out=left_out)


def in_a_process(ask: Ask) -> Stages:
    """Run the probe in a fresh interpreter.

    Raises
    ------
    DraftscopeError
        With the last line that the process wrote, if it failed.
    """
    if not sys.platform.startswith("linux"):
        raise DraftscopeError(
            "The memory of a process is read from /proc, which only Linux has; run this benchmark "
            "there."
        )
    done = subprocess.run(
        [sys.executable, "-m", "engine.benchmarks.memory_probe"],
        input=msgspec.json.encode(ask),
        capture_output=True,
        check=False,
    )
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        reason = said[-1] if said else f"it ended with {done.returncode}"
        raise DraftscopeError(f"The measured process failed: {reason.partition(': ')[2] or reason}")
    return msgspec.json.decode(done.stdout, type=Stages)


def plan_memory(plan: str, stages: Stages) -> PlanMemory:
    """Subtract what was there before, and divide by what is needed."""
    base = stages.imported.resident
    loading = stages.loading_peak_resident - base
    decoding = stages.decoding_peak_resident - base
    peaks = (loading, decoding)
    if stages.device_peak_bytes is not None and stages.device_decoding_peak_bytes is not None:
        peaks = (stages.device_peak_bytes, stages.device_decoding_peak_bytes)
    return PlanMemory(
        plan=plan,
        base_bytes=base,
        weight_bytes=stages.weight_bytes,
        cache_bytes=stages.cache_bytes,
        store_bytes=stages.store_bytes,
        loaded_bytes=stages.loaded.resident - base,
        loading_peak_bytes=loading,
        decoding_peak_bytes=decoding,
        decoded_bytes=stages.decoded.resident - base,
        mapped_bytes=stages.loading_peak.file - stages.imported.file,
        peak_at=stages.loading_peak.at,
        ratio=max(peaks) / (stages.weight_bytes + stages.cache_bytes),
        loading_ratio=peaks[0] / stages.weight_bytes,
        stages=stages,
    )
