"""What a pass asks of the machine: bytes that it must read and operations that it must do.

Counts from a configuration; measures nothing. What is counted is the least that any way of
computing the same pass has to do, so a share of it is a share of the limit.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import torch

from engine.models.layout import EMBEDDING, HEAD, expected_shapes

if TYPE_CHECKING:
    from engine.benchmarks.limits import Limits
    from engine.drafters.protocol import Drafter
    from engine.models.config import ModelConfig
    from engine.models.plans.protocol import Plan
    from engine.models.transformer import Transformer


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """Of one pass with logits."""

    weight_bytes: int  # every layer's matrices and the scored rows of the head, read once
    cache_bytes: int  # keys and values of the positions before the pass that its first row sees
    operations: int  # multiplications and additions of the matrices and of attention

    def least_ns(self, limits: Limits) -> float:
        """Return the least time that the limits allow: reading weights and cache, or computing."""
        reading = (self.weight_bytes + self.cache_bytes) / limits.read_bytes_per_second
        return 1e9 * max(reading, self.operations / limits.flops)

    def read_ns(self, limits: Limits) -> float:
        """Return the least time for reading the weights alone."""
        return 1e9 * self.weight_bytes / limits.read_bytes_per_second


def work_of(model: Transformer, tokens: int, context: int) -> Work:
    """Count the work of a pass on `tokens` tokens that follow `context` cached ones."""
    config, plan = model.config, model.plan
    weights = matrix_weights(config, model.vocabulary)
    row_bytes = cache_bytes(config, 1, plan.dtype) // config.layers  # of one layer and position
    windows = [config.window_of(layer) or context + tokens for layer in range(config.layers)]
    cached = sum(min(context, window - 1) for window in windows)
    seen = sum(min(context + i + 1, window) for window in windows for i in range(tokens))
    return Work(
        weight_bytes=weights * weight_size(plan),
        cache_bytes=cached * row_bytes,
        operations=2 * weights * tokens + 4 * seen * config.heads * config.head_dim,
    )


def matrix_weights(config: ModelConfig, vocabulary: int) -> int:
    """Return how many weights every pass multiplies by; the embedding is looked up, not read."""
    tables = (EMBEDDING, HEAD)
    shapes = expected_shapes(config).items()
    layers = sum(
        math.prod(shape) for name, shape in shapes if len(shape) == 2 and name not in tables
    )
    return layers + vocabulary * config.width


def weight_size(plan: Plan) -> int:
    """Return the bytes of one weight as the plan keeps it: tables are kept like matrices."""
    return plan.table(torch.zeros(1, 1)).element_size()


def kept_bytes(model: Transformer) -> int:
    """Return the bytes of all weights as the plan keeps them: matrices, the table, vectors.

    What kernels pad or lay out anew is not counted: it is what a measurement finds beside this.
    """
    config, plan = model.config, model.plan
    given = torch.zeros(1, 1)
    shared = config.tied and plan.table(given).data_ptr() == given.data_ptr()  # with the head
    rows = config.vocabulary - (model.vocabulary if shared else 0)  # beside those of the head
    vectors = sum(shape[0] for shape in expected_shapes(config).values() if len(shape) == 1)
    matrices = matrix_weights(config, model.vocabulary)
    return (matrices + rows * config.width) * weight_size(plan) + vectors * plan.dtype.itemsize


def draft_bytes(drafter: Drafter | None, target: Transformer) -> int:
    """Return the bytes of weights that drafting one token reads; a look-up reads none.

    Of a small model with a head of its own, the embedding is counted as well.
    """
    size, plan = weight_size(target.plan), target.plan
    if drafter is None or drafter.info.kind == "ngram":
        return 0
    info = drafter.info
    if info.kind == "early":
        return size * matrix_weights(replace(target.config, layers=info.layers), target.vocabulary)
    scored = info.vocabulary * info.width if info.kind in ("head", "small") else 0  # R rows
    if info.kind == "small":  # its projection back to D is a part of those rows
        scored -= info.width * target.config.width
    if info.kind in ("head", "small"):
        size = plan.draft_weight_bytes or size
    return size * (info.parameters + scored)


def cache_bytes(config: ModelConfig, positions: int, dtype: torch.dtype) -> int:
    """Return the bytes of keys and values of so many positions."""
    return 2 * positions * config.layers * config.kv_heads * config.head_dim * dtype.itemsize
