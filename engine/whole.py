"""Puts a whole file in its place, or leaves what was there. Knows no format; loads no torch."""

from __future__ import annotations

import contextlib
import os
import secrets
from typing import TYPE_CHECKING

from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from pathlib import Path


def write_whole(path: Path, data: bytes, advice: str) -> None:
    """Write `data` beside `path`, then put it in its place in one move.

    `advice` ends the sentence about a file that cannot be written: what to do then.

    Raises
    ------
    DraftscopeError
        If the file cannot be written; what was at `path` is then as it was.
    """
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as fault:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        reason = fault.strerror or str(fault)
        raise DraftscopeError(f"{path.name} cannot be written ({reason}): {advice}.") from fault
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise
