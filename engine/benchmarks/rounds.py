"""Whole runs of a session, timed from outside: how long a consumer waits for each round.

Knows sessions and clocks; no figure.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec

from engine.benchmarks.measuring import Name, Progress, in_turn, silent
from engine.errors import DraftscopeError
from engine.session import raise_failure
from engine.trace.events import Round

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.request import RunRequest
    from engine.session import Session

PROMPT = "Repeat this list twice: apples, pears, plums, cherries, apricots, peaches."


class Timed(msgspec.Struct, frozen=True, kw_only=True):
    """A round and how long its consumer waited for it."""

    record: Round
    wall_ns: int

    @property
    def between_ns(self) -> int:
        """What no phase counts: records made, texts joined, settings looked at, all in Python."""
        return self.wall_ns - self.record.times.round - self.record.times.observe


def timed_rounds(session: Session, request: RunRequest) -> list[Timed]:
    """Decode a request and time each round as its consumer does."""
    return in_lockstep([(session, request)])[0]


def in_lockstep(runs: Sequence[tuple[Session, RunRequest]]) -> list[list[Timed]]:
    """Decode several requests at once, an event of each in turn, and time each round.

    So what is compared lies a round apart and not a run. Each needs a session of its own: a drafter
    follows one text at a time.
    """
    found: list[list[Timed]] = [[] for _ in runs]
    going = {index: session.run(request) for index, (session, request) in enumerate(runs)}
    turn = 0
    while going:
        for index in in_turn(tuple(going), turn):
            begin = time.perf_counter_ns()
            event = next(going[index], None)
            wall = time.perf_counter_ns() - begin
            raise_failure(event)
            if event is None:
                del going[index]
            elif isinstance(event, Round):
                found[index].append(Timed(record=event, wall_ns=wall))
        turn += 1
    return found


def run_in_turn(
    session: Session, requests: Mapping[Name, RunRequest], repeats: int, progress: Progress = silent
) -> dict[Name, list[list[Timed]]]:
    """Decode each request once a repeat, in turn; a repeat before all others warms up.

    Returns
    -------
    dict
        For each name a list of runs, in the order of the repeats, without each run's first round:
        that one waits for what a drafter makes of the prompt.

    Raises
    ------
    DraftscopeError
        If a run has no second round.
    """
    names = tuple(requests)
    runs: dict[Name, list[list[Timed]]] = {name: [] for name in names}
    done = 0
    for repeat in range(-1, repeats):
        for name in in_turn(names, repeat):
            progress(done, (repeats + 1) * len(names), "Decoding")
            found = timed_rounds(session, requests[name])
            check_enough(found, str(name))
            if repeat >= 0:
                runs[name].append(found[1:])
            done += 1
    return runs


class TooFewRounds(DraftscopeError):
    """A run that ended before there was anything to compare."""


def check_enough(rounds: Sequence[Timed], drafter: str) -> None:
    """Raise TooFewRounds for a run without a second round: there is nothing to compare."""
    if len(rounds) < 2:
        raise TooFewRounds(
            f"There are too few rounds to compare with the drafter {drafter}: raise "
            "--max-new-tokens."
        )
