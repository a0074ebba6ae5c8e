"""What exports take: each recorded session in every format, each in a process as users start it.

Knows the command and how a process is watched; knows no format. A long trace is exported as well,
to see what memory its rounds cost.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from app.assets import asset_path
from app.benchmarks.recorded import write_long_run
from app.export.formats import FORMATS, format_named
from engine.benchmarks.header import Header, header
from engine.benchmarks.measuring import silent
from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.benchmarks.measuring import Progress

_ROOT = Path(__file__).parents[2]
_LONG = "long.jsonl"
# The command as users start it, and at its end the most memory that it held at once. What the
# system counts of a process that has ended begins with what its parent held.
_WATCHED = """
import sys
from pathlib import Path
from app.cli.main import main
code = main(sys.argv[1:])
status = Path("/proc/self/status")
if status.exists():
    told = dict(line.split(":", 1) for line in status.read_text().splitlines())
    print(told["VmHWM"].split()[0])
sys.exit(code)
"""


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """One file that was made."""

    trace: str
    format: str
    seconds: float  # of the whole process, its start included
    size: int  # bytes
    peak: int | None  # bytes of memory, at most; None where the system does not tell
    said: str = ""  # instead of a file: why there is none


class Exports(msgspec.Struct, frozen=True, kw_only=True):
    """What `measure` found."""

    header: Header
    start_s: float  # of a process that only says its version: part of each of the times
    files: tuple[Exported, ...]
    long_rounds: int
    long_size: int  # bytes of the long trace
    long_files: tuple[Exported, ...]


def measure(
    *,
    trace: Sequence[Path] = (),
    format: Sequence[str] = (),  # noqa: A002  # the option's name
    rounds: int = 0,
    out: Path | None = None,
    progress: Progress = silent,
) -> Exports:
    """Export every trace in every format, then a long one.

    Parameters
    ----------
    trace
        Files; empty: the sessions that come with Draftscope.
    format
        Names; empty: all.
    rounds
        Of the long trace; 0: none.
    out
        A folder that keeps what is made; None: nothing is kept.

    Raises
    ------
    DraftscopeError
        If there is no trace, or no such format.
    """
    traces = list(trace) or sorted(asset_path("demos").glob("*.jsonl*"))
    names = [format_named(name).name for name in format] or [one.name for one in FORMATS]
    if not traces:
        raise DraftscopeError("There is no recorded session: name one with --trace.")
    told = header(
        "exports", settings={"traces": len(traces), "formats": len(names), "rounds": rounds}
    )
    total = len(names) * (len(traces) + bool(rounds))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        start_s = min(_start() for _ in range(3))
        files: list[Exported] = []
        for one in traces:
            for name in names:
                progress(len(files), total, f"{one.name} as {name}")
                files.append(_made(one, name, folder))
                _keep(folder, out)
        long = folder / "session" / _LONG
        long.parent.mkdir()
        long_size = write_long_run(long, rounds) if rounds else 0
        long_files: list[Exported] = []
        for name in names if rounds else ():
            progress(len(files) + len(long_files), total, f"{rounds:,} rounds as {name}")
            long_files.append(_made(long, name, folder))
            _keep(folder, None)
    return Exports(
        header=told,
        start_s=start_s,
        files=tuple(files),
        long_rounds=rounds,
        long_size=long_size,
        long_files=tuple(long_files),
    )


def _made(trace: Path, name: str, folder: Path) -> Exported:
    stem = trace.name.partition(".")[0]
    out = folder / f"{stem}{format_named(name).suffixes[0]}"
    begin = time.perf_counter()
    code, said, peak = _run(["export", str(trace), str(out)])
    seconds = time.perf_counter() - begin
    size = out.stat().st_size if out.exists() else 0
    why = "" if code == 0 else (said.splitlines() or ["It ended and said nothing."])[-1]
    return Exported(
        trace=trace.name, format=name, seconds=seconds, size=size, peak=peak,
        said=why.removeprefix("draftscope: "),
    )  # fmt: skip


def _start() -> float:
    begin = time.perf_counter()
    _run(["--version"])
    return time.perf_counter() - begin


def _run(arguments: list[str]) -> tuple[int, str, int | None]:
    """Run the command; return its code, what it said of faults, and its peak of memory."""
    done = subprocess.run(
        [sys.executable, "-c", _WATCHED, *arguments],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    last = (done.stdout.splitlines() or [""])[-1]
    return done.returncode, done.stderr, int(last) * 1024 if last.isdigit() else None


def _keep(folder: Path, out: Path | None) -> None:
    """Move what was made to where it is to stay, or remove it."""
    for path in filter(Path.is_file, folder.iterdir()):
        if out is None:
            path.unlink()
        else:
            shutil.move(path, out / path.name)
