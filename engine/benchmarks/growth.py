"""`growth`: what a token costs as its context grows, and as its session grows.

Two things that differ: the context is what a pass attends to, up to the model's own length; the
session is everything around the pass, up to any length. Knows models and sessions; prints nothing.
"""

from __future__ import annotations

import time
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec
import torch

from engine.benchmarks.figures import Ratio, Spread, ratio, spread
from engine.benchmarks.header import Header, header, listed
from engine.benchmarks.long_session import LongSession, run_long_session
from engine.benchmarks.measuring import Progress, interleaved, silent, timed
from engine.cache import KVCache
from engine.loading import load_model
from engine.models.settling import settle
from engine.prefill import CHUNK, feed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.models.transformer import Transformer

_WARMUPS = 1
_FIRST = 64  # positions of the shortest context


class ContextCost(msgspec.Struct, frozen=True, kw_only=True):
    """Passes with logits after `context` cached tokens."""

    context: int
    one: Spread  # a pass on one token
    one_over_first: Ratio  # of the shortest context
    drafted: int  # k: tokens beside the one
    several: Spread  # a pass on k + 1
    several_over_first: Ratio
    cost: Ratio  # several / one, at this context


class PrefillCost(msgspec.Struct, frozen=True, kw_only=True):
    """Reading a prompt's tokens from one length to another, in chunks."""

    begin: int
    end: int
    ns_per_token: float


class Growth(msgspec.Struct, frozen=True, kw_only=True):
    """The report."""

    header: Header
    contexts: tuple[ContextCost, ...]
    prefill: tuple[PrefillCost, ...]
    session: LongSession  # on a stand-in for the target, whose passes cost next to nothing


def measure(
    *,
    target: str,
    contexts: Sequence[int],
    tokens: Sequence[int],
    k: int = 4,
    repeats: int = 7,
    device: str | None = None,
    plan: str | None = None,
    progress: Progress = silent,
) -> Growth:
    """Measure both; contexts past the model's own length are cut to it.

    Parameters
    ----------
    contexts
        Cached positions before a pass.
    tokens
        Lengths of the session's text at which rounds are timed.
    """
    loaded = load_model(target, device=device, plan=plan, progress=progress)
    model = loaded.transformer
    longest = model.config.context_length - k - 1
    lengths = sorted({min(context, longest) for context in (_FIRST, *contexts)})
    about = header(
        "growth",
        target=loaded,
        settings={
            "contexts": listed(lengths),
            "tokens": listed(sorted(tokens)),
            "k": k,
            "repeats": repeats,
        },
    )
    costs, prefill = measure_contexts(model, lengths, k=k, repeats=repeats, progress=progress)
    session = run_long_session(loaded, sorted(tokens), progress)
    return Growth(header=about, contexts=costs, prefill=prefill, session=session)


@torch.inference_mode()
def measure_contexts(
    model: Transformer,
    lengths: Sequence[int],
    *,
    k: int,
    repeats: int,
    progress: Progress = silent,
) -> tuple[tuple[ContextCost, ...], tuple[PrefillCost, ...]]:
    """Read one text up to the longest length, then time passes after each length, in turn.

    The rows of the text stay where they are while its cache is cut back and counted up again.
    """
    cache = KVCache(model.new_pool())
    prefill = tuple(_read(model, cache, lengths, progress))
    whole = cache.length

    def one_pass(context: int, tokens: int) -> int:
        cache.truncate(context)
        took = timed(partial(_run, model, cache, tokens), model.plan.device)()
        cache.truncate(context)
        cache.append(whole - context)
        return took

    samples = interleaved(
        {(context, n): partial(one_pass, context, n) for context in lengths for n in (1, 1 + k)},
        repeats=repeats,
        warmups=_WARMUPS,
        progress=progress,
        what="Timing passes after growing contexts",
    )
    first = lengths[0]
    costs = tuple(
        ContextCost(
            context=context,
            one=spread(samples[context, 1]),
            one_over_first=ratio(samples[context, 1], samples[first, 1]),
            drafted=k,
            several=spread(samples[context, 1 + k]),
            several_over_first=ratio(samples[context, 1 + k], samples[first, 1 + k]),
            cost=ratio(samples[context, 1 + k], samples[context, 1]),
        )
        for context in lengths
    )
    return costs, prefill


def _run(model: Transformer, cache: KVCache, tokens: int) -> None:
    model.logits(model.forward([1] * tokens, cache))


def _read(
    model: Transformer, cache: KVCache, lengths: Sequence[int], progress: Progress
) -> list[PrefillCost]:
    """Read up to each length, and time each stretch."""
    found = []
    for begin, end in pairwise((0, *lengths)):
        took = 0
        for at in range(begin, end, CHUNK):
            progress(at, lengths[-1], "Reading a long prompt (tokens)")
            chunk = [1 + i % (model.vocabulary - 1) for i in range(at, min(end, at + CHUNK))]
            started = time.perf_counter_ns()
            feed(model, chunk, cache)
            settle(model.plan.device)
            took += time.perf_counter_ns() - started
        found.append(PrefillCost(begin=begin, end=end, ns_per_token=took / (end - begin)))
    return found
