"""One session that goes on and on: what a round costs as its text grows, part by part.

The real session, n-gram drafter, rule, penalties, observation, text, journal and statistics run on
a stand-in for the target (`chain_model`), so that only what is around the pass is timed. Knows no
command line.
"""

from __future__ import annotations

import tempfile
import time
from collections import deque
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from engine.benchmarks.chain_model import chain_target
from engine.benchmarks.figures import Ratio, Spread, ratio, spread
from engine.benchmarks.measuring import Progress, silent
from engine.benchmarks.rounds import Timed
from engine.prompting import prompt_tokens
from engine.request import RunRequest
from engine.session import Session, raise_failure
from engine.trace.events import Round, Settings
from engine.trace.journal import Journal
from engine.trace.statistics import Statistics

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from engine.loading import LoadedModel
    from engine.trace.events import Event

PHASES = ("draft", "verify", "accept", "commit", "observe")
PARTS = (*PHASES, "python", "journal", "statistics", "figures")
_WINDOW = 400  # rounds before each mark that are timed together
_PROMPT = "a"
# every law remembers what the text holds, so that counting it is timed as well
_SETTINGS = Settings(drafter="ngram", k=4, temperature=1.0, repetition_penalty=1.05)


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """The rounds that drafted k tokens, just before the text had so many tokens."""

    tokens: int
    rounds: int  # that were timed
    round: Spread  # all parts of a round together
    over_first: Ratio  # of the same at the first mark
    parts: dict[str, float]  # median nanoseconds of each of `PARTS`
    journal_bytes: int  # written so far


class LongSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session from its first token to its last."""

    tokens: int
    rounds: int
    acceptance: float | None
    marks: tuple[Mark, ...]


def run_long_session(
    like: LoadedModel, marks: Sequence[int], progress: Progress = silent, window: int = _WINDOW
) -> LongSession:
    """Decode up to the last mark and time the rounds before each mark.

    Parameters
    ----------
    like
        Whose tokens and texts are used; its weights are not.
    marks
        Lengths of the text, in tokens, rising.
    window
        Rounds before each mark that are timed together.
    """
    prompt = prompt_tokens(like, _PROMPT, raw=True)
    target = chain_target(like, marks[-1] + 1024, prompt)
    request = RunRequest(
        prompt=_PROMPT,
        raw=True,
        settings=_SETTINGS,
        max_new_tokens=marks[-1],
        ignore_end_tokens=True,
        probes=False,
    )
    gathered = Statistics()
    samples: deque[tuple[int, ...]] = deque(maxlen=window)
    found: list[tuple[int, list[tuple[int, ...]], int]] = []
    waiting, emitted, rounds = list(marks), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.jsonl"
        with Journal(path) as journal:
            for event, wall in _timed_events(Session(target), request):
                parts = _consume(event, wall, journal, gathered)
                if not isinstance(event, Round):
                    continue
                if len(event.drafted) == _SETTINGS.k:  # as much work in each
                    samples.append(parts)
                rounds += 1
                emitted += event.emitted
                if rounds % 64 == 0:
                    progress(emitted, marks[-1], "A session grows (tokens)")
                while waiting and emitted >= waiting[0]:
                    found.append((waiting.pop(0), list(samples), path.stat().st_size))
    first = [sum(one) for one in found[0][1]]
    return LongSession(
        tokens=emitted,
        rounds=rounds,
        acceptance=gathered.figures().acceptance,
        marks=tuple(_mark(*one, first) for one in found),
    )


def _timed_events(session: Session, request: RunRequest) -> Iterator[tuple[Event, int]]:
    events = session.run(request)
    while True:
        begin = time.perf_counter_ns()
        event = next(events, None)
        wall = time.perf_counter_ns() - begin
        if event is None:
            return
        yield event, wall
        raise_failure(event)


def _consume(event: Event, wall: int, journal: Journal, gathered: Statistics) -> tuple[int, ...]:
    """Do with an event what a viewer does, and return the nanoseconds of each of `PARTS`."""
    moments = [time.perf_counter_ns()]
    for work in (journal.write, gathered.add):
        work(event)
        moments.append(time.perf_counter_ns())
    gathered.figures()
    moments.append(time.perf_counter_ns())
    outside = [end - begin for begin, end in pairwise(moments)]
    if not isinstance(event, Round):
        return (0,) * len(PARTS)
    timed = Timed(record=event, wall_ns=wall)
    phases = [getattr(event.times, name) for name in PHASES]
    return (*phases, timed.between_ns, *outside)


def _mark(tokens: int, samples: list[tuple[int, ...]], written: int, first: Sequence[int]) -> Mark:
    rounds = [sum(one) for one in samples]
    paired = min(len(rounds), len(first))
    return Mark(
        tokens=tokens,
        rounds=len(rounds),
        round=spread(rounds),
        over_first=ratio(rounds[-paired:], first[-paired:]),
        parts={
            name: spread([one[index] for one in samples]).median_ns
            for index, name in enumerate(PARTS)
        },
        journal_bytes=written,
    )
