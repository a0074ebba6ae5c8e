"""Speculative against plain decoding, in turn on the same prompts, and what a pass costs by width.

Every figure is a ratio inside one run or comes with what it divides by; medians, since the machine
is shared. Knows sessions and statistics; no command line.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import msgspec
import torch

from engine.benchmarks.figures import ratio, spread
from engine.benchmarks.header import Header, header, listed
from engine.benchmarks.measuring import Progress, interleaved, silent, timed
from engine.cache import KVCache
from engine.check.pair import load_drafters
from engine.loading import load_model
from engine.request import RunRequest
from engine.session import Session, raise_failure
from engine.trace.events import Baseline, Comparison, Round, Settings
from engine.trace.statistics import statistics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.loading import LoadedModel
    from engine.trace.events import Event

PROMPTS = (
    "Why is the sky blue?",
    "Write a short story about a lighthouse keeper who finds a letter.",
    "Explain how a bicycle stays upright, step by step.",
    "Repeat this list twice: apples, pears, plums, cherries, apricots, peaches.",
)
WIDTHS = (1, 2, 3, 4, 5, 8, 9, 12, 16)
_CONTEXT = 128  # positions cached before a pass is timed
_REPEATS = 15


class PassTime(msgspec.Struct, frozen=True, kw_only=True):
    """A pass with logits on `tokens` tokens."""

    tokens: int
    milliseconds: float  # median
    cost: float  # over a pass on one token


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One drafter and k over all prompts, against plain runs interleaved with them."""

    drafter: str
    k: int
    prompts: int
    runs: int  # of each side: prompts times repeats
    emitted: int
    acceptance: float | None  # accepted / tested
    tokens_per_pass: float  # emitted / rounds
    tokens_per_second: float  # emitted / summed round times
    plain_tokens_per_second: float  # of the plain runs, likewise
    speedup: float  # median over runs of the ratio within one run
    low: float  # its 95 % interval, from the bootstrap over runs
    high: float
    slowest: float  # the smallest of these ratios
    fastest: float
    observation: float  # observation time / round time
    identical: int | None  # greedy texts equal to the plain run's; None if sampled
    repetitive: int  # runs whose text repeats itself: their acceptance says little


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Everything measured in one call."""

    header: Header
    passes: tuple[PassTime, ...]
    rows: tuple[Row, ...]


def measure(
    *,
    target: str,
    drafter: Sequence[str],
    k: Sequence[int],
    prompt: Sequence[str] | None = None,
    temperature: float = 0.0,
    max_new_tokens: int = 32,
    repeats: int = 1,
    device: str | None = None,
    plan: str | None = None,
    progress: Progress = silent,
) -> Report:
    """Load what is named, and measure it: `draftscope bench decoding`."""
    session = Session(load_model(target, device=device, plan=plan, progress=progress))
    return bench(
        session,
        load_drafters(session, drafter, progress=progress),
        drafted=k,
        prompts=prompt or PROMPTS,
        temperature=temperature,
        max_new_tokens=max_new_tokens,
        repeats=repeats,
        progress=progress,
    )


@torch.inference_mode()
def time_passes(
    target: LoadedModel, widths: Sequence[int] = WIDTHS, progress: Progress = silent
) -> tuple[PassTime, ...]:
    """Time passes of several widths, in turn, at one context length."""
    model = target.transformer
    cache = KVCache(model.new_pool())
    model.forward([1] * _CONTEXT, cache)

    def one_pass(width: int) -> None:
        float(model.logits(model.forward([1] * width, cache))[0, 0])
        cache.truncate(_CONTEXT)

    samples = interleaved(
        {width: timed(partial(one_pass, width)) for width in widths},
        repeats=_REPEATS,
        progress=progress,
        what="Timing passes",
    )
    medians = {width: spread(taken).median_ns for width, taken in samples.items()}
    one = medians[widths[0]]
    return tuple(
        PassTime(tokens=width, milliseconds=taken / 1e6, cost=taken / one)
        for width, taken in medians.items()
    )


def bench(
    session: Session,
    drafters: Sequence[str],
    *,
    drafted: Sequence[int],
    prompts: Sequence[str] = PROMPTS,
    temperature: float = 0.0,
    max_new_tokens: int = 64,
    repeats: int = 1,
    progress: Progress = silent,
) -> Report:
    """Measure each drafter at each k; a plain run of the same prompt follows every one."""
    cells = [
        Settings(drafter=drafter, k=k, temperature=temperature)
        for drafter in drafters
        for k in drafted
    ]
    about = header(
        "decoding",
        target=session.target,
        settings={
            "drafters": listed(drafters),
            "k": listed(drafted),
            "prompts": len(prompts),
            "temperature": temperature,
            "max_new_tokens": max_new_tokens,
            "repeats": repeats,
        },
    )
    _events(session, prompts[0], Settings(drafter="none", k=0, temperature=0.0), 8)  # warm up
    runs: list[list[list[Event]]] = [[] for _ in cells]
    work = [(i, text) for _ in range(repeats) for text in prompts for i in range(len(cells))]
    for done, (index, text) in enumerate(work):
        progress(done, len(work), "Decoding")
        runs[index].append(_events(session, text, cells[index], max_new_tokens))
    rows = [_row(cell, found, len(prompts)) for cell, found in zip(cells, runs, strict=True)]
    passes = time_passes(session.target, progress=progress)
    return Report(header=about, passes=passes, rows=tuple(rows))


def _events(session: Session, prompt: str, settings: Settings, count: int) -> list[Event]:
    request = RunRequest(
        prompt=prompt, settings=settings, max_new_tokens=count, baseline=True, probes=False
    )
    events = list(session.run(request))
    raise_failure(events[-1])
    return events


def _row(settings: Settings, runs: list[list[Event]], prompts: int) -> Row:
    rounds = [event for run in runs for event in run if isinstance(event, Round)]
    plains = [event for run in runs for event in run if isinstance(event, Baseline)]
    compared = [event.identical for run in runs for event in run if isinstance(event, Comparison)]
    single = [statistics(run) for run in runs]
    ratios = [figures.speedup for figures in single if figures.speedup is not None]
    median = ratio(ratios, [1.0] * len(ratios))
    whole = statistics(rounds)
    round_ns = sum(one.times.round for one in rounds)
    plain_ns = sum(sum(plain.round_ns) for plain in plains)
    return Row(
        drafter=settings.drafter,
        k=settings.k,
        prompts=prompts,
        runs=len(runs),
        emitted=whole.emitted,
        acceptance=whole.acceptance,
        tokens_per_pass=whole.emitted / len(rounds),
        tokens_per_second=1e9 * whole.emitted / round_ns,
        plain_tokens_per_second=1e9 * sum(len(plain.token_ids) for plain in plains) / plain_ns,
        speedup=median.value,
        low=median.low,
        high=median.high,
        slowest=min(ratios),
        fastest=max(ratios),
        observation=sum(one.times.observe for one in rounds) / round_ns,
        identical=sum(compared) if settings.temperature == 0.0 else None,
        repetitive=sum(figures.repetitive for figures in single),
    )
