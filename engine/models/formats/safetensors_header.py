"""The header of a safetensors file, checked against the file's real size. Knows no torch.

The format: eight bytes of length, a JSON object, then the tensors' bytes without gap or overlap
to the end of the file. Whatever departs from that is refused.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.errors import DraftscopeError, short
from engine.models.formats.files import START, file_size, refuse_stand_in, unreadable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

HEADER_LIMIT = 100_000_000  # bytes; the limit of the safetensors package itself
MOST_DIMENSIONS = 8
METADATA = "__metadata__"
TYPE_BYTES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}


@dataclass(frozen=True)
class StoredTensor:
    """One entry of the header. Offsets are from the start of the file, in bytes."""

    shape: tuple[int, ...]
    kind: str  # a key of the types that were asked for
    start: int
    end: int


@dataclass(frozen=True)
class Header:
    """A checked header: the tensors, and what the file says of itself."""

    tensors: dict[str, StoredTensor]
    metadata: dict[str, str]  # of "__metadata__"; empty where there is none, or one of no texts


def read_safetensors_header(
    path: Path, types: Mapping[str, int] = TYPE_BYTES
) -> dict[str, StoredTensor]:
    """Read and check a header, and return its tensors; see `read_header`."""
    return read_header(path, types).tensors


def read_header(path: Path, types: Mapping[str, int] = TYPE_BYTES) -> Header:
    """Read and check a header; no tensor is read.

    Parameters
    ----------
    types
        The types of numbers that are accepted, with the bytes of one number.

    Raises
    ------
    DraftscopeError
        One sentence each for: not a file, web page, Git LFS pointer, zeros, header too large,
        truncated or longer than its header says (with both sizes), damaged, a type of number that
        is not supported.
    """
    size = file_size(path)
    try:
        with path.open("rb") as file:
            start = file.read(START)
            length = int.from_bytes(start[:8], "little")
            if size < 8 or not 2 <= length <= HEADER_LIMIT or start[8:9] not in (b"{", b""):
                refuse_stand_in(path, start)
                raise DraftscopeError(
                    f"{path.name} is not a safetensors file: its header would be of {length} "
                    f"bytes, and the limit is {HEADER_LIMIT}. Download it again."
                    if length > HEADER_LIMIT
                    else f"{path.name} is not a safetensors file. Download it again."
                )
            if 8 + length > size:
                raise _truncated(path, 8 + length, size)
            file.seek(8)
            content = file.read(length)
    except OSError as error:
        raise unreadable(path, error) from error
    return _entries(path, content, size, types)


def _entries(path: Path, content: bytes, size: int, types: Mapping[str, int]) -> Header:
    try:
        pairs = json.loads(content, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError):
        pairs = None
    if not isinstance(pairs, _Pairs):
        raise _damaged(path, "a header that is not JSON")
    base = 8 + len(content)
    entries: dict[str, StoredTensor] = {}
    metadata: dict[str, str] = {}
    for name, entry in pairs:
        if name == METADATA:
            metadata = _texts(entry)
            continue
        if name in entries:
            raise _damaged(path, f"the tensor {short(name)} twice")
        entries[name] = _entry(path, short(name), entry, base, types)
    _check_spans(path, entries, base, size)
    return Header(entries, metadata)


def _texts(entry: Any) -> dict[str, str]:
    """Return what a file says of itself, where that is texts; whoever needs it says what lacks."""
    if not isinstance(entry, _Pairs) or not all(isinstance(text, str) for _, text in entry):
        return {}
    return dict(entry)


class _Pairs(list[tuple[str, Any]]):
    """A JSON object as it is written: a name that stands twice in it is not lost."""


def _entry(path: Path, name: str, entry: Any, base: int, types: Mapping[str, int]) -> StoredTensor:
    if not isinstance(entry, _Pairs) or len(entry) != 3:
        raise _damaged(path, f"no full entry for the tensor {name}")
    fields = dict(entry)
    kind, shape, offsets = (fields.get(key) for key in ("dtype", "shape", "data_offsets"))
    if not (isinstance(kind, str) and isinstance(shape, list) and isinstance(offsets, list)):
        raise _damaged(path, f"no full entry for the tensor {name}")
    if kind not in types:
        raise DraftscopeError(
            f"{path.name}: the tensor {name} is stored as {short(kind)}, which is not supported. "
            f"Supported are {', '.join(types)}."
        )
    numbers = [*shape, *offsets]
    whole = all(type(number) is int and 0 <= number < 1 << 64 for number in numbers)
    if len(offsets) != 2 or len(shape) > MOST_DIMENSIONS or not whole:
        raise _damaged(path, f"no full entry for the tensor {name}")
    start, end = offsets
    if end - start != math.prod(shape) * types[kind]:
        raise _damaged(path, f"offsets that do not fit the tensor {name}")
    return StoredTensor(tuple(shape), kind, base + start, base + end)


def _check_spans(path: Path, entries: Mapping[str, StoredTensor], base: int, size: int) -> None:
    """Refuse gaps, overlaps and a file that ends elsewhere than its last tensor."""
    end = max((entry.end for entry in entries.values()), default=base)
    if end > size:
        raise _truncated(path, end, size)
    at = base
    for name, entry in sorted(entries.items(), key=lambda item: (item[1].start, item[1].end)):
        if entry.start != at:
            what = "a gap before" if entry.start > at else "bytes of another tensor in"
            raise _damaged(path, f"{what} the tensor {short(name)}")
        at = entry.end
    if at != size:
        raise DraftscopeError(
            f"{path.name} is longer than its header says: it has {size} bytes, but its tensors "
            f"end at {at}. Download it again."
        )


def _damaged(path: Path, what: str) -> DraftscopeError:
    return DraftscopeError(f"{path.name} is damaged: it has {what}. Download it again.")


def _truncated(path: Path, wanted: int, real: int) -> DraftscopeError:
    return DraftscopeError(
        f"{path.name} is truncated: it has {real} bytes, but its header asks for {wanted}. "
        "Download it again."
    )
