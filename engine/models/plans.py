"""How linear layers are computed: the one seam between the model and the machine's kernels.

A plan knows weights and widths; nothing of layers, caches or text. *eager* is the reference, in
one float type. *packed* is the CPU's way: weights rounded to float16 and packed for FBGEMM, sums
in float32, passes padded to widths whose rows round alike.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import torch
from torch.nn import functional

from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

_FLOAT16_MAX = 65504.0
_WIDEST_PROBED = 33  # passes wider than this are prompts; they are padded to multiples of 8


class Linear(Protocol):
    """A linear layer: [n, out] from [n, in]."""

    def __call__(self, x: Tensor) -> Tensor:
        """Return the product with the bias, if there is one; the type of `x` is kept."""
        ...


class Plan(Protocol):
    """A way of computing linear layers."""

    @property
    def name(self) -> str:
        """Name of the plan, as chosen and as traced."""
        ...

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        ...

    @property
    def dtype(self) -> torch.dtype:
        """Type of activations."""
        ...

    @property
    def description(self) -> str:
        """Say which types are multiplied and summed, for the trace."""
        ...

    @property
    def rounds_alike(self) -> bool:
        """Whether a row comes out bit for bit the same in passes of every width."""
        ...

    def linear(self, weight: Tensor, bias: Tensor | None = None) -> Linear:
        """Prepare a weight [out, in] and a bias [out]; the plan keeps what it needs of them."""
        ...

    def table(self, weight: Tensor) -> Tensor:
        """Prepare an embedding table [V, D] for look-up; rows are cast to `dtype` when read."""
        ...

    def width(self, rows: int) -> int:
        """Return the width, at least `rows`, that a pass of `rows` tokens is padded to."""
        ...

    def calibrate(self, run: Callable[[int], Tensor]) -> None:
        """Learn which widths round alike; `run(w)` returns the first rows of a pass w wide."""
        ...


@dataclass
class EagerPlan:
    """Plain matrix products in one float type: float32 or float64 on a CPU, bfloat16 on a GPU."""

    device: torch.device
    dtype: torch.dtype = torch.float32
    name: str = "eager"
    rounds_alike: bool = False

    @property
    def description(self) -> str:
        """Say in which type products are computed."""
        return str(self.dtype).removeprefix("torch.")

    def linear(self, weight: Tensor, bias: Tensor | None = None) -> Linear:
        """Keep weight and bias as they are."""
        kept = weight.to(device=self.device, dtype=self.dtype)
        added = None if bias is None else bias.to(device=self.device, dtype=self.dtype)
        return lambda x: functional.linear(x, kept, added)

    def table(self, weight: Tensor) -> Tensor:
        """Keep the table as it is."""
        return weight.to(device=self.device, dtype=self.dtype)

    def width(self, rows: int) -> int:
        """Leave the pass as wide as it is."""
        return rows

    def calibrate(self, run: Callable[[int], Tensor]) -> None:
        """Nothing to learn: rows of different widths may round differently (invariant 2)."""


@dataclass
class PackedPlan:
    """FBGEMM with float16 weights and float32 sums, on x86."""

    device: torch.device = field(default_factory=lambda: torch.device("cpu"))
    dtype: torch.dtype = torch.float32
    name: str = "packed"
    description: str = "float16 weights, float32 sums"
    rounds_alike: bool = True  # at the widths that passes are padded to
    # until calibrated: the widths measured alike on every processor so far
    widths: tuple[int, ...] = (3, 4, 5, 6, 8, 9, 12, 13, 16, 17, 24, 33)

    @staticmethod
    def available() -> bool:
        """Whether this build and processor have the kernels."""
        return "x86" in torch.backends.quantized.supported_engines

    def linear(self, weight: Tensor, bias: Tensor | None = None) -> Linear:
        """Round the weight to float16 and pack it; the bias stays float32, as the sums are."""
        largest = float(weight.abs().max())
        if largest > _FLOAT16_MAX:
            raise DraftscopeError(
                f"A weight of this model is {largest:.3g}, beyond float16's {_FLOAT16_MAX:.0f}; "
                "choose the eager plan (--plan eager)."
            )
        torch.backends.quantized.engine = "x86"
        added = None if bias is None else bias.float().contiguous()
        packed = torch.ops.quantized.linear_prepack_fp16(weight.float().contiguous(), added)
        product = torch.ops.quantized.linear_dynamic_fp16
        return lambda x: product(x, packed)

    def table(self, weight: Tensor) -> Tensor:
        """Keep the table in float16, as the head that may be tied to it."""
        return weight.to(torch.float16)

    def width(self, rows: int) -> int:
        """Return the next width whose rows round as those of every other such width."""
        for width in self.widths:
            if width >= rows:
                return width
        return -(-rows // 8) * 8

    def calibrate(self, run: Callable[[int], Tensor]) -> None:
        """Keep the widths at which shared rows come out bit for bit as in the widest pass."""
        reference = run(_WIDEST_PROBED)
        alike = [_WIDEST_PROBED]
        for width in range(_WIDEST_PROBED - 1, 0, -1):
            rows = run(width)
            if torch.equal(rows, reference[:width]):
                alike.append(width)
        self.widths = tuple(sorted(alike))


def choose_plan(name: str | None, device: torch.device, dtype: torch.dtype | None = None) -> Plan:
    """Return the plan of this name, or the device's default: packed on x86, else eager.

    Raises
    ------
    DraftscopeError
        For an unknown name, or a plan that this device cannot run.
    """
    if name not in (None, "eager", "packed"):
        raise DraftscopeError(f"There is no plan called {name!r}; choose eager or packed.")
    can_pack = device.type == "cpu" and dtype is None and PackedPlan.available()
    if name == "packed" and not can_pack:
        raise DraftscopeError(
            "The packed plan needs an x86 processor and float16 weights; choose --plan eager."
        )
    if name == "packed" or (name is None and can_pack):
        return PackedPlan()
    if dtype is None:
        dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    return EagerPlan(device, dtype)
