"""What the machine can do at best: bytes read and products summed a second, measured on the spot.

Knows torch and a device; no model. `work` says what a pass asks of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import torch

from engine.benchmarks.figures import spread
from engine.benchmarks.measuring import Progress, interleaved, silent, timed
from engine.models.plans.packed import PackedPlan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.benchmarks.measuring import Variant

_READ_BYTES = {"cpu": 512 * 2**20, "cuda": 4 * 2**30}  # far larger than any cache
_SIDE = {"cpu": 1024, "cuda": 8192}  # of the square matrices that are multiplied
_SAMPLES = 12


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """How much a second, in bytes or in floating point operations."""

    what: str  # was timed
    amount: int  # of one sample
    best: float  # a second, of the quickest sample
    median: float


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Rates of the machine with the threads at hand."""

    read: Rate  # bytes
    products: tuple[Rate, ...]  # operations, by kernel

    @property
    def read_bytes_per_second(self) -> float:
        """Return the rate that is taken as the limit of reading: the best seen."""
        return self.read.best

    @property
    def flops(self) -> float:
        """Return the rate that is taken as the limit of computing: the best kernel's best."""
        return max(rate.best for rate in self.products)


def rate(what: str, amount: int, samples: Sequence[int]) -> Rate:
    """Turn nanoseconds for an amount into rates."""
    taken = spread(samples)
    return Rate(
        what=what,
        amount=amount,
        best=1e9 * amount / taken.fastest_ns,
        median=1e9 * amount / taken.median_ns,
    )


@torch.inference_mode()
def measure_limits(
    device: torch.device, *, samples: int = _SAMPLES, progress: Progress = silent
) -> Limits:
    """Measure all rates, in turn.

    Parameters
    ----------
    samples
        Of each; the machine may be busy, so the best of many is nearest to the truth.
    """
    count, side = _READ_BYTES.get(device.type, 2**28), _SIDE.get(device.type, 1024)
    products = _products(device, side)
    taken = interleaved(
        {"read": _read(device, count), **products},
        repeats=samples,
        warmups=2,
        progress=progress,
        what="Measuring the machine's limits",
    )
    return Limits(
        read=rate("sum of float32", count, taken["read"]),
        products=tuple(rate(name, 2 * side**3, taken[name]) for name in products),
    )


def _read(device: torch.device, count: int) -> Variant:
    """Sum a large buffer: of torch's operations that only read, the quickest."""
    buffer = torch.ones(count // 4, device=device)
    return timed(buffer.sum, device)


def _products(device: torch.device, side: int) -> dict[str, Variant]:
    """Multiply square matrices with each library at hand, since none is quickest everywhere."""
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    left = torch.randn(side, side, device=device).to(dtype)
    shape = f"{side} x {side} x {side}"
    kind = str(dtype).removeprefix("torch.")
    found = {f"torch {kind}, {shape}": timed(lambda: left @ left, device)}
    if device.type == "cpu" and PackedPlan.available():
        packed = PackedPlan().linear(left)
        found[f"FBGEMM float16 weights, float32 sums, {shape}"] = timed(lambda: packed(left))
    return found
