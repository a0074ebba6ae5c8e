"""Paying once for the compiled plan: build the library, try it in a process of its own, keep it.

A library that computed wrong numbers, or ended its process, is never loaded into this one. Knows no
window; whoever shows progress passes a callback.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from engine.errors import DraftscopeError, short
from engine.models.native import build
from engine.models.native.build import Record
from engine.models.native.process import run

if TYPE_CHECKING:
    from collections.abc import Callable

    Progress = Callable[[int, int, str], None]

LARGEST_DIFFERENCE = 1e-2  # of logits of size 1 to 10; another order of sums makes about 1e-5
_STEPS = 3


def warm_up(
    progress: Progress | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Record:
    """Build, try and keep this machine's library; return how it did.

    Parameters
    ----------
    progress
        Called with (steps done, steps in all, what is being done).
    cancelled
        Polled twenty times a second.

    Raises
    ------
    DraftscopeError
        If this machine cannot build it, or it failed its trial; in one sentence.
    BuildCancelled
        If `cancelled()` became true; nothing is left.
    """
    report = progress or (lambda *_: None)
    begin = time.perf_counter()
    report(0, _STEPS, "Compiling for this processor")
    built = build.build(cancelled)
    try:
        report(1, _STEPS, "Trying it beside the packed plan")
        record = _try(built, cancelled)
        record = msgspec.structs.replace(
            record,
            compiler=Path(build.compiler() or "").name,
            seconds=round(time.perf_counter() - begin, 1),
        )
        report(2, _STEPS, "Keeping it")
        build.install(built, record)
    finally:
        built.unlink(missing_ok=True)
    report(_STEPS, _STEPS, "Done")
    return record


def _try(built: Path, cancelled: Callable[[], bool]) -> Record:
    command = [sys.executable, "-m", "engine.models.native.trial", str(built)]
    failed = "The compiled plan failed its trial on this machine, so Draftscope stays on packed"
    try:
        ended = run(command, cancelled, folder=Path(__file__).parents[3])
        record = msgspec.json.decode(ended.output, type=Record)
    except OSError as error:
        raise DraftscopeError(f"{failed} ({short(str(error))}).") from error
    except msgspec.DecodeError:  # nothing, or null: what it computes is no number
        lines = ended.complaint.splitlines()
        reason = f"exit code {ended.code}" if ended.code else "it computes what is no number"
        raise DraftscopeError(f"{failed} ({short(lines[-1] if lines else reason)}).") from None
    if not record.difference <= LARGEST_DIFFERENCE:
        raise DraftscopeError(
            f"{failed}: its logits differ by {record.difference:.2g} from the packed plan's."
        )
    return record
