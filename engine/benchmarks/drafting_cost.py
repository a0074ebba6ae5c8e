"""What a drafted token costs beside a pass of the target: c, measured and kept in a drafter's file.

Knows sessions and rounds; prints nothing.
"""

from __future__ import annotations

import os
from itertools import chain
from statistics import median
from typing import TYPE_CHECKING

import msgspec

from engine.benchmarks.measuring import Progress, silent
from engine.benchmarks.rounds import PROMPT, TooFewRounds, run_in_turn
from engine.check.pair import load_drafters
from engine.drafters.file import read_drafter, write_drafter
from engine.drafters.registry import find_drafter
from engine.errors import DraftscopeError
from engine.request import RunRequest
from engine.trace.events import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from engine.session import Session

K = 4
TOKENS = 96  # of each text
REPEATS = 3


def measure_cost(session: Session, drafter: str, *, progress: Progress = silent) -> float:
    """Return c of one drafter: median time per drafted token over that of a one-token pass.

    A plain round is such a pass. Both decode one text greedily, in turn.

    Raises
    ------
    DraftscopeError
        If it is not there or does not fit, or if the text ends before anything is drafted.
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
    try:
        runs = run_in_turn(session, requests, REPEATS, progress)
    except TooFewRounds:
        runs = {}
    plain, drafted = (
        [one.record for one in chain.from_iterable(runs.get(spec, ()))] for spec in requests
    )
    costs = [one.times.draft / len(one.drafted) for one in drafted if one.drafted]
    if not costs:
        raise DraftscopeError(
            f"What a token drafted by {name} costs cannot be measured: this target's text ends "
            "before anything is drafted."
        )
    return median(costs) / median(one.times.round for one in plain)


def check_kept(drafter: str) -> None:
    """Refuse a drafter whose file is not there or cannot be written, before it is measured."""
    path = find_drafter(drafter)
    if not os.access(path.parent, os.W_OK):
        raise DraftscopeError(
            f"{path.name} lies where nothing can be written, so its cost cannot be kept; copy it "
            "to a folder of your own and name it as trained:FILE."
        )


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
