"""A program run to its end, unless it is cancelled. Knows no compiler and no library."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

_POLL_S = 0.05
_GRACE_S = 0.5  # to remove files of its own


class BuildCancelled(Exception):  # a wish that was granted, not an error
    """`cancelled()` became true while the library was being built; nothing is left of it."""


@dataclass(frozen=True)
class Ended:
    """How a program ended."""

    code: int  # its exit code; negative: the signal that ended it
    output: bytes
    complaint: str  # what it wrote to standard error


def run(
    command: Sequence[str],
    cancelled: Callable[[], bool],
    folder: Path | None = None,
    limit_s: float = 300.0,
) -> Ended:
    """Run a program and wait for its end.

    Raises
    ------
    BuildCancelled
        If `cancelled()` became true; the program and all that it started are ended first.
    OSError
        If it cannot be started.
    TimeoutError
        If it took longer than `limit_s` seconds; it is ended likewise.
    """
    begin = time.monotonic()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as complaint:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=complaint,
            process_group=0,
        )
        try:
            while process.poll() is None:
                if cancelled():
                    raise BuildCancelled
                if time.monotonic() - begin > limit_s:
                    raise TimeoutError(f"it did not end within {limit_s:.0f} s")
                time.sleep(_POLL_S)
        finally:
            if process.poll() is None:
                _end(process)
        output.seek(0)
        complaint.seek(0)
        said = complaint.read().decode(errors="replace")
        return Ended(process.returncode, output.read(), said)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program with what it started: a compiler's driver would leave its compiler running."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):  # all of them have ended
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_S)
    process.wait()
