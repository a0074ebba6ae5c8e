"""What the window takes from the engine: the same run watched, unwatched and on the command line.

Knows the three ways and how to compare them. Knows no panel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from PySide6.QtGui import QGuiApplication

from app.benchmarks.bare import BareLane, TimedJobs, Timing, command_line_run
from app.benchmarks.frames import Frames
from app.benchmarks.stage import (
    application,
    own_folders,
    screen_notes,
    settle,
    surfaces,
    wait,
    window,
)
from app.viewmodels.prompt import replaced_words
from engine.benchmarks.figures import Ratio, Spread, ratio, spread
from engine.benchmarks.header import Header, Setting, header
from engine.benchmarks.measuring import in_turn, silent
from engine.errors import DraftscopeError
from engine.models.registry import DEFAULT_MODEL
from engine.request import RunRequest
from engine.trace.events import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from app.compose import Program
    from engine.benchmarks.measuring import Progress

PROMPT = "Explain to a curious child why the sky is blue."
WATCHED, BARE, COMMAND_LINE = "watched", "unwatched", "command line"


class Way(msgspec.Struct, frozen=True, kw_only=True):
    """One way of running, over all repeats."""

    name: str
    tokens_per_second: float  # emitted / summed round times
    wall_tokens_per_second: float  # emitted / from the end of the prefill to the last round's
    round: Spread  # summed round times of one run
    wall: Spread


class WindowReport(msgspec.Struct, frozen=True, kw_only=True):
    """The window's price.

    The shares lost are 1 - unwatched / watched, by times of the same tokens; below 0: nothing lost.
    """

    header: Header
    tokens: int  # of each run
    ways: tuple[Way, ...]
    lost: Ratio  # by summed round times, with the interval of chance
    lost_wall: Ratio  # by wall times
    watched_over_command_line: Ratio  # wall times
    window_cpu_share: float  # of one core, by the window's thread while watched
    longest_gap_ms: float  # between two turns of that thread
    paints_per_second: dict[str, float]
    identical: bool  # all runs gave the same ids


def measure(
    target: str = DEFAULT_MODEL,
    drafter: str = "head",
    *,
    k: int = 3,
    temperature: float = 0.0,
    max_new_tokens: int = 192,
    prompt: str = "",
    repeats: int = 7,
    device: str | None = None,
    plan: str | None = None,
    progress: Progress = silent,
) -> WindowReport:
    """Run watched, unwatched and on the command line, in turn.

    Greedy unless asked: drawn texts may differ with the number of threads. A drafter that was made
    for another target is replaced as the window does it, in all three ways; the header says so.

    Raises
    ------
    DraftscopeError
        If the models cannot be had or a run fails.
    """
    request = RunRequest(
        prompt=prompt or PROMPT,
        settings=Settings(
            drafter=drafter, k=0 if drafter == "none" else k, temperature=temperature
        ),
        max_new_tokens=max_new_tokens,
        ignore_end_tokens=True,
        probes=False,  # they would stand in the wall times
    )
    application()
    jobs = TimedJobs(device=device, plan=plan)
    with own_folders(models=True), window(jobs) as program:
        frames = Frames(surfaces(program), tick_ms=20)  # hardly felt by the engine
        bare = BareLane(jobs)
        ways = {
            WATCHED: lambda: _watched(program, jobs, target, request, frames),
            BARE: lambda: bare.run(target, request),
            COMMAND_LINE: lambda: command_line_run(jobs, request),
        }
        try:
            taken = _in_turn(program, ways, repeats, progress)
        finally:
            bare.close()
        return _report(_header(jobs, request, repeats), taken, frames)


def _header(jobs: TimedJobs, request: RunRequest, repeats: int) -> Header:
    """Describe what ran: the settings are those that the lane used."""
    session, used = jobs.jobs.session, jobs.used
    assert session is not None  # something ran
    assert used is not None
    settings: dict[str, Setting] = {
        "drafter": used.drafter,
        "k": used.k,
        "temperature": used.temperature,
        "max_new_tokens": request.max_new_tokens,
        "end_tokens": "ignored",
        "prompt": request.prompt,
        "repeats": repeats,
        "screen": QGuiApplication.platformName(),
    }
    head = header("window", settings=settings, target=session.target)
    asked = request.settings.drafter
    replaced = () if used.drafter == asked else (replaced_words(asked, used.drafter),)
    return msgspec.structs.replace(head, notes=(*head.notes, *replaced, *screen_notes()))


def _in_turn(
    program: Program, ways: Mapping[str, Callable[[], Timing]], repeats: int, progress: Progress
) -> dict[str, list[Timing]]:
    """Run each way once a repeat, after one of each that is thrown away."""
    taken: dict[str, list[Timing]] = {name: [] for name in ways}
    done, total = 0, (repeats + 1) * len(ways)
    for repeat in range(-1, repeats):
        for name in in_turn(tuple(ways), max(0, repeat)):
            program.window.setVisible(name == WATCHED)
            settle(0.2)
            timing = ways[name]()
            if repeat >= 0:
                taken[name].append(timing)
            done += 1
            progress(done, total, "Running watched and unwatched")
    return taken


def _watched(
    program: Program, jobs: TimedJobs, target: str, request: RunRequest, frames: Frames
) -> Timing:
    """Run with every panel live."""
    failed: list[str] = []
    program.desk.failed.connect(failed.append)
    program.deeds.set_speed(None)
    program.desk.run(target, request)
    wait(lambda: bool(failed or program.desk.document.rounds), "the first round", every_ms=20)
    frames.start()
    wait(lambda: bool(failed) or not program.desk.state.running, "the watched run", every_ms=100)
    frames.stop()
    if failed:
        raise DraftscopeError(failed[0])
    return jobs.last


def _report(head: Header, taken: dict[str, list[Timing]], frames: Frames) -> WindowReport:
    rounds = {name: [one.round_ns for one in runs] for name, runs in taken.items()}
    walls = {name: [one.wall_ns for one in runs] for name, runs in taken.items()}
    runs = [one for each in taken.values() for one in each]
    tokens = len(runs[0].ids)
    return WindowReport(
        header=head,
        tokens=tokens,
        ways=tuple(_way(name, tokens, rounds[name], walls[name]) for name in taken),
        lost=_lost(rounds[BARE], rounds[WATCHED]),
        lost_wall=_lost(walls[BARE], walls[WATCHED]),
        watched_over_command_line=ratio(walls[WATCHED], walls[COMMAND_LINE]),
        window_cpu_share=frames.cpu_share,
        longest_gap_ms=frames.gap_ms(1.0),
        paints_per_second=frames.rates(),
        identical=len({one.ids for one in runs}) == 1,
    )


def _way(name: str, tokens: int, rounds: Sequence[int], walls: Sequence[int]) -> Way:
    return Way(
        name=name,
        tokens_per_second=tokens * len(rounds) * 1e9 / sum(rounds),
        wall_tokens_per_second=tokens * len(walls) * 1e9 / sum(walls),
        round=spread(rounds),
        wall=spread(walls),
    )


def _lost(bare: Sequence[int], watched: Sequence[int]) -> Ratio:
    kept = ratio(bare, watched)
    return Ratio(value=1 - kept.value, low=1 - kept.high, high=1 - kept.low)
