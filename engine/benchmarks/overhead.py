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
from engine.benchmarks.rounds import PROMPT, Timed, in_lockstep
from engine.check.pair import load_drafters
from engine.loading import load_model
from engine.request import RunRequest
from engine.session import Session
from engine.trace.events import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    drafter: Sequence[str],
    k: int = 4,
    temperature: float = 0.0,
    max_new_tokens: int = 48,
    repeats: int = 9,
    prompt: str | None = None,
    device: str | None = None,
    plan: str | None = None,
    progress: Progress = silent,
) -> Overhead:
    """Load what is named and measure it with each drafter."""
    loaded = load_model(target, device=device, plan=plan, progress=progress)
    sessions = (Session(loaded), Session(loaded))
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
    observed: dict[str, list[list[Timed]]] = {spec: [] for spec in drafter}
    unobserved: dict[str, list[list[Timed]]] = {spec: [] for spec in drafter}
    done, total = 0, (repeats + 1) * len(drafter)
    for repeat in range(-1, repeats):
        for spec in in_turn(tuple(drafter), repeat):
            progress(done, total, "Decoding, observed and not")
            request = RunRequest(
                prompt=prompt or PROMPT,
                settings=Settings(
                    drafter=spec, k=0 if spec == "none" else k, temperature=temperature
                ),
                max_new_tokens=max_new_tokens,
                probes=False,
                top_n=TOP_N,
            )
            runs = in_lockstep(
                list(zip(sessions, (request, replace(request, top_n=0)), strict=True))
            )
            if repeat >= 0:  # the repeat before all others warms up
                observed[spec].append(runs[0][1:])  # a first round waits for the drafter
                unobserved[spec].append(runs[1][1:])
            done += 1
    return Overhead(
        header=about,
        drafters=tuple(
            compare(spec, 0 if spec == "none" else k, observed[spec], unobserved[spec])
            for spec in drafter
        ),
    )


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
