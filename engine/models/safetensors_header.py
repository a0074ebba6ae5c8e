"""The header of a safetensors file, checked against the file's real size. Knows no torch."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.errors import DraftscopeError
from engine.models.files import LFS_POINTER, lfs_pointer, unreadable

if TYPE_CHECKING:
    from pathlib import Path

HEADER_LIMIT = 100_000_000  # bytes; the limit of the safetensors package itself
TYPE_BYTES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}


@dataclass(frozen=True)
class StoredTensor:
    """One entry of the header. Offsets are from the start of the file, in bytes."""

    shape: tuple[int, ...]
    kind: str  # a key of TYPE_BYTES
    start: int
    end: int


def read_safetensors_header(path: Path) -> dict[str, StoredTensor]:
    """Read and check a header; no tensor is read.

    Raises
    ------
    DraftscopeError
        One sentence each for: not a file, Git LFS pointer, header too large, truncated (with both
        sizes), damaged, a type of number that is not supported.
    """
    if path.is_dir():
        raise DraftscopeError(f"{path.name} is a folder, not a safetensors file. Remove it.")
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            start = file.read(max(8, len(LFS_POINTER)))
            if start.startswith(LFS_POINTER):
                raise lfs_pointer(path)
            length = int.from_bytes(start[:8], "little")
            if size < 8 or length > HEADER_LIMIT:
                raise DraftscopeError(
                    f"{path.name} is not a safetensors file: its header would be of {length} "
                    f"bytes, and the limit is {HEADER_LIMIT}. Download it again."
                )
            if 8 + length > size:
                raise _truncated(path, 8 + length, size)
            file.seek(8)
            content = file.read(length)
    except OSError as error:
        raise unreadable(path, error) from error
    return _entries(path, content, size)


def _entries(path: Path, content: bytes, size: int) -> dict[str, StoredTensor]:
    try:
        listed = json.loads(content)
    except (ValueError, RecursionError):
        listed = None
    if not isinstance(listed, dict):
        raise _damaged(path, "a header that is not JSON")
    base = 8 + len(content)
    entries = {
        name: _entry(path, name, entry, base)
        for name, entry in listed.items()
        if name != "__metadata__"
    }
    wanted = max((entry.end for entry in entries.values()), default=base)
    if wanted > size:
        raise _truncated(path, wanted, size)
    return entries


def _entry(path: Path, name: str, entry: Any, base: int) -> StoredTensor:
    try:
        kind, shape = entry["dtype"], tuple(entry["shape"])
        start, end = entry["data_offsets"]
    except (TypeError, KeyError, ValueError):
        raise _damaged(path, f"no full entry for the tensor {name}") from None
    if kind not in TYPE_BYTES:
        raise DraftscopeError(
            f"{path.name}: the tensor {name} is stored as {kind}, which is not supported. "
            f"Supported are {', '.join(TYPE_BYTES)}."
        )
    whole = all(type(number) is int and number >= 0 for number in (*shape, start, end))
    if not whole or end - start != math.prod(shape) * TYPE_BYTES[kind]:
        raise _damaged(path, f"offsets that do not fit the tensor {name}")
    return StoredTensor(shape, kind, base + start, base + end)


def _damaged(path: Path, what: str) -> DraftscopeError:
    return DraftscopeError(f"{path.name} is damaged: it has {what}. Download it again.")


def _truncated(path: Path, wanted: int, real: int) -> DraftscopeError:
    return DraftscopeError(
        f"{path.name} is truncated: it has {real} bytes, but its header asks for {wanted}. "
        "Download it again."
    )
