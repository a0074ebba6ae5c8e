"""What a pass is made of: the linear layers alone, what it costs whatever its size, and the rest.

The linear layers are timed on random weights of the target's shapes, as its own plan prepares them.
What is fixed is the pass of a model as deep with hardly any width: Python, calls, small operations.
Knows models and plans; no drafter and no round.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import msgspec
import torch

from engine.benchmarks.figures import Spread, spread
from engine.benchmarks.measuring import Progress, interleaved, silent, timed
from engine.benchmarks.work import work_of
from engine.cache import KVCache
from engine.models.layout import expected_shapes
from engine.models.plans.choice import choose_plan
from engine.models.transformer import Transformer
from engine.prefill import feed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from engine.benchmarks.limits import Limits
    from engine.models.plans.protocol import Linear, Plan

_NARROW = 64  # width of a model whose arithmetic takes no time
_WARMUPS = 2


class PassParts(msgspec.Struct, frozen=True, kw_only=True):
    """A pass with logits on `tokens` tokens after `context` cached ones, and its parts."""

    tokens: int
    context: int
    whole: Spread
    linear: Spread  # all linear layers and the head, alone
    fixed: Spread  # the pass of a model as deep and 64 wide: Python and calls
    rest_ns: float  # whole - linear - fixed, of the medians: attention, norms, what is not hidden
    weights_ns: float  # reading the weights once at the machine's best rate


@torch.inference_mode()
def measure_parts(
    model: Transformer,
    limits: Limits,
    *,
    widths: Sequence[int],
    context: int,
    repeats: int,
    progress: Progress = silent,
) -> tuple[PassParts, ...]:
    """Measure the parts of passes of several widths, in turn."""
    layers = linear_layers(model)
    whole = _passes(model, context)
    fixed = _passes(as_deep(model), context)
    device = model.plan.device
    variants = {}
    for tokens in widths:
        variants["whole", tokens] = timed(partial(whole, tokens), device)
        variants["linear", tokens] = timed(_products(model.plan, layers, tokens), device)
        variants["fixed", tokens] = timed(partial(fixed, tokens), device)
    samples = interleaved(
        variants,
        repeats=repeats,
        warmups=_WARMUPS,
        progress=progress,
        what="Taking passes apart",
    )
    found = []
    for tokens in widths:
        parts = {name: spread(samples[name, tokens]) for name in ("whole", "linear", "fixed")}
        known = parts["linear"].median_ns + parts["fixed"].median_ns
        found.append(
            PassParts(
                tokens=tokens,
                context=context,
                rest_ns=parts["whole"].median_ns - known,
                weights_ns=work_of(model, tokens, context).read_ns(limits),
                **parts,
            )
        )
    return tuple(found)


def _passes(model: Transformer, context: int) -> Callable[[int], None]:
    cache = KVCache(model.new_pool())
    feed(model, [1 + i % (model.vocabulary - 1) for i in range(context)], cache)

    def one_pass(tokens: int) -> None:
        model.logits(model.forward([1] * tokens, cache))
        cache.truncate(context)

    return one_pass


def linear_layers(model: Transformer) -> list[tuple[int, Linear]]:
    """Prepare random weights of the model's shapes under its plan, in the order of a pass.

    Returns
    -------
    list
        For each the width of its input, and the layer.
    """
    config, plan = model.config, model.plan
    heads = config.heads * config.head_dim
    rows = heads + 2 * config.kv_heads * config.head_dim
    one = [
        (rows, config.width),
        (config.width, heads),
        (2 * config.mlp_width, config.width),
        (config.width, config.mlp_width),
    ]
    shapes = [*(one * config.layers), (model.vocabulary, config.width)]
    return [(width, plan.linear(_random((out, width)))) for out, width in shapes]


def _products(plan: Plan, layers: list[tuple[int, Linear]], tokens: int) -> Callable[[], None]:
    rows = plan.width(tokens)
    inputs = {
        width: torch.randn(rows, width).to(device=plan.device, dtype=plan.dtype)
        for width in {width for width, _ in layers}
    }

    def multiply() -> None:
        for width, layer in layers:
            layer(inputs[width])

    return multiply


def as_deep(model: Transformer) -> Transformer:
    """Return a random model with as many layers and heads that has hardly anything to compute."""
    config, plan = model.config, model.plan
    narrow = replace(
        config,
        width=_NARROW,
        mlp_width=_NARROW,
        vocabulary=_NARROW,
        head_dim=16,
        rotary_width=None,
        scaling=None,
        tied=True,
    )
    dtype = plan.dtype if plan.name == "eager" else None
    shapes = expected_shapes(narrow)
    return Transformer(
        narrow, lambda name: _random(shapes[name]), choose_plan(plan.name, plan.device, dtype)
    )


def _random(shape: tuple[int, ...]) -> Tensor:
    return torch.randn(shape).mul_(shape[-1] ** -0.5)
