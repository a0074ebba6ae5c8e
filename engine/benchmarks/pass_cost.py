"""`pass-cost`: what a pass on n tokens costs over a pass on one, and how near it is to the limit.

Widths and contexts of a plan are measured in turn; plans one after another, since each has weights
of its own. Knows models and caches; no drafter and no text.
"""

from __future__ import annotations

import gc
from functools import partial
from typing import TYPE_CHECKING

import msgspec
import torch

from engine.benchmarks.figures import Ratio, Spread, ratio, spread
from engine.benchmarks.header import Header, header, listed
from engine.benchmarks.limits import Limits, measure_limits
from engine.benchmarks.measuring import Progress, interleaved, silent, timed
from engine.benchmarks.runnable import runnable
from engine.benchmarks.work import Work, work_of
from engine.cache import KVCache
from engine.errors import DraftscopeError
from engine.loading import choose_device, load_model
from engine.prefill import feed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.models.transformer import Transformer

_WARMUPS = 2


class Pass(msgspec.Struct, frozen=True, kw_only=True):
    """A pass with logits on `tokens` tokens after `context` cached ones."""

    context: int
    tokens: int
    width: int  # rows that the plan computes: `tokens`, padded
    time: Spread
    cost: Ratio  # over a pass on one token at the same context
    work: Work
    # Of the machine's best rate, in [0, 1]: the least time that it allows over the median measured.
    read_share: float  # for the weights alone
    share: float  # for weights and cache, or for operations, whichever takes longer


class PlanCost(msgspec.Struct, frozen=True, kw_only=True):
    """All passes under one plan."""

    plan: str
    dtype: str
    passes: tuple[Pass, ...]


class PassCost(msgspec.Struct, frozen=True, kw_only=True):
    """The report."""

    header: Header
    limits: Limits
    plans: tuple[PlanCost, ...]
    left_out: tuple[str, ...]  # plans that this machine cannot run, and why


def measure(
    *,
    target: str,
    device: str | None = None,
    plan: str | None = None,
    repeats: int = 11,
    widths: Sequence[int],
    contexts: Sequence[int],
    progress: Progress = silent,
) -> PassCost:
    """Measure passes under one plan, or under every plan that the machine can run."""
    where = choose_device(device)
    about = header(
        "pass-cost",
        device=where,
        settings={
            "target": target,
            "repeats": repeats,
            "widths": listed(widths),
            "contexts": listed(contexts),
        },
    )
    names, left_out = runnable(plan, where)
    limits = measure_limits(where, progress=progress)
    found = []
    for name in names:
        loaded = load_model(target, device=device, plan=name, progress=progress)
        passes = measure_passes(
            loaded.transformer,
            limits,
            repeats=repeats,
            widths=widths,
            contexts=contexts,
            progress=progress,
        )
        found.append(PlanCost(plan=name, dtype=loaded.info.dtype, passes=passes))
        del loaded
        gc.collect()  # one plan's weights at a time
    return PassCost(header=about, limits=limits, plans=tuple(found), left_out=left_out)


@torch.inference_mode()
def measure_passes(
    model: Transformer,
    limits: Limits,
    *,
    repeats: int,
    widths: Sequence[int],
    contexts: Sequence[int],
    progress: Progress = silent,
) -> tuple[Pass, ...]:
    """Measure every width at every context in turn; contexts past the model's own are left out.

    A pass on one token is measured whether `widths` has it or not.
    """
    longest = model.config.context_length
    widths = sorted({1, *widths})
    pool = model.new_pool()
    caches = {}
    for context in contexts:
        if context + widths[-1] <= longest:
            caches[context] = KVCache(pool)
            feed(model, [1 + i % (model.vocabulary - 1) for i in range(context)], caches[context])
    if not caches:
        raise DraftscopeError(
            f"The model reads {longest} tokens, too few for any context of {listed(contexts)}; "
            "choose shorter ones with --contexts."
        )

    def one_pass(context: int, tokens: int) -> None:
        cache = caches[context]
        model.logits(model.forward([1] * tokens, cache))
        cache.truncate(context)

    samples = interleaved(
        {
            (context, tokens): timed(partial(one_pass, context, tokens), model.plan.device)
            for context in caches
            for tokens in widths
        },
        repeats=repeats,
        warmups=_WARMUPS,
        progress=progress,
        what=f"Timing passes, {model.plan.name} plan",
    )
    return tuple(
        _pass(model, limits, context, tokens, taken, samples[context, 1])
        for (context, tokens), taken in samples.items()
    )


def _pass(
    model: Transformer,
    limits: Limits,
    context: int,
    tokens: int,
    taken: Sequence[int],
    one: Sequence[int],
) -> Pass:
    time, work = spread(taken), work_of(model, tokens, context)
    return Pass(
        context=context,
        tokens=tokens,
        width=model.plan.width(tokens),
        time=time,
        cost=ratio(taken, one),
        work=work,
        read_share=work.read_ns(limits) / time.median_ns,
        share=work.least_ns(limits) / time.median_ns,
    )
