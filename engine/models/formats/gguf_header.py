"""The header of a GGUF file, checked against the file's real size before anything is trusted.

Knows the format (versions 2 and 3, little-endian) and no model: metadata as plain values, tensors
as spans of the file. Knows no torch.
"""

from __future__ import annotations

import math
import mmap
import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

from engine.errors import DraftscopeError, short
from engine.models.formats.files import head, refuse_stand_in, unreadable

if TYPE_CHECKING:
    from pathlib import Path

SUPPORTED_TYPES = tuple(
    GGMLQuantizationType[name]
    for name in (
        *("F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0"),
        *("Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"),
    )
)
# Types that the format once had; their numbers are not used again.
_FORMER = {
    **{4: "Q4_2", 5: "Q4_3", 31: "Q4_0_4_4", 32: "Q4_0_4_8", 33: "Q4_0_8_8"},
    **{36: "IQ4_NL_4_4", 37: "IQ4_NL_4_8", 38: "IQ4_NL_8_8"},
}
LONGEST_NAME = 65_535  # bytes; of a key or a tensor, as the format's own text has it
MOST_DIMENSIONS = 4
DEEPEST_ARRAY = 4
# Bounds far above any model's vocabulary: a damaged count must not become an allocation.
HEADER_LIMIT = 100_000_000  # bytes
MOST_ITEMS = 4_000_000  # values, entries of arrays and tensors together

_STRING, _ARRAY = 8, 9
_SCALARS = {
    **{0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?"},
    **{10: "Q", 11: "q", 12: "d"},
}
_SPLIT_NAME = re.compile(r"-(\d{5})-of-(\d{5})\.gguf$", re.IGNORECASE)


@dataclass(frozen=True)
class TensorSpan:
    """Where a tensor lies. `shape` is rows first, as in Hugging Face folders."""

    shape: tuple[int, ...]
    kind: GGMLQuantizationType
    offset: int  # bytes, from the start of the file
    size: int  # bytes


@dataclass(frozen=True)
class GgufHeader:
    """Everything before the tensors' own bytes."""

    metadata: dict[str, Any]
    tensors: dict[str, TensorSpan]


class _Cursor:
    """Reads values in order; a read past the end says that the file is truncated."""

    def __init__(self, content: mmap.mmap, name: str) -> None:
        self.content = content
        self.name = name
        self.at = 0
        self.items = 0

    def take(self, size: int) -> int:
        """Step over `size` bytes that must be there; return where they start."""
        start = self.at
        if size > len(self.content) - start:
            raise truncated(self.name, start + size, len(self.content))
        if start + size > HEADER_LIMIT:
            raise damaged(self.name, f"a header of more than {HEADER_LIMIT} bytes")
        self.at = start + size
        return start

    def expect(self, count: int, least: int) -> None:
        """Refuse a count of things that each take `least` bytes if it cannot be true."""
        if count > (len(self.content) - self.at) // least:
            raise truncated(self.name, self.at + count * least, len(self.content))
        self.items += count
        if self.items > MOST_ITEMS:
            raise damaged(self.name, f"more than {MOST_ITEMS} values in its header")

    def scalars(self, code: str, count: int = 1) -> tuple[Any, ...]:
        start = self.take(count * struct.calcsize(f"<{code}"))
        return struct.unpack_from(f"<{count}{code}", self.content, start)

    def integer(self, code: str) -> int:
        return int(self.scalars(code)[0])

    def text(self, longest: int | None = None) -> str:
        size = self.integer("Q")
        if longest is not None and size > longest:
            raise damaged(self.name, f"a name of {size} bytes")
        start = self.take(size)
        try:
            return self.content[start : self.at].decode("utf-8")
        except UnicodeDecodeError:
            raise damaged(self.name, "text that is not UTF-8") from None

    def value(self, kind: int, depth: int = 0) -> Any:
        if kind == _STRING:
            return self.text()
        if kind == _ARRAY:
            return self._array(depth)
        if kind not in _SCALARS:
            raise damaged(self.name, f"a value of unknown type {kind}")
        return self.scalars(_SCALARS[kind])[0]

    def _array(self, depth: int) -> list[Any]:
        kind, count = self.integer("I"), self.integer("Q")
        if depth >= DEEPEST_ARRAY:
            raise damaged(self.name, "arrays nested too deeply")
        if kind in _SCALARS:
            self.expect(count, struct.calcsize(f"<{_SCALARS[kind]}"))
            return list(self.scalars(_SCALARS[kind], count))
        self.expect(count, 8)  # the length of a text, or more
        return [self.value(kind, depth + 1) for _ in range(count)]


def read_header(path: Path) -> GgufHeader:
    """Read and check the header; no tensor is read.

    Raises
    ------
    DraftscopeError
        One sentence each for: not a GGUF file (web page, Git LFS pointer), big-endian, a version
        that is not supported, a part of a split model, truncated, damaged, a quantisation that is
        not supported.
    """
    _check_magic(path)
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
            return _read(_Cursor(view, path.name))
    except OSError as error:
        raise unreadable(path, error) from error


def _check_magic(path: Path) -> None:
    start = head(path)
    swapped = start[:4] == b"GGUF" and 0 < int.from_bytes(start[4:8], "big") < 256
    if start[:4] == b"FUGG" or swapped:
        raise DraftscopeError(
            f"{path.name} is a big-endian GGUF file, which is not supported. "
            "Get the little-endian file of the model."
        )
    if start[:4] != b"GGUF":
        refuse_stand_in(path, start)
        raise DraftscopeError(
            f"{path.name} is not a GGUF file: it does not start with GGUF. Download it again."
        )


def _read(cursor: _Cursor) -> GgufHeader:
    cursor.take(4)
    version = cursor.integer("I")
    if version not in (2, 3):
        raise DraftscopeError(
            f"{cursor.name} is of GGUF version {version}; versions 2 and 3 are supported. "
            "Get the model as a file of one of these."
        )
    tensor_count, value_count = cursor.integer("Q"), cursor.integer("Q")
    metadata: dict[str, Any] = {}
    cursor.expect(value_count, 13)  # a length, a type and a byte
    for _ in range(value_count):
        key = cursor.text(LONGEST_NAME)
        if key in metadata:
            raise damaged(cursor.name, f"the value {short(key)} twice")
        metadata[key] = cursor.value(cursor.integer("I"))
    _refuse_part(cursor.name, metadata)
    alignment = metadata.get("general.alignment", 32)
    if type(alignment) is not int or alignment < 1 or alignment & (alignment - 1):
        raise damaged(cursor.name, f"an alignment of {alignment!r:.40}")
    cursor.expect(tensor_count, 24)  # a length, dimensions, a type and an offset
    relative = [_read_tensor(cursor) for _ in range(tensor_count)]
    return GgufHeader(metadata, _placed(cursor, relative, alignment))


def _placed(
    cursor: _Cursor, relative: list[tuple[str, TensorSpan]], alignment: int
) -> dict[str, TensorSpan]:
    """Return the tensors at their places in the file: one after the other, each aligned."""
    base = -(-cursor.at // alignment) * alignment
    size, at = len(cursor.content), 0
    tensors: dict[str, TensorSpan] = {}
    for name, span in relative:
        shown = short(name)
        if name in tensors:
            raise damaged(cursor.name, f"the tensor {shown} twice")
        if span.offset % alignment:
            raise damaged(cursor.name, f"the tensor {shown} at an unaligned offset")
        if base + span.offset + span.size > size:
            raise truncated(cursor.name, base + span.offset + span.size, size, shown)
        if span.offset != at:
            what = "within the one before it" if span.offset < at else "after a gap"
            raise damaged(cursor.name, f"the tensor {shown} {what}")
        at = -(-(span.offset + span.size) // alignment) * alignment
        tensors[name] = TensorSpan(span.shape, span.kind, base + span.offset, span.size)
    return tensors


def _read_tensor(cursor: _Cursor) -> tuple[str, TensorSpan]:
    """Read one entry; its offset is still relative to the tensors' start."""
    name = cursor.text(LONGEST_NAME)
    shown = short(name)
    dimensions = cursor.integer("I")
    if dimensions > MOST_DIMENSIONS:
        raise damaged(cursor.name, f"the tensor {shown} with {dimensions} dimensions")
    shape = cursor.scalars("Q", dimensions)[::-1]
    number, offset = cursor.integer("I"), cursor.integer("Q")
    kind = _supported_type(cursor.name, shown, number)
    block, block_bytes = GGML_QUANT_SIZES[kind]
    if not all(shape) or (shape[-1] if shape else 1) % block:
        raise damaged(cursor.name, f"the tensor {shown} of shape {shape} in {kind.name}")
    return name, TensorSpan(shape, kind, offset, math.prod(shape) // block * block_bytes)


def _supported_type(file: str, tensor: str, number: int) -> GGMLQuantizationType:
    known = {kind.value: kind for kind in GGMLQuantizationType}
    kind = known.get(number)
    if kind not in SUPPORTED_TYPES:
        known_as = kind.name if kind is not None else _FORMER.get(number)
        named = f"{known_as} (type {number})" if known_as else f"type {number}"
        listed = ", ".join(kind.name for kind in SUPPORTED_TYPES)
        raise DraftscopeError(
            f"{file}: the tensor {tensor} is quantised as {named}, which is not supported. "
            f"Supported are {listed}."
        )
    return kind


def _refuse_part(file: str, metadata: dict[str, Any]) -> None:
    count = metadata.get("split.count", 0)
    named = _SPLIT_NAME.search(file)
    parts = int(named[2]) if named else count if type(count) is int else 0
    if parts > 1:
        raise DraftscopeError(
            f"{file} is one part of a model that is split into {parts} files, which is not "
            "supported. Join them into one file with llama-gguf-split --merge."
        )


def damaged(file: str, what: str) -> DraftscopeError:
    """Say that the file contradicts its format."""
    return DraftscopeError(f"{file} is damaged: it has {what}. Download it again.")


def truncated(file: str, wanted: int, real: int, tensor: str | None = None) -> DraftscopeError:
    """Say that the file ends too early, with both sizes."""
    where = f" for the tensor {tensor}" if tensor else ""
    return DraftscopeError(
        f"{file} is truncated: it has {real} bytes, but its header asks for at least {wanted}"
        f"{where}. Download it again."
    )
