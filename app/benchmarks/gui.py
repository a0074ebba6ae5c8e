"""How smooth the window stays while tokens stream in faster than any engine makes them.

Knows a window, a source of rounds and what to watch. Knows no model and no torch.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtGui import QGuiApplication

from app.benchmarks.frames import Frames
from app.benchmarks.recorded import write_long_run
from app.benchmarks.stage import (
    application,
    own_folders,
    screen_notes,
    settle,
    surfaces,
    wait,
    window,
)
from app.benchmarks.streaming import Streaming
from app.viewmodels.prompt import PromptState
from engine.benchmarks.header import Header, header
from engine.benchmarks.measuring import Progress, silent

if TYPE_CHECKING:
    from app.compose import Program

TOKENS_PER_SECOND = 2000.0
SECONDS = 10.0
IDLE_S = 1.0
LONG_TRACE_ROUNDS = 100_000
CACHED = "The trace that is opened was just written: it lies in the page cache, not on a disk."


class StreamReport(msgspec.Struct, frozen=True, kw_only=True):
    """The window while tokens stream.

    Attributes
    ----------
    tokens_per_second, seconds
        What streamed, over how long.
    longest_gap_ms, p99_gap_ms, p50_gap_ms
        Between two turns of the window's thread; a timer asks for one every millisecond.
    cpu_share
        Of one core, by the window's thread.
    idle_longest_gap_ms, idle_cpu_share
        The same where nothing streamed, just before: what the machine and the watching cost.
    paints_per_second
        Of each surface.
    shown_rounds, rounds
        How many were on show in the end, of how many.
    """

    platform: str
    tokens_per_second: float
    seconds: float
    longest_gap_ms: float
    p99_gap_ms: float
    p50_gap_ms: float
    cpu_share: float
    idle_longest_gap_ms: float
    idle_cpu_share: float
    paints_per_second: dict[str, float]
    shown_rounds: int
    rounds: int


class OpenReport(msgspec.Struct, frozen=True, kw_only=True):
    """Opening a long trace in the window.

    Attributes
    ----------
    first_picture_s
        From the wish to the first paint of the text with rounds in it.
    whole_s
        Until the whole file is read and its last round could be shown.
    longest_gap_ms, p99_gap_ms
        Between two turns of the window's thread meanwhile.
    """

    rounds: int
    file_bytes: int
    first_picture_s: float
    whole_s: float
    longest_gap_ms: float
    p99_gap_ms: float


class Gui(msgspec.Struct, frozen=True, kw_only=True):
    """The report."""

    header: Header
    stream: StreamReport
    opening: OpenReport | None  # None: not asked for


def measure(
    *,
    tokens_per_second: float = TOKENS_PER_SECOND,
    seconds: float = SECONDS,
    rounds: int = LONG_TRACE_ROUNDS,
    progress: Progress = silent,
) -> Gui:
    """Stream tokens into the window, then open a trace of `rounds` rounds; 0 leaves that out."""
    steps = 1 + bool(rounds)
    progress(0, steps, "Streaming into the window")
    streamed = stream(tokens_per_second, seconds)
    progress(1, steps, "Writing and opening a long trace")
    opened = open_long_trace(rounds) if rounds else None
    progress(steps, steps, "Done")
    head = header(
        "gui",
        settings={
            "tokens_per_second": tokens_per_second,
            "seconds": seconds,
            "rounds": rounds,
            "screen": streamed.platform,
        },
    )
    notes = (*head.notes, *((CACHED,) if rounds else ()), *screen_notes())
    return Gui(
        header=msgspec.structs.replace(head, notes=notes),
        stream=streamed,
        opening=opened,
    )


def stream(tokens_per_second: float = TOKENS_PER_SECOND, seconds: float = SECONDS) -> StreamReport:
    """Stream tokens into the window with every panel open."""
    source = Streaming(tokens_per_second, seconds)
    application()
    with own_folders(), window(source) as program:
        idle, frames = Frames({}), Frames(surfaces(program))
        idle.start()
        settle(IDLE_S)
        idle.stop()
        presentation = program.desk.presentation
        program.deeds.set_speed(None)
        program.desk.run("recorded", PromptState(prompt="recorded", baseline=False).request)
        frames.start()
        wait(lambda: not program.desk.state.running and presentation.at_end, "the stream")
        frames.stop()
        settle(0.5)
        emitted = program.desk.document.statistics.figures().emitted
        return StreamReport(
            platform=QGuiApplication.platformName(),
            tokens_per_second=emitted / frames.seconds,
            seconds=frames.seconds,
            longest_gap_ms=frames.gap_ms(1.0),
            p99_gap_ms=frames.gap_ms(0.99),
            p50_gap_ms=frames.gap_ms(0.5),
            cpu_share=frames.cpu_share,
            idle_longest_gap_ms=idle.gap_ms(1.0),
            idle_cpu_share=idle.cpu_share,
            paints_per_second=frames.rates(),
            shown_rounds=presentation.visible_rounds(),
            rounds=source.rounds,
        )


def open_long_trace(rounds: int = LONG_TRACE_ROUNDS) -> OpenReport:
    """Write a long trace into a folder of its own, then open it in the window."""
    application()
    with tempfile.TemporaryDirectory(prefix="draftscope-bench-") as scratch:
        path = Path(scratch) / "long.jsonl"
        size = write_long_run(path, rounds)
        with own_folders(), window() as program:
            return _open(program, path, rounds, size)


def _open(program: Program, path: Path, rounds: int, size: int) -> OpenReport:
    frames = Frames({"strip": program.strip.viewport()})
    desk = program.desk
    pictured: list[float] = []
    ended: list[float] = []

    def look() -> None:
        if desk.state.has_rounds and not pictured:
            program.strip.viewport().repaint()  # now, so that it is known when
            pictured.append(time.perf_counter())

    desk.picture_changed.connect(look)
    desk.opened.connect(lambda _: ended.append(time.perf_counter()))
    program.deeds.set_speed(None)
    frames.start()
    begin = time.perf_counter()
    desk.open(path)
    wait(lambda: bool(ended and pictured), "the whole file")
    frames.stop()
    return OpenReport(
        rounds=rounds,
        file_bytes=size,
        first_picture_s=pictured[0] - begin,
        whole_s=max(ended[0], pictured[0]) - begin,
        longest_gap_ms=frames.gap_ms(1.0),
        p99_gap_ms=frames.gap_ms(0.99),
    )
