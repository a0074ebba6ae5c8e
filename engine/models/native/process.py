"""A program run to its end, unless it is cancelled. Knows no compiler and no library."""

from __future__ import annotations

import subprocess
import tempfile
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

_POLL_S = 0.05


class BuildCancelled(Exception):  # a wish that was granted, not an error
    """`cancelled()` became true while the library was being built; nothing is left of it."""


@dataclass(frozen=True)
class Ended:
    """How a program ended."""

    code: int  # its exit code; negative: the signal that ended it
    output: bytes
    complaint: str  # what it wrote to standard error


def run(command: Sequence[str], cancelled: Callable[[], bool], folder: Path | None = None) -> Ended:
    """Run a program and wait for its end.

    Raises
    ------
    BuildCancelled
        If `cancelled()` became true; the program is ended first.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as complaint:
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=complaint
        )
        try:
            while process.poll() is None:
                if cancelled():
                    raise BuildCancelled
                time.sleep(_POLL_S)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        output.seek(0)
        complaint.seek(0)
        said = complaint.read().decode(errors="replace")
        return Ended(process.returncode, output.read(), said)
