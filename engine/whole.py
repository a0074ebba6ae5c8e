"""Puts a whole file in its place, or leaves what was there. Knows no format; loads no torch."""

from __future__ import annotations

import contextlib
import os
import secrets
from typing import TYPE_CHECKING

from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextlib.contextmanager
def whole_file(path: Path, advice: str) -> Iterator[Path]:
    """Let a file be written beside `path`, then put it in its place in one move.

    Yields where to write it. `advice` ends the sentence about a file that cannot be written: what
    to do then.

    Raises
    ------
    DraftscopeError
        If the file cannot be written; what was at `path` is then as it was.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as fault:
        _remove(part)
        reason = fault.strerror or str(fault)
        raise DraftscopeError(f"{path.name} cannot be written ({reason}): {advice}.") from fault
    except BaseException:
        _remove(part)
        raise


def write_whole(path: Path, data: bytes, advice: str) -> None:
    """Write `data` as the whole of a file, as `whole_file` does."""
    with whole_file(path, advice) as part, part.open("xb") as file:
        file.write(data)


def remove_parts(path: Path, process: int) -> None:
    """Remove what a process that was killed left of the file that it was writing."""
    for part in path.parent.glob(f".{_literal(path.name)}.{process}-*.part"):
        _remove(part)


def _literal(name: str) -> str:
    """Return a name as a pattern that matches it alone."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


def _remove(part: Path) -> None:
    with contextlib.suppress(OSError):
        part.unlink(missing_ok=True)
