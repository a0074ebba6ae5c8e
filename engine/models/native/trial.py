"""A built library tried in a process of its own: is it right, is it faster? Prints one record.

`python -m engine.models.native.trial LIBRARY`. The model is random and a few layers deep, of a
small model's usual shape: what is compared are the plans, in turn, on the same weights.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import torch

from engine.cache import KVCache
from engine.models.config import ModelConfig
from engine.models.native.build import Record
from engine.models.native.library import Library
from engine.models.plans.compiled import CompiledPlan
from engine.models.plans.eager import EagerPlan
from engine.models.plans.packed import PackedPlan
from engine.models.transformer import Transformer

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from engine.models.plans.protocol import Plan

_CONTEXT = 40  # tokens read before passes are timed
_REPEATS = 15
_CONFIG = ModelConfig(
    architecture="llama",
    vocabulary=4096,
    width=576,
    layers=6,
    heads=9,
    kv_heads=3,
    head_dim=64,
    mlp_width=1536,
    rms_epsilon=1e-5,
    rope_base=10000.0,
    context_length=2048,
    tied=True,
    bos_token=None,
    end_tokens=(),
)


def weights(config: ModelConfig, seed: int = 7) -> Callable[[str], Tensor]:
    """Return a function from a weight's name to random numbers, the same ones for every plan."""
    inner, head = config.mlp_width, config.head_dim
    shapes = {
        "embed_tokens": (config.vocabulary, config.width),
        "q_proj": (config.heads * head, config.width),
        "k_proj": (config.kv_heads * head, config.width),
        "v_proj": (config.kv_heads * head, config.width),
        "o_proj": (config.width, config.heads * head),
        "gate_proj": (inner, config.width),
        "up_proj": (inner, config.width),
        "down_proj": (config.width, inner),
    }

    def tensor(name: str) -> Tensor:
        shape = shapes.get(name.split(".")[-2], (config.width,))
        generator = torch.Generator().manual_seed(seed + sum(map(ord, name)))
        noise = torch.randn(shape, generator=generator)
        return 1.0 + noise / 10 if len(shape) == 1 else noise / shape[-1] ** 0.5

    return tensor


@torch.inference_mode()
def trial(library: Library) -> Record:
    """Compare the library's passes with another plan's."""
    other: Plan = PackedPlan() if PackedPlan.available() else EagerPlan(torch.device("cpu"))
    models = [
        Transformer(_CONFIG, weights(_CONFIG), plan) for plan in (CompiledPlan(library), other)
    ]
    caches = [KVCache(model.new_pool()) for model in models]
    ids = [(17 * i) % _CONFIG.vocabulary for i in range(_CONTEXT)]
    difference = 0.0
    for begin, end in ((0, 1), (1, 4), (4, 13), (13, _CONTEXT)):  # passes of several widths
        ours, theirs = (
            model.logits(model.forward(ids[begin:end], cache))
            for model, cache in zip(models, caches, strict=True)
        )
        difference = max(difference, float((ours - theirs).abs().max()))
    times: list[list[int]] = [[], []]
    for _ in range(_REPEATS):
        for model, cache, taken in zip(models, caches, times, strict=True):
            started = time.perf_counter_ns()
            float(model.logits(model.forward(ids[:1], cache))[0, 0])
            taken.append(time.perf_counter_ns() - started)
            cache.truncate(_CONTEXT)
    # the quickest of each: what else the machine does slows one plan more than the other
    compiled, packed = map(min, times)
    return Record(over_packed=round(compiled / packed, 3), difference=difference)


if __name__ == "__main__":
    print(msgspec.json.encode(trial(Library(Path(sys.argv[1])))).decode())
