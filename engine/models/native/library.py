"""The built library as Python sees it: structures, functions and their types. Knows no torch.

`pass.cpp` has the other side of every structure here. A call through ctypes gives the interpreter
lock away for as long as it takes, so a pass never waits for whoever paints meanwhile.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, Structure, byref, c_double, c_float, c_int, c_int32, c_int64, c_void_p
from typing import TYPE_CHECKING, ClassVar, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path


# where a pass's weights lie: in memory; in a cache, read a moment ago; in memory, and too many to
# stay in a cache until the next pass
FAR, NEAR, ONCE = range(3)


class Weights(Structure):
    """A packed weight: addresses of its groups, units (None: float16) and bias, and a shape."""

    _fields_: ClassVar = [
        ("packed", c_void_p),
        ("units", c_void_p),
        ("bias", c_void_p),
        ("out", c_int64),
        ("in_", c_int64),
    ]


class Layer(Structure):
    """One layer's weights and norms; a window of 0 sees everything before a row."""

    _fields_: ClassVar = [
        ("qkv", Weights),
        ("output", Weights),
        ("gate_up", Weights),
        ("down", Weights),
        ("attention_norm", c_void_p),
        ("mlp_norm", c_void_p),
        ("head_norms", c_void_p),
        ("window", c_int64),
    ]


class Shape(Structure):
    """What all layers of a stack share."""

    _fields_: ClassVar = [
        ("width", c_int64),
        ("heads", c_int64),
        ("kv_heads", c_int64),
        ("head_dim", c_int64),
        ("rotary_dim", c_int64),
        ("mlp_width", c_int64),
        ("epsilon", c_float),
    ]


class Store(Structure):
    """Where keys and values lie: an address a layer, positions a head, and the sequence's start."""

    _fields_: ClassVar = [
        ("keys", POINTER(c_void_p)),
        ("values", POINTER(c_void_p)),
        ("positions", c_int64),
        ("start", c_int64),
    ]


class Rows(Structure):
    """The rows of one pass: where they lie, how many, where the first stands, its angles.

    `reach` says where the weights lie: FAR, NEAR or ONCE.
    """

    _fields_: ClassVar = [
        ("x", c_void_p),
        ("n", c_int64),
        ("first", c_int64),
        ("cosines", c_void_p),
        ("sines", c_void_p),
        ("reach", c_int32),
    ]


class Entrance(Structure):
    """What rows are made of: a float16 table, norms, and a weight (or none)."""

    _fields_: ClassVar = [
        ("table", c_void_p),
        ("width", c_int64),
        ("states", c_int64),
        ("norms", c_void_p),
        ("weights", Weights),
    ]


class Exit(Structure):
    """How rows are scored: a norm and a weight."""

    _fields_: ClassVar = [("norm", c_void_p), ("weights", Weights)]


class Best(Structure):
    """The largest score of a row, its first place, and its share of the row's softmax."""

    _fields_: ClassVar = [("place", c_int64), ("score", c_float), ("share", c_float)]


class Ends(Structure):
    """What a pass is made of, what of it is kept, and where what is found of its scores goes."""

    _fields_: ClassVar = [
        ("ids", c_void_p),
        ("states", c_void_p),
        ("stride", c_int64),
        ("taps", c_void_p),
        ("tapped", c_int64),
        ("kept", c_void_p),
        ("scored", c_int64),
        ("scores", c_void_p),
        ("best", POINTER(Best)),
        ("shares", c_int32),
        ("temperature", c_float),
        ("laws", c_void_p),
        ("uniform", c_double),
        ("drawn", c_int64),
    ]


class Many(Structure):
    """One new row of each of many sequences, and their keys and values."""

    _fields_: ClassVar = [
        ("sequences", c_int64),
        ("heads", c_int64),
        ("kv_heads", c_int64),
        ("head_dim", c_int64),
        ("room", c_int64),
        ("window", c_int64),
        ("queries", c_void_p),
        ("keys", c_void_p),
        ("values", c_void_p),
        ("places", c_void_p),
        ("mixed", c_void_p),
    ]


class Whole(NamedTuple):
    """Both ends of one pass, for `Library.run`."""

    entrance: Entrance
    exit: Exit
    ends: Ends


class Library:
    """The functions of a built library.

    Raises
    ------
    OSError
        If the file cannot be loaded, or is no such library.
    """

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))
        try:
            self._declare()
        except AttributeError as error:
            raise OSError(f"{path.name} lacks a function: {error}") from error

    def _declare(self) -> None:
        library = self._library
        library.draftscope_packed.argtypes = [c_int64, c_int64]
        library.draftscope_packed.restype = c_int64
        library.draftscope_pack.argtypes = [c_void_p, c_int64, c_int64, c_void_p, c_int]
        library.draftscope_pack.restype = c_float
        library.draftscope_pack_bytes.argtypes = [
            *(c_void_p, c_int64, c_int64, c_void_p, c_void_p, c_int),
        ]
        library.draftscope_pack_bytes.restype = None
        library.draftscope_scratch.argtypes = [POINTER(Shape), c_int64, c_int64, c_int64, c_int]
        library.draftscope_scratch.restype = c_int64
        library.draftscope_run.argtypes = [
            *(POINTER(Shape), POINTER(Layer), c_int64, c_int64),
            *(POINTER(Store), POINTER(Rows)),
            *(POINTER(Entrance), POINTER(Exit), POINTER(Ends), c_void_p, c_int),
        ]
        library.draftscope_run.restype = None
        library.draftscope_attend.argtypes = [POINTER(Many), c_int, c_int]
        library.draftscope_attend.restype = None
        library.draftscope_product.argtypes = [
            *(POINTER(Weights), c_void_p, c_int64, c_void_p, c_float, c_void_p, c_void_p, c_int),
        ]
        library.draftscope_product.restype = None
        library.draftscope_largest.argtypes = [
            c_void_p,
            c_int64,
            c_int64,
            c_void_p,
            c_void_p,
            c_int,
        ]
        library.draftscope_largest.restype = None
        library.draftscope_look.argtypes = [
            *(c_void_p, c_void_p, c_int, c_int64, c_int64, c_int64, c_void_p, c_void_p, c_int),
        ]
        library.draftscope_look.restype = None
        library.draftscope_describe.argtypes = [
            *(c_void_p, c_int64, c_int64, c_int64, c_void_p, c_void_p, c_int),
        ]
        library.draftscope_describe.restype = None

        library.draftscope_laws.argtypes = [
            *(c_void_p, c_int64, c_int64, c_float, c_void_p, c_void_p, c_int),
        ]
        library.draftscope_laws.restype = None
        library.draftscope_draw.argtypes = [c_void_p, c_int64, c_double, POINTER(c_double)]
        library.draftscope_draw.restype = c_int64
        library.draftscope_residual.argtypes = [c_void_p, c_void_p, c_int64, c_int64, c_void_p]
        library.draftscope_residual.restype = None

    def packed(self, out: int, in_: int) -> int:
        """Return how many numbers a weight [out, in] has when packed."""
        return int(self._library.draftscope_packed(out, in_))

    def pack(self, weight: int, out: int, in_: int, packed: int, threads: int) -> float:
        """Pack float32 weights from one address to another; return the largest magnitude."""
        return float(self._library.draftscope_pack(weight, out, in_, packed, threads))

    def pack_bytes(
        self, weight: int, out: int, in_: int, packed: int, units: int, threads: int
    ) -> None:
        """Pack as `pack` does, but into bytes, and write the unit of each output's."""
        self._library.draftscope_pack_bytes(weight, out, in_, packed, units, threads)

    def scratch(self, shape: Shape, rows: int, first: int, widest: int, threads: int) -> int:
        """Return how many floats of scratch a pass needs; `widest` is what a row is made of."""
        return int(self._library.draftscope_scratch(byref(shape), rows, first, widest, threads))

    def run(
        self,
        shape: Shape,
        layers: ctypes.Array[Layer],
        chosen: range,
        store: Store,
        rows: Rows,
        whole: Whole | None,
        scratch: int,
        threads: int,
    ) -> None:
        """Run the chosen layers of an array on rows, in place; between both ends, if given."""
        self._library.draftscope_run(
            *(byref(shape), layers, chosen.start, len(chosen), byref(store), byref(rows)),
            *((None, None, None) if whole is None else whole),
            *(scratch, threads),
        )

    def attend(self, many: Many, *, half: bool, threads: int) -> None:
        """Attend from a row of each sequence; `half` says that keys and values are bfloat16."""
        self._library.draftscope_attend(byref(many), half, threads)

    def product(
        self,
        weights: Weights,
        x: int,
        rows: int,
        norm: int | None,
        epsilon: float,
        to: int,
        scratch: int | None,
        threads: int,
    ) -> None:
        """Multiply rows [n, in] at `x`, after an RMS norm if `norm` is given, into [n, out]."""
        self._library.draftscope_product(
            byref(weights), x, rows, norm, epsilon, to, scratch, threads
        )

    def largest(
        self, x: int, rows: int, width: int, values: int, places: int, threads: int
    ) -> None:
        """Find the largest value of each row at `x` and its first place."""
        self._library.draftscope_largest(x, rows, width, values, places, threads)

    def look(
        self,
        logits: int,
        law: int,
        given: bool,
        rows: int,
        width: int,
        count: int,
        places: int,
        entropies: int,
        threads: int,
    ) -> None:
        """Write each row's softmax, unless the law is given, the top of it, and its entropy."""
        self._library.draftscope_look(
            *(logits, law, given, rows, width, count, places, entropies, threads)
        )

    def describe(
        self,
        law: int,
        rows: int,
        width: int,
        count: int,
        places: int,
        entropies: int,
        threads: int,
    ) -> None:
        """Write the top of each row of a law, and its entropy."""
        self._library.draftscope_describe(law, rows, width, count, places, entropies, threads)

    def laws(
        self,
        scores: int,
        rows: int,
        width: int,
        temperature: float,
        laws: int,
        threads: int,
    ) -> list[float]:
        """Write each row's softmax at a temperature; return the largest value of each."""
        peaks = (c_float * rows)()
        self._library.draftscope_laws(scores, rows, width, temperature, laws, peaks, threads)
        return list(peaks)

    def draw(self, law: int, width: int, uniform: float) -> tuple[int, float]:
        """Draw from a law by a uniform in [0, 1); return the place and all the law's mass."""
        total = c_double()
        place = self._library.draftscope_draw(law, width, uniform, byref(total))
        return int(place), total.value

    def residual(self, p_target: int, q_draft: int | None, place: int, width: int, to: int) -> None:
        """Write what is left of a law where a token at `place` of another law was rejected."""
        self._library.draftscope_residual(p_target, q_draft, place, width, to)
