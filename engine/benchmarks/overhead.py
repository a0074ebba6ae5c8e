"""`overhead`, the engine's half: what looking at the laws costs a run, by drafter.

The same run with observation and without, side by side and a round of each in turn: since
observation changes nothing, both emit the same tokens. Knows sessions; no window, which
`app.benchmarks` measures.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import msgspec

from engine.benchmarks.figures import Ratio, Spread, ratio, spread
from engine.benchmarks.header import Header, header, listed
from engine.benchmarks.measuring import Progress, in_turn, silent
from engine.benchmarks.rounds import PROMPT, Timed, check_enough, in_lockstep
from engine.check.pair import load_drafters
from engine.errors import DraftscopeError
from engine.loading import load_model
from engine.request import RunRequest
from engine.session import Session
from engine.trace.events import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

USUAL = ("none", "ngram", "head")
TOP_N = 8  # rows kept of each law, as a run does by default


class DrafterOverhead(msgspec.Struct, frozen=True, kw_only=True):
    """Runs of one drafter, with observation and without."""

    drafter: str
    k: int
    rounds: int  # of one run that were timed
    observed: Spread  # all rounds of a run, as their consumer waits for them
    unobserved: Spread
    ratio: Ratio  # observed / unobserved, by repeat
    observe: Spread  # a round's observation, by its own clock
    share: float  # observation over rounds, both summed, in [0, 1]
    identical: bool  # whether all runs emitted the same tokens


class Overhead(msgspec.Struct, frozen=True, kw_only=True):
    """The report."""

    header: Header
    drafters: tuple[DrafterOverhead, ...]


def measure(
    *,
    target: str,
    drafter: Sequence[str] | None = None,
    k: int = 4,
    temperature: float = 0.0,
    max_new_tokens: int = 48,
    repeats: int = 9,
    prompt: str | None = None,
    device: str | None = None,
    plan: str | None = None,
    progress: Progress = silent,
) -> Overhead:
    """Load what is named and measure it with each drafter.

    Parameters
    ----------
    drafter
        Names; None: the usual ones, without the head where it was made for another target.

    Raises
    ------
    DraftscopeError
        If something cannot be loaded, or a run has but one round.
    """
    loaded = load_model(target, device=device, plan=plan, progress=progress)
    sessions = (Session(loaded), Session(loaded))
    drafter, notes = _fitting(sessions[0]) if drafter is None else (drafter, ())
    for session in sessions:  # each with drafters of its own
        load_drafters(session, [one for one in drafter if one != "none"], progress=progress)
    about = header(
        "overhead",
        target=loaded,
        settings={
            "drafters": listed(drafter),
            "k": k,
            "temperature": temperature,
            "max_new_tokens": max_new_tokens,
            "top_n": TOP_N,
            "repeats": repeats,
        },
    )
    requests = {
        spec: RunRequest(
            prompt=prompt or PROMPT,
            settings=Settings(drafter=spec, k=0 if spec == "none" else k, temperature=temperature),
            max_new_tokens=max_new_tokens,
            probes=False,
            top_n=TOP_N,
        )
        for spec in drafter
    }
    taken = _side_by_side(sessions, requests, repeats, progress)
    return Overhead(
        header=msgspec.structs.replace(about, notes=(*about.notes, *notes)),
        drafters=tuple(
            compare(spec, requests[spec].settings.k, *runs) for spec, runs in taken.items()
        ),
    )


def _side_by_side(
    sessions: tuple[Session, Session],
    requests: Mapping[str, RunRequest],
    repeats: int,
    progress: Progress,
) -> dict[str, tuple[list[list[Timed]], list[list[Timed]]]]:
    """Decode each request with observation and without, once a repeat, in turn."""
    taken: dict[str, tuple[list[list[Timed]], list[list[Timed]]]] = {
        spec: ([], []) for spec in requests
    }
    done, total = 0, (repeats + 1) * len(requests)
    for repeat in range(-1, repeats):
        for spec in in_turn(tuple(requests), repeat):
            progress(done, total, "Decoding, observed and not")
            request = requests[spec]
            runs = in_lockstep(
                list(zip(sessions, (request, replace(request, top_n=0)), strict=True))
            )
            for run in runs:
                check_enough(run, spec)
            if repeat >= 0:  # the repeat before all others warms up
                for kept, run in zip(taken[spec], runs, strict=True):
                    kept.append(run[1:])  # a first round waits for the drafter
            done += 1
    return taken


def _fitting(session: Session) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the usual drafters that fit the target, and notes on those that do not."""
    try:
        load_drafters(session, ["head"])
    except DraftscopeError as fault:
        return tuple(one for one in USUAL if one != "head"), (f"Without the head: {fault}",)
    return USUAL, ()


def compare(
    drafter: str, k: int, observed: Sequence[list[Timed]], unobserved: Sequence[list[Timed]]
) -> DrafterOverhead:
    """Compare runs with one index: they were decoded side by side."""
    watched, plain = _totals(observed), _totals(unobserved)
    times = [one.record.times for one in chain.from_iterable(observed)]
    observe = [one.observe for one in times]
    return DrafterOverhead(
        drafter=drafter,
        k=k,
        rounds=len(observed[0]),
        observed=spread(watched),
        unobserved=spread(plain),
        ratio=ratio(watched, plain),
        observe=spread(observe),
        share=sum(observe) / sum(one.round for one in times),
        identical=len({_tokens(run) for run in chain(observed, unobserved)}) == 1,
    )


def _totals(runs: Sequence[list[Timed]]) -> list[int]:
    return [sum(one.wall_ns for one in run) for run in runs]


def _tokens(run: list[Timed]) -> tuple[int, ...]:
    return tuple(chain.from_iterable(one.record.emitted_ids for one in run))
