"""Speculative against plain decoding, in turn on the same prompts, and what a pass costs by width.

Every figure is a ratio inside one run or comes with what it divides by; medians, since the machine
is shared. Knows sessions and statistics; no command line.
"""

from __future__ import annotations

import statistics as numbers
import time
from typing import TYPE_CHECKING

import msgspec
import torch

from engine.cache import KVCache
from engine.loading import machine
from engine.request import RunRequest
from engine.session import raise_failure
from engine.trace.events import Baseline, Comparison, Round, Settings
from engine.trace.statistics import statistics

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.loading import LoadedModel
    from engine.session import Session
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
    emitted: int
    acceptance: float | None  # accepted / tested
    tokens_per_pass: float  # emitted / rounds
    tokens_per_second: float  # emitted / summed round times
    plain_tokens_per_second: float  # of the plain runs, likewise
    speedup: float  # median over prompts of the ratio within one prompt
    slowest: float  # the smallest of these ratios
    fastest: float
    observation: float  # observation time / round time
    identical: int | None  # greedy texts equal to the plain run's; None if sampled
    repetitive: int  # prompts whose text repeats itself: their acceptance says little


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Everything measured in one call."""

    target: str
    plan: str
    dtype: str
    machine: str
    temperature: float
    max_new_tokens: int
    passes: tuple[PassTime, ...]
    rows: tuple[Row, ...]


@torch.inference_mode()
def time_passes(target: LoadedModel, widths: Sequence[int] = WIDTHS) -> tuple[PassTime, ...]:
    """Time passes of several widths, in turn, at one context length."""
    model = target.transformer
    cache = KVCache(model.new_pool())
    model.forward([1] * _CONTEXT, cache)
    times: dict[int, list[float]] = {width: [] for width in widths}
    for _ in range(_REPEATS):
        for width in widths:
            begin = time.perf_counter()
            float(model.logits(model.forward([1] * width, cache))[0, 0])
            times[width].append(1e3 * (time.perf_counter() - begin))
            cache.truncate(_CONTEXT)
    medians = {width: numbers.median(taken) for width, taken in times.items()}
    one = medians[widths[0]]
    return tuple(
        PassTime(tokens=width, milliseconds=taken, cost=taken / one)
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
    on_row: Callable[[Row], None] | None = None,
) -> Report:
    """Measure each drafter at each k; a plain run of the same prompt follows every one."""
    target = session.target
    _events(session, prompts[0], Settings(drafter="none", k=0, temperature=0.0), 8)  # warm up
    rows = []
    for drafter in drafters:
        for k in drafted:
            settings = Settings(drafter=drafter, k=k, temperature=temperature)
            runs = [_events(session, prompt, settings, max_new_tokens) for prompt in prompts]
            rows.append(_row(settings, runs))
            if on_row is not None:
                on_row(rows[-1])
    return Report(
        target=target.info.name,
        plan=target.info.plan,
        dtype=target.info.dtype,
        machine=machine(),
        temperature=temperature,
        max_new_tokens=max_new_tokens,
        passes=time_passes(target),
        rows=tuple(rows),
    )


def _events(session: Session, prompt: str, settings: Settings, count: int) -> list[Event]:
    request = RunRequest(
        prompt=prompt, settings=settings, max_new_tokens=count, baseline=True, probes=False
    )
    events = list(session.run(request))
    raise_failure(events[-1])
    return events


def _row(settings: Settings, runs: list[list[Event]]) -> Row:
    rounds = [event for run in runs for event in run if isinstance(event, Round)]
    plains = [event for run in runs for event in run if isinstance(event, Baseline)]
    compared = [event.identical for run in runs for event in run if isinstance(event, Comparison)]
    single = [statistics(run) for run in runs]
    ratios = [figures.speedup for figures in single if figures.speedup is not None]
    whole = statistics(rounds)
    round_ns = sum(one.times.round for one in rounds)
    plain_ns = sum(sum(plain.round_ns) for plain in plains)
    return Row(
        drafter=settings.drafter,
        k=settings.k,
        prompts=len(runs),
        emitted=whole.emitted,
        acceptance=whole.acceptance,
        tokens_per_pass=whole.emitted / len(rounds),
        tokens_per_second=1e9 * whole.emitted / round_ns,
        plain_tokens_per_second=1e9 * sum(len(plain.token_ids) for plain in plains) / plain_ns,
        speedup=numbers.median(ratios),
        slowest=min(ratios),
        fastest=max(ratios),
        observation=sum(one.times.observe for one in rounds) / round_ns,
        identical=sum(compared) if settings.temperature == 0.0 else None,
        repetitive=sum(figures.repetitive for figures in single),
    )
