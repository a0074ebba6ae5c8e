"""Drafters in training, and the same as they run: from their weights to a file and a drafter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from engine.drafters.metadata import HeadShape, SmallShape
from engine.drafters.protocol import Context, DraftRequest
from engine.drafters.trained import make_trained
from engine.sampling import Sampling
from engine.sequence import Sequence
from engine.training.head_model import HeadModel
from engine.training.small_model import SmallModel
from tests.engine.drafters.making import write_for

if TYPE_CHECKING:
    from pathlib import Path

    from engine.drafters.protocol import Drafter, Proposal
    from engine.loading import LoadedModel
    from engine.training.opened import OpenedTarget

HEADS = {
    "head": HeadShape(1, 40),
    "head of two blocks": HeadShape(2, 24),
    "tapped head": HeadShape(1, 40, (2,)),
    "tapped head of two blocks": HeadShape(2, 24, (1, 3)),
}
SMALL = SmallShape(2, 24, 3, 1, 8, 40, 5000.0, 512)
IDS = torch.cat((torch.arange(20, 130, 2), torch.arange(140, 258, 3)))


@torch.no_grad()
def scattered(target: OpenedTarget, shape: HeadShape | SmallShape) -> HeadModel | SmallModel:
    """Make a drafter with random weights, norms too, that a file's float16 holds exactly."""
    kind = HeadModel if isinstance(shape, HeadShape) else SmallModel
    made = kind(target.model, shape)  # type: ignore[arg-type]  # of its own kind
    draw = torch.Generator().manual_seed(7)
    for weight in made.parameters():
        noise = torch.randn(weight.shape, generator=draw)
        size = 0.6 * weight.shape[-1] ** -0.5 if weight.dim() > 1 else 0.3
        weight.copy_((noise * size + (0.0 if weight.dim() > 1 else 1.0)).half())
    for buffer in made.buffers():
        buffer.fill_(4.0)  # a power of two: the file's products are exact
    return made


def running(
    made: HeadModel | SmallModel, target: LoadedModel, path: Path, ids: torch.Tensor = IDS
) -> Drafter:
    """Write a drafter in training into its file, and load that as what drafts."""
    write_for(path, target, made.shape, {**made.tensors(), "vocabulary": ids})
    return make_trained(f"trained:{path}", target)


@torch.inference_mode()
def drafted(
    target: LoadedModel,
    drafter: Drafter,
    text: list[int],
    k: int,
    heat: float,
) -> Proposal:
    """Draft from scratch after a text."""
    taps = getattr(drafter, "taps", ())
    sequence = Sequence(target.transformer, target.transformer.new_pool(), text, taps)
    sequence.prefill()
    drafter.begin()
    context = Context(sequence.tokens, sequence.hidden, sequence.cache, sequence=sequence)
    uniforms = [(0.37 + 0.61 * i) % 1.0 for i in range(k)]
    found = drafter.propose(context, DraftRequest(k, Sampling(heat), uniforms))
    sequence.close()
    assert len(found.tokens) == k  # type: ignore[union-attr]  # nothing was queued
    return found  # type: ignore[return-value]
