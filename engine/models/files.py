"""Small files of a model folder, read with errors that a user can act on. Knows no torch."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from pathlib import Path

LFS_POINTER = b"version https://git-lfs"
PICKLES = frozenset({".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle"})


def head(path: Path, size: int = 64) -> bytes:
    """Return the first bytes of a file; a fault of the disk becomes a sentence."""
    try:
        with path.open("rb") as file:
            return file.read(size)
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: OSError) -> DraftscopeError:
    """Say that the system would not give the file."""
    reason = error.strerror or type(error).__name__
    return DraftscopeError(f"{path.name} cannot be read: {reason}. Check the file and its rights.")


def lfs_pointer(path: Path) -> DraftscopeError:
    """Say that a Git LFS pointer lies where the content should."""
    return DraftscopeError(
        f"{path.name} is a Git LFS pointer: its content was not downloaded. "
        "Run `git lfs pull` in its folder, or download the file itself."
    )


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object.

    Raises
    ------
    DraftscopeError
        If the file cannot be read, is a Git LFS pointer, is not JSON, or is not an object.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error
    if content.startswith(LFS_POINTER):
        raise lfs_pointer(path)
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise DraftscopeError(
            f"{path.name} is not valid JSON ({error}). Download it again."
        ) from error
    if not isinstance(value, dict):
        raise DraftscopeError(f"{path.name} holds no JSON object. Download it again.")
    return value


def read_json_if_there(path: Path) -> dict[str, Any]:
    """Read a JSON object, or give an empty one where there is no such file."""
    return read_json(path) if path.is_file() else {}
