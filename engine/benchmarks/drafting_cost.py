"""What a drafted token costs beside a pass of the target: c, measured and kept in a drafter's file.

Knows sessions and rounds; prints nothing.
"""

from __future__ import annotations

from itertools import chain
from statistics import median
from typing import TYPE_CHECKING

import msgspec

from engine.benchmarks.measuring import Progress, silent
from engine.benchmarks.rounds import PROMPT, run_in_turn
from engine.check.pair import load_drafters
from engine.drafters.file import read_drafter, write_drafter
from engine.drafters.registry import find_drafter
from engine.request import RunRequest
from engine.trace.events import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from engine.session import Session

K = 4
TOKENS = 96  # of each text
REPEATS = 3


def measure_cost(session: Session, drafter: str, *, progress: Progress = silent) -> float:
    """Return c of one drafter: median time per drafted token over that of a plain round.

    Both decode one text greedily, in turn and interleaved.

    Raises
    ------
    DraftscopeError
        If it is not there or does not fit.
    """
    (name,) = load_drafters(session, [drafter], progress=progress)
    requests = {
        spec: RunRequest(
            prompt=PROMPT,
            settings=Settings(drafter=spec, k=k, temperature=0.0),
            max_new_tokens=TOKENS,
            probes=False,
        )
        for spec, k in (("none", 0), (name, K))
    }
    runs = run_in_turn(session, requests, REPEATS, progress)
    plain, drafted = ([one.record for one in chain.from_iterable(runs[spec])] for spec in requests)
    token = median(one.times.draft / len(one.drafted) for one in drafted if one.drafted)
    return token / median(one.times.round for one in plain)


def keep_cost(drafter: str, c: float) -> Path:
    """Note c in a trained drafter's file, and return the file.

    Raises
    ------
    DraftscopeError
        If there is no such file, or it cannot be written; it stays as it was then.
    """
    file = read_drafter(find_drafter(drafter))
    replace = msgspec.structs.replace
    held_out = replace(file.metadata.held_out, c=c)
    write_drafter(file.header.path, replace(file.metadata, held_out=held_out), file.tensors)
    return file.header.path
