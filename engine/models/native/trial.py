"""A built library tried in a process of its own: is it right, is it faster? Prints one record.

`python -m engine.models.native.trial LIBRARY`. Models are random: one of a small model's usual
shape, timed in turn under both plans, and odd ones that take every way through the library.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import torch

from engine.acceptance import residual_law
from engine.cache import KVCache
from engine.models.attention_many import LibraryAttention, TorchAttention
from engine.models.config import ModelConfig
from engine.models.native.build import Record
from engine.models.native.library import Library
from engine.models.plans.compiled import CompiledPlan
from engine.models.plans.eager import EagerPlan
from engine.models.plans.packed import PackedPlan
from engine.models.transformer import Transformer
from engine.sampling import Sampling, draw
from engine.scans import TorchScans

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from engine.laws import Lawmaker
    from engine.models.plans.protocol import Plan
    from engine.scans import Scans

_CONTEXT = 40  # tokens read before passes are timed
_REPEATS = 15
_USUAL = ModelConfig(
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
_SMALL = replace(
    _USUAL, vocabulary=300, width=56, layers=2, heads=4, kv_heads=2, head_dim=128, mlp_width=72
)
# every way through the library: heads of each kind, biases, norms, windows, what is no whole vector
_ODD = (
    _SMALL,
    replace(_SMALL, head_dim=64, heads=6, kv_heads=1, qkv_bias=True, head_norms=True),
    replace(_SMALL, head_dim=32, window=300, windowed=(1,)),
    replace(_SMALL, head_dim=20, rotary_width=12, output_bias=True, mlp_bias=True, width=55),
)
_ODD_LENGTH = 600  # over several blocks of attention, and beyond the window


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
        "q_norm": (head,),
        "k_norm": (head,),
    }

    def tensor(name: str) -> Tensor:
        *_, part, kind = name.split(".")
        shape = shapes.get(part, (config.width,))
        generator = torch.Generator().manual_seed(seed + sum(map(ord, name)))
        if kind == "bias":
            return torch.randn(shape[0], generator=generator) / 10
        noise = torch.randn(shape, generator=generator)
        return 1.0 + noise / 10 if len(shape) == 1 else (noise / shape[-1] ** 0.5).half().float()

    return tensor


class _Pair:
    """One model under two plans, each with a cache of its own."""

    def __init__(self, config: ModelConfig, plans: tuple[Plan, Plan]) -> None:
        self.models = [Transformer(config, weights(config), plan) for plan in plans]
        self.caches = [KVCache(model.new_pool()) for model in self.models]

    def difference(self, ids: list[int]) -> Tensor:
        """Run a pass under both; return the largest difference of logits, NaN if any is none.

        The first runs it whole as well, and again from a cache that is as it was before.
        """
        (ours, model), (cache, other) = self.models, self.caches
        length, whole = cache.length, ours.whole
        assert whole is not None, "the compiled plan runs models whole"
        at_once = whole.score(ids, cache, last=len(ids)).scores
        cache.truncate(length)
        expected = model.logits(model.forward(ids, other))
        found = torch.stack((at_once, ours.logits(ours.forward(ids, cache))))
        return (found - expected).abs().max()


@torch.inference_mode()
def trial(library: Library) -> Record:
    """Compare the library's passes with another plan's, and what it sees along rows."""
    compiled, eager = CompiledPlan(library), EagerPlan(torch.device("cpu"))
    other: Plan = PackedPlan() if PackedPlan.available() else eager
    usual = _Pair(_USUAL, (compiled, other))
    ids = [(17 * i) % _USUAL.vocabulary for i in range(_CONTEXT)]
    found = [
        usual.difference(ids[begin:end])  # passes of several widths
        for begin, end in ((0, 1), (1, 4), (4, 13), (13, _CONTEXT))
    ]
    for config in _ODD:
        pair = _Pair(config, (compiled, eager))
        found += [
            pair.difference([(7 * i) % config.vocabulary for i in range(begin, end)])
            for begin, end in ((0, 250), (250, 259), (259, _ODD_LENGTH - 1), (0, 1))
        ]
    found += [_seen_apart(compiled.scans), _laws_apart(compiled.laws)]
    found.append(_bytes_apart(compiled))
    found += [_attention_apart(library, kind) for kind in (torch.float32, torch.bfloat16)]
    # torch's maximum of what holds a NaN is NaN
    return Record(over_packed=_over(usual, ids), difference=float(torch.stack(found).max()))


def _seen_apart(scans: Scans) -> Tensor:
    """Return by how much what is seen along rows differs from what torch sees; inf if in kind."""
    torchs = TorchScans()
    rows = 5 * torch.randn(3, 1003, generator=torch.Generator().manual_seed(1))
    ours, theirs = scans.look(rows, 8), torchs.look(rows, 8)
    described = scans.describe(theirs.law, 8)
    alike = (
        scans.largest(rows) == torchs.largest(rows)
        and torch.equal(ours.top, theirs.top)
        and torch.equal(described.top, theirs.top)
    )
    if not alike:
        return torch.tensor(float("inf"))
    apart = [ours.law - theirs.law, ours.entropies - theirs.entropies]
    apart.append(described.entropies - theirs.entropies)
    return torch.cat([part.flatten() for part in apart]).abs().max()


def _laws_apart(laws: Lawmaker) -> Tensor:
    """Return by how much laws and residuals differ from torch's; inf if a draw does."""
    scores = 5 * torch.randn(2, 1003, generator=torch.Generator().manual_seed(2))
    ours, expected = laws.law(scores, Sampling(0.7), "target"), torch.softmax(scores / 0.7, -1)
    left = laws.residual(expected, expected.flip(0), 0, 0)[0]
    apart = [ours - expected, left - residual_law(expected[0], expected[1])]
    drawn = [laws.draw(expected, 1, u / 9)[0] == draw(expected[1], u / 9) for u in range(9)]
    if not all(drawn):
        return torch.tensor(float("inf"))
    return torch.cat([part.flatten() for part in apart]).abs().max()


def _bytes_apart(plan: CompiledPlan) -> Tensor:
    """Return by how much a drafter's product differs from torch's, of the weight as rounded."""
    draw_from = torch.Generator().manual_seed(4)
    weight, x = (torch.randn(n, 55, generator=draw_from) / 8 for n in (77, 3))
    unit = weight.abs().amax(dim=1, keepdim=True) / 127
    expected = x @ ((weight / unit).round() * unit).T
    return (plan.draft_linear(weight)(x) - expected).abs().max()


def _attention_apart(library: Library, kind: torch.dtype) -> Tensor:
    """Return by how much attention of many sequences differs from torch's, with odd heads."""
    draw_from = torch.Generator().manual_seed(3)
    places, room, window = torch.tensor([0, 3, 255, 256, 299]), 300, 270
    queries = torch.randn(len(places), 6, 20, generator=draw_from)
    shape = (len(places), 2, room, 20)
    keys, values = (torch.randn(shape, generator=draw_from).to(kind) for _ in range(2))
    found = LibraryAttention(library, places, room).attend(queries, keys, values, window)
    other = TorchAttention(places, room).attend(queries, keys.float(), values.float(), window)
    return (found - other).abs().max()


def _over(pair: _Pair, ids: list[int]) -> float:
    """Return the first plan's time of a pass on one token over the second's."""
    times: list[list[int]] = [[], []]
    for _ in range(_REPEATS):
        for model, cache, taken in zip(pair.models, pair.caches, times, strict=True):
            length, started = cache.length, time.perf_counter_ns()
            float(model.logits(model.forward(ids[:1], cache))[0, 0])
            taken.append(time.perf_counter_ns() - started)
            cache.truncate(length)
    # the quickest of each: what else the machine does slows one plan more than the other
    first, second = map(min, times)
    return round(first / second, 3)


if __name__ == "__main__":
    print(msgspec.json.encode(trial(Library(Path(sys.argv[1])))).decode())
