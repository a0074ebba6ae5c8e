"""The compiled plan on a CPU: a whole pass is one C++ function, built for this processor.

Knows the built library, weights and layers; how it is built is `engine.models.native.build`'s.
Weights are float16 and sums float32 as in the packed plan, added in another order; those of trained
drafters are bytes. Rows round alike in passes of every width by construction, so nothing is padded
and nothing is measured at the start.
"""

from __future__ import annotations

import ctypes
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from engine.models.native.arena import Arena
from engine.models.native.laws import NativeLaws
from engine.models.native.library import FAR, NEAR, ONCE, Layer, Rows, Shape, Store, Weights
from engine.models.native.scans import NativeScans
from engine.models.plans.compiled_network import CompiledNetwork, weights_of
from engine.models.plans.float16 import check_float16

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from engine.cache import KVCache, PagePool
    from engine.models.blocks import Block
    from engine.models.native.arena import Block as Memory
    from engine.models.native.library import Library, Whole
    from engine.models.network import Entrance, Exit, Network
    from engine.models.plans.protocol import Linear, Stack
    from engine.models.rotary import Rotary


_MOST_KEPT = 1 << 25  # weights of layers that a cache may hold until the next pass


class CompiledLinear:
    """A weight that the library has packed."""

    def __init__(
        self,
        library: Library,
        arena: Arena,
        weight: Tensor,
        bias: Tensor | None = None,
        *,
        bytes_: bool = False,
    ) -> None:
        self._library = library
        out, in_ = weight.shape
        source = weight.float().contiguous()
        self._memory: Memory = arena.take(library.packed(out, in_) * (1 if bytes_ else 2))
        self._units = torch.empty(out) if bytes_ else None
        self._bias = None if bias is None else bias.float().contiguous()
        self.weights = Weights(
            *(self._memory.address, _address(self._units), _address(self._bias), out, in_)
        )
        place = source.data_ptr(), out, in_, self._memory.address
        if self._units is None:
            check_float16(library.pack(*place, torch.get_num_threads()))
        else:
            library.pack_bytes(*place, self._units.data_ptr(), torch.get_num_threads())

    def __call__(self, x: Tensor) -> Tensor:
        """Return the product; [n, out] from [n, in]."""
        return self._multiply(x, None, 0.0)

    def normed(self, x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
        """Return the product of the RMS norm of each row."""
        return self._multiply(x, weight, epsilon)

    def _multiply(self, x: Tensor, norm: Tensor | None, epsilon: float) -> Tensor:
        x = x.float().contiguous()
        n, threads = x.shape[0], torch.get_num_threads()
        result = torch.empty(n, self.weights.out)
        scratch = None if norm is None else torch.empty(threads * n * self.weights.in_)
        self._library.product(
            *(self.weights, x.data_ptr(), n, _address(norm), epsilon),
            *(result.data_ptr(), _address(scratch), threads),
        )
        return result


class CompiledStack:
    """Layers that the library runs in one call."""

    def __init__(self, library: Library, blocks: Sequence[Block], rotary: Rotary) -> None:
        self._library = library
        self._blocks = list(blocks)  # their tensors are read by address
        self._rotary = rotary
        first = self._blocks[0]
        self.width, self.epsilon = first.attention_norm.shape[0], first.epsilon
        self._shape = Shape(
            *(first.attention_norm.shape[0], first.heads, first.kv_heads, first.head_dim),
            *(rotary.dim, weights_of(first.gate_up).out // 2, first.epsilon),
        )
        self._layers = (Layer * len(blocks))(*map(_layer, blocks))
        self._all = range(len(blocks))
        self._numbers = sum(weight.out * weight.in_ for weight in _parts(self._layers[0]))
        self._stores: weakref.WeakKeyDictionary[PagePool, _Addresses] = weakref.WeakKeyDictionary()

    def run(self, x: Tensor, cache: KVCache, layers: slice, ahead: int = 0) -> Tensor:
        """Run some of the layers; [n, D] from [n, D]."""
        result = x.clone(memory_format=torch.contiguous_format)
        self.launch(result, cache, range(len(self._blocks))[layers], ahead)
        return result

    def launch(
        self,
        rows: Tensor,
        cache: KVCache,
        layers: range | None = None,
        ahead: int = 0,
        whole: Whole | None = None,
        near: bool = False,
    ) -> None:
        """Run some of the layers, or all, on rows [n, D] in place; between both ends if given."""
        n, first, threads = rows.shape[0], cache.length + ahead, torch.get_num_threads()
        cache.reserve(ahead + n)
        widest = 0 if whole is None else whole.entrance.weights.in_
        # made for each pass: two threads may run passes of one model at the same time
        scratch = torch.empty(self._library.scratch(self._shape, n, first, widest, threads))
        chosen = self._all if layers is None else layers
        cosines, sines = self._rotary.tables(first + n)
        angles = 4 * first * self._rotary.dim  # bytes of float32
        where = Rows(
            *(rows.data_ptr(), n, first),
            *(cosines.data_ptr() + angles, sines.data_ptr() + angles),
            self._reach(chosen, near),
        )
        store = self._store(cache.pool, cache.start)
        self._library.run(
            *(self._shape, self._layers, chosen, store, where, whole, scratch.data_ptr(), threads)
        )

    def _reach(self, layers: range, near: bool) -> int:
        """Return where the weights of some layers lie for the library."""
        if self._numbers * len(layers) > _MOST_KEPT:
            return ONCE
        return NEAR if near else FAR

    def _store(self, pool: PagePool, start: int) -> Store:
        known = self._stores.get(pool)
        if known is None or known.generation != pool.generation:
            known = self._stores[pool] = _Addresses.of(pool)
        return Store(known.keys, known.values, known.positions, start)


@dataclass(frozen=True)
class _Addresses:
    """Where the layers of a pool lie, until it grows."""

    generation: int
    keys: ctypes.Array[ctypes.c_void_p]
    values: ctypes.Array[ctypes.c_void_p]
    positions: int

    @classmethod
    def of(cls, pool: PagePool) -> _Addresses:
        kind = ctypes.c_void_p * len(pool.keys)
        keys = kind(*(store.data_ptr() for store in pool.keys))
        values = kind(*(store.data_ptr() for store in pool.values))
        return cls(pool.generation, keys, values, pool.keys[0].shape[1])


class CompiledPlan:
    """One C++ function a pass: float16 weights, bytes in trained drafters, and float32 sums."""

    name = "compiled"
    description = "float16 weights, float32 sums, one C++ function a pass"
    draft_description = "weights of one byte, float32 sums, one C++ function a pass"
    draft_weight_bytes = 1
    dtype = torch.float32
    rounds_alike = True

    def __init__(self, library: Library) -> None:
        self.device = torch.device("cpu")
        self.scans = NativeScans(library)
        self.laws = NativeLaws(library)
        self._library = library
        self._arena = Arena()

    def linear(self, weight: Tensor, bias: Tensor | None = None) -> Linear:
        """Round the weight to float16 and pack it; the bias stays float32, as the sums are."""
        return CompiledLinear(self._library, self._arena, weight, bias)

    def draft_linear(self, weight: Tensor) -> Linear:
        """Round the weight to bytes, with a unit for each output: half as much to read."""
        return CompiledLinear(self._library, self._arena, weight, bytes_=True)

    def table(self, weight: Tensor) -> Tensor:
        """Keep the table in float16, as the head that may be tied to it."""
        return weight.to(torch.float16)

    def stack(self, blocks: Sequence[Block], rotary: Rotary) -> Stack:
        """Run layers in one call."""
        return CompiledStack(self._library, blocks, rotary)

    def network(self, entrance: Entrance, stack: Stack, exit_: Exit, epsilon: float) -> Network:
        """Run all of a network in one call."""
        assert isinstance(stack, CompiledStack), "a plan runs the layers that it prepared"
        return CompiledNetwork(entrance, stack, exit_, epsilon)

    def width(self, rows: int) -> int:
        """Leave the pass as wide as it is: every width rounds alike."""
        return rows

    def calibrate(self, run: Callable[[int], Tensor]) -> None:
        """Nothing to learn."""


def _address(tensor: Tensor | None) -> int | None:
    return None if tensor is None else tensor.data_ptr()


def _parts(layer: Layer) -> tuple[Weights, ...]:
    return layer.qkv, layer.output, layer.gate_up, layer.down


def _layer(block: Block) -> Layer:
    return Layer(
        qkv=weights_of(block.qkv),
        output=weights_of(block.output),
        gate_up=weights_of(block.gate_up),
        down=weights_of(block.down),
        attention_norm=block.attention_norm.data_ptr(),
        mlp_norm=block.mlp_norm.data_ptr(),
        head_norms=_address(block.head_norms),
        window=block.window or 0,
    )
