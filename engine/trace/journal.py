"""A run written down as it happens, so that a crash loses one round at most.

Knows where journals lie and which ones were left behind; does not know what an event means. A
journal in the journals folder has a lock file beside it while it is written: one that lies there
unlocked belongs to a run that crashed.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from platformdirs import user_data_path

from engine.errors import DraftscopeError
from engine.trace import codec
from engine.trace.appending import append_line
from engine.trace.files import FileLock, copy_atomically
from engine.trace.packed import SUFFIX, packed, plain_file

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from engine.trace.events import Event, RunStarted

KEPT_JOURNALS = 50
_BLOCK = 1 << 16


class Journal:
    """An append-only trace file: each event is handed to the operating system at once.

    Not to be written from two threads; `save_copy` may run in any thread meanwhile.

    Parameters
    ----------
    path
        The file to create.
    replace
        Whether a file of that name may be replaced; whoever has it open keeps what it held.
    lock
        A lock that is already held, let go of by `close`.

    Raises
    ------
    DraftscopeError
        If the file cannot be created or, later, written.
    """

    def __init__(self, path: Path, *, replace: bool = False, lock: FileLock | None = None) -> None:
        self.path = Path(path)
        self._lock = lock
        self._failed: OSError | None = None
        try:
            mode = _make_way(self.path) if replace else None
            if replace:
                self.path.write_bytes(b"")
            # Appending only, so that a marker which another writer adds is not written over.
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
            handle = os.open(self.path, flags | (0 if replace else os.O_EXCL), 0o666)
            self._file: BinaryIO = os.fdopen(handle, "ab", buffering=0)
            if mode is not None:
                with contextlib.suppress(OSError):  # not every file system has rights
                    self.path.chmod(mode)
        except OSError as fault:
            raise _cannot_write(self.path, fault) from fault

    def write(self, event: Event) -> None:
        """Append one event; after a failure the file ends with the event before it, for good."""
        line = codec.encode(event)
        if self._failed is not None:
            raise _cannot_write(self.path, self._failed)
        try:
            append_line(self._file, line)
        except OSError as fault:
            self._failed = fault
            raise _cannot_write(self.path, fault) from fault

    def close(self) -> None:
        """End the journal: the run is over and was not lost."""
        self._file.close()
        if self._lock is not None:
            self._lock.release(remove=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def journals_folder() -> Path:
    """Return the folder of journals: of `DRAFTSCOPE_DATA`, else of the user's own data folder."""
    override = os.environ.get("DRAFTSCOPE_DATA")
    data = Path(override) if override else user_data_path("draftscope", appauthor=False)
    return data / "journals"


def start_journal(started: RunStarted, folder: Path | None = None) -> Journal:
    """Create the journal of a run in the journals folder and write its first event.

    Of the finished journals there, the newest `KEPT_JOURNALS` are kept.
    """
    folder = folder or journals_folder()
    stamp = re.sub(r"[^0-9T]", "", started.started_at)[:15]
    path = folder / f"{stamp}-{re.sub(r'[^0-9A-Za-z]', '', started.run)}.jsonl"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _prune(folder)
        lock = FileLock(_lock_path(path))
        if not lock.take():
            raise DraftscopeError(f"{path} is being written by another Draftscope: run again.")
    except OSError as fault:
        raise _cannot_write(path, fault) from fault
    try:
        journal = Journal(path, lock=lock)
    except DraftscopeError:
        lock.release(remove=True)
        raise
    journal.write(started)
    return journal


def unfinished_journals(folder: Path | None = None) -> list[Path]:
    """Return the journals of crashed runs, newest first: left behind and written by no process.

    Offer them, then call `settle` for each, whatever the user chose.
    """
    found: list[Path] = []
    for lock_path in (folder or journals_folder()).glob("*.jsonl.lock"):
        journal, lock = lock_path.with_suffix(""), FileLock(lock_path)
        with contextlib.suppress(OSError):
            # A run that begins just now has its lock before its journal: leave both alone.
            if journal.is_file() and whole_length(journal) > 0 and lock.take():
                lock.release(remove=False)
                found.append(journal)
    return sorted(found, key=lambda path: path.name, reverse=True)


def settle(path: Path) -> None:
    """Stop offering a crashed run's journal; the journal itself stays."""
    with contextlib.suppress(OSError):
        lock = FileLock(_lock_path(path))
        if lock.take():
            lock.release(remove=True)


def save_copy(path: Path, target: Path) -> None:
    """Save what a trace file holds in whole events as `target`, also while it is being written.

    A target whose name ends in ".zst" is packed, any other is plain, whatever `path` is.

    Raises
    ------
    DraftscopeError
        If it cannot be written; `target` is then as it was.
    """
    path, target = Path(path), Path(target)
    plain = plain_file(path)
    try:
        length = whole_length(plain)
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise DraftscopeError(f"{path} cannot be read ({reason}): run again to save it.") from fault
    if length == 0:
        raise DraftscopeError(f"{path.name} holds no whole event yet: save it a moment later.")
    through = packed if target.name.lower().endswith(SUFFIX) else None
    try:
        if not (target.exists() and path.samefile(target)):
            copy_atomically(plain, target, length, through)
    except OSError as fault:
        raise _cannot_write(target, fault) from fault


def whole_length(path: Path) -> int:
    """Return the bytes up to the end of the last whole event, with or without a line break.

    Raises
    ------
    OSError
        If the file, which is not packed, cannot be read.
    """
    with path.open("rb") as file:
        size = end = file.seek(0, os.SEEK_END)
        whole = 0
        while end > 0 and whole == 0:
            start = max(0, end - _BLOCK)
            file.seek(start)
            at = file.read(end - start).rfind(b"\n")
            whole, end = (start + at + 1 if at >= 0 else 0), start
        file.seek(whole)
        rest = file.read(size - whole)
    try:
        codec.decode(rest)
    except codec.UnknownKindError:
        return size
    except codec.LineError:
        return whole
    return size


def _prune(folder: Path) -> None:
    """Remove the oldest finished journals; unfinished ones have a lock file and stay."""
    finished = sorted(
        (path for path in folder.glob("*.jsonl") if not _lock_path(path).exists()),
        key=lambda path: path.name,
    )
    for path in finished[: max(0, len(finished) - KEPT_JOURNALS + 1)]:
        with contextlib.suppress(OSError):
            path.unlink()


def _make_way(path: Path) -> int | None:
    """Take a file's name away from it; return the rights it had, or None if nothing was done.

    What is no plain file itself (a device, a pipe, a link) stays, and so does a file in a folder
    that lets none be removed: these are written into.

    Raises
    ------
    OSError
        If the file must not be written.
    """
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        return None
    with path.open("r+b"):
        pass  # who must not write into it must not replace it
    try:
        path.unlink()
    except OSError:
        return None
    return stat.S_IMODE(mode)


def _lock_path(path: Path) -> Path:
    return path.with_name(path.name + ".lock")


def _cannot_write(path: Path, fault: OSError) -> DraftscopeError:
    reason = fault.strerror or str(fault)
    return DraftscopeError(f"{path} cannot be written ({reason}): free space or choose another.")
