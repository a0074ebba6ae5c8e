"""Building the library for this machine's processor, once, and finding it again.

Knows a C++ compiler, the sources beside this file and a folder; no torch, no model. A built library
counts only after it was tried (`engine.models.native.trial`): its record says how it did.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from engine.errors import DraftscopeError, short
from engine.models.native.process import run
from engine.models.registry import data_folder

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCES = (
    *("pass.cpp", "layers.h", "ends.h", "laws.h", "many.h"),
    *("attention.h", "product.h", "team.h", "rows.h", "lanes.h"),
)
FLAGS = ("-O3", "-march=native", "-std=c++17", "-fPIC", "-shared", "-fopenmp", "-w")
COMPILERS = ("g++", "clang++", "c++")
_STALE_S = 3600.0
_NEEDED = {"avx2", "fma", "f16c"}
WORTH = 0.9  # of the packed plan's time, or less: then the compiled plan is the default


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """How a built library did when it was tried."""

    over_packed: float  # time of a one-token pass over the packed plan's
    difference: float  # largest, of logits, to the packed plan's
    compiler: str = ""
    seconds: float = 0.0  # that building and trying took

    @property
    def worth_it(self) -> bool:
        """Whether it is at least a tenth faster than packed."""
        return self.over_packed <= WORTH


def hindrance() -> str | None:
    """Return why this machine cannot build the library, in a sentence; None if it can."""
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "AMD64"):
        return "The compiled plan on a CPU needs Linux on x86; Draftscope stays on the packed plan."
    missing = _NEEDED - set(_processor().split())
    if missing:
        return (
            f"This processor lacks {', '.join(sorted(missing))}, which the compiled plan needs; "
            "Draftscope stays on the packed plan."
        )
    if compiler() is None:
        return (
            "There is no C++ compiler (g++ or clang++), so Draftscope stays on the packed plan; "
            "install one for the faster compiled plan."
        )
    return None


def compiler() -> str | None:
    """Return the path of a C++ compiler: the one that CXX names, or the first of the usual ones."""
    named = os.environ.get("CXX")
    return next(
        (path for name in (named, *COMPILERS) if name and (path := shutil.which(name))), None
    )


def library_path() -> Path:
    """Return where this machine's library lies or would lie: sources and processor name it."""
    return data_folder().absolute() / "kernels" / f"pass-{_key()}.so"


def record_path() -> Path:
    """Return where the record of a tried library lies."""
    return library_path().with_suffix(".json")


def tried() -> Record | None:
    """Return the record of this machine's library if it is built and was tried."""
    try:
        if not library_path().is_file():
            return None
        return msgspec.json.decode(record_path().read_bytes(), type=Record)
    except (OSError, msgspec.DecodeError):
        return None


def build(cancelled: Callable[[], bool] = lambda: False) -> Path:
    """Compile the library into a file of its own beside its place; `install` puts it there.

    Raises
    ------
    DraftscopeError
        If this machine cannot build it, or the compiler fails; in one sentence.
    BuildCancelled
        If `cancelled()` became true.
    """
    reason, found = hindrance(), compiler()
    if reason is not None or found is None:
        raise DraftscopeError(reason or "There is no C++ compiler.")
    folder = library_path().parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _sweep(folder)
        handle, name = tempfile.mkstemp(dir=folder, suffix=".building")
        os.close(handle)
    except OSError as error:
        raise _not_kept(error) from error
    path = Path(name)
    try:
        _compile(found, path, cancelled)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path


def install(built: Path, record: Record) -> None:
    """Put a tried library and its record in their places.

    Raises
    ------
    DraftscopeError
        If they cannot be written there.
    """
    place = built.with_suffix(".writing")  # of this build alone: another may be under way
    try:
        place.write_bytes(msgspec.json.encode(record))
        built.replace(library_path())
        place.replace(record_path())
    except OSError as error:
        raise _not_kept(error) from error
    finally:
        place.unlink(missing_ok=True)


def _not_kept(error: OSError) -> DraftscopeError:
    return DraftscopeError(
        f"The compiled plan cannot be kept in {library_path().parent} ({error.strerror}); free "
        "space there or set DRAFTSCOPE_DATA to another folder."
    )


def _sweep(folder: Path) -> None:
    """Remove what builds that were killed have left."""
    for left in (*folder.glob("*.building"), *folder.glob("*.writing")):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > _STALE_S:
                left.unlink()


def _compile(found: str, path: Path, cancelled: Callable[[], bool]) -> None:
    source = Path(__file__).with_name(SOURCES[0])
    try:
        ended = run([found, *FLAGS, str(source), "-o", str(path)], cancelled)
        lines = ended.complaint.splitlines()
        error = next((line for line in lines if "error" in line), "it gave no reason")
    except OSError as fault:  # it is gone, or it is no program; a TimeoutError is one too
        ended, error = None, str(fault)
    if ended is None or ended.code:
        raise DraftscopeError(
            f"{Path(found).name} could not build the compiled plan ({short(error)}); "
            "Draftscope stays on the packed plan."
        )


def _key() -> str:
    parts = [*FLAGS, _processor(), *platform.libc_ver()]  # a home may be shared by machines
    parts += [Path(__file__).with_name(name).read_text() for name in SOURCES]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _processor() -> str:
    """Return what Linux says of the first processor's model and instructions."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return ""
    lines = text.split("\n\n")[0].splitlines()
    kept = [line for line in lines if line.startswith(("model name", "flags"))]
    return " ".join(line.partition(":")[2].strip() for line in kept)
