"""Files of a model, read with errors that a user can act on: bounded, never a pipe, never a wait.

Knows what lies in the place of a model when a download went wrong. Knows no torch.
"""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import DraftscopeError, short

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

LFS_POINTER = b"version https://git-lfs"
PICKLES = frozenset({".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle"})
LARGEST_JSON = 200_000_000  # bytes; vocabularies of 250,000 tokens take 35 million
START = 64  # bytes that tell what a file is

_OTHERS = {
    b"GGUF": "a GGUF file: give it the ending .gguf",
    b"PK\x03\x04": "an archive, perhaps a pickle of PyTorch, which is never opened",
    b"\x1f\x8b": "a compressed archive: unpack it",
    b"lmgg": "a GGML file of the time before GGUF: get a newer one",
    b"tjgg": "a GGML file of the time before GGUF: get a newer one",
}


def valid_text(name: str) -> str:
    """Return a file's name as text: names on disk need not be, but what a trace holds must."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def folder_name(folder: Path) -> str:
    """Return what a model's folder is called: of a snapshot in a hub's cache, the model's name."""
    cache = folder.parent.parent.name
    if folder.parent.name == "snapshots" and cache.startswith("models--"):
        return valid_text(cache.rpartition("--")[2])
    return valid_text(folder.name)


def head(path: Path, size: int = START) -> bytes:
    """Return the first bytes of a file; a fault of the disk becomes a sentence."""
    return read_bytes(path, size)


def file_size(path: Path) -> int:
    """Return a file's size in bytes.

    Raises
    ------
    DraftscopeError
        If it is a folder, or a pipe or device, which would wait for ever; if it is not there.
    """
    try:
        found = path.stat()
    except OSError as error:
        raise unreadable(path, error) from error
    if stat.S_ISDIR(found.st_mode):
        raise DraftscopeError(f"{path.name} is a folder, not a file. Remove it.")
    if not stat.S_ISREG(found.st_mode):
        raise DraftscopeError(f"{path.name} is no ordinary file. Remove it.")
    return found.st_size


def read_bytes(path: Path, size: int = -1) -> bytes:
    """Return a file's content, or its first `size` bytes."""
    file_size(path)
    try:
        with path.open("rb") as file:
            return file.read(size)
    except OSError as error:
        raise unreadable(path, error) from error


def read_span(path: Path, start: int, size: int) -> NDArray[np.uint8]:
    """Return `size` bytes of a file from `start` on, in memory of their own.

    Raises
    ------
    DraftscopeError
        If the file ends earlier: its header was checked, so it has changed since then.
    """
    try:
        with path.open("rb") as file:
            raw = np.fromfile(file, dtype=np.uint8, count=size, offset=start)
    except OSError as error:
        raise unreadable(path, error) from error
    if len(raw) != size:
        raise DraftscopeError(f"{path.name} has changed while it was read. Open it again.")
    return raw


def unreadable(path: Path, error: OSError) -> DraftscopeError:
    """Say that the system would not give the file."""
    reason = error.strerror or type(error).__name__
    return DraftscopeError(
        f"{short(path.name)} cannot be read: {reason}. Check the file and its rights."
    )


def refuse_stand_in(path: Path, start: bytes) -> None:
    """Refuse what lies in the place of a model when a download went wrong, by what it is.

    Parameters
    ----------
    start
        The file's first bytes, which are known not to begin a model.
    """
    if start.startswith(LFS_POINTER):
        raise DraftscopeError(
            f"{path.name} is a Git LFS pointer: its weights were not downloaded. "
            "Run `git lfs pull` in its folder, or download the file itself."
        )
    if start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<":
        raise DraftscopeError(
            f"{path.name} is a web page, not a model: the download went to the wrong address. "
            "Download the file itself."
        )
    if start and not any(start):
        raise DraftscopeError(
            f"{path.name} begins with zeros only: its download never finished. Download it again."
        )
    for magic, what in _OTHERS.items():
        if start.startswith(magic):
            raise DraftscopeError(f"{path.name} is not what its name says, but {what}.")
    text = start.decode("utf-8", "ignore")
    if len(text) > 3 and all(character.isprintable() or character.isspace() for character in text):
        raise DraftscopeError(
            f"{path.name} holds text ({short(text, 40)!r}), not a model: the download went wrong. "
            "Download it again."
        )


def elsewhere(folder: Path) -> str | None:
    """Say what to open instead of a folder that is none of a model, if that lies within it."""
    try:
        names = sorted(entry.name for entry in folder.iterdir() if entry.name[0] != ".")
    except OSError:
        return None
    files = [name for name in names if name.lower().endswith(".gguf")]
    if files:
        return f"Open the GGUF file in it itself: {short(files[0])}."
    if "snapshots" in names:
        return "It is a download cache: open the folder that lies within its folder snapshots."
    return None


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object.

    Raises
    ------
    DraftscopeError
        If the file cannot be read, is a Git LFS pointer or a web page, is too large, is not JSON,
        or is not an object.
    """
    size = file_size(path)
    if size > LARGEST_JSON:
        raise DraftscopeError(
            f"{path.name} has {size} bytes; at most {LARGEST_JSON} are accepted. Download it again."
        )
    content = read_bytes(path)
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        if not content.lstrip().startswith((b"{", b"[")):
            refuse_stand_in(path, content[:START])
        reason = short(error.msg) if isinstance(error, json.JSONDecodeError) else "its content"
        raise DraftscopeError(
            f"{path.name} is not valid JSON ({reason}). Download it again."
        ) from error
    if not isinstance(value, dict):
        raise DraftscopeError(f"{path.name} holds no JSON object. Download it again.")
    return value


def read_json_if_there(path: Path) -> dict[str, Any]:
    """Read a JSON object, or give an empty one where there is no such file."""
    return read_json(path) if os.path.lexists(path) else {}


def read_text(path: Path) -> str:
    """Read a UTF-8 text of a size that a person could have written, with or without its mark."""
    if file_size(path) > LARGEST_JSON:
        raise DraftscopeError(f"{path.name} is too large for a text. Download it again.")
    content = read_bytes(path)
    if content.startswith(LFS_POINTER):
        refuse_stand_in(path, content[:START])
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DraftscopeError(f"{path.name} is not UTF-8 text. Download it again.") from error
