"""Drafters with random weights for any tiny target, as real files of the trained ones' format."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from engine.check.context import law_after
from engine.drafters.file import write_drafter
from engine.drafters.layout import head_shapes, small_shapes
from engine.drafters.metadata import (
    DrafterMetadata,
    HeadShape,
    HeldOut,
    Portion,
    SmallShape,
    Trained,
)
from engine.drafters.names import HEAD, SMALL
from engine.drafters.trained import make_trained
from engine.models.fingerprint import Fingerprint
from engine.sampling import Sampling

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from torch import Tensor

    from engine.drafters.metadata import Shape
    from engine.drafters.protocol import Drafter
    from engine.loading import LoadedModel
    from engine.models.config import ModelConfig

SCORED = 40
FIRST = 97  # the ids are those of letters and what follows: tiny texts hold them
NOWHERE = Fingerprint("0" * 64, "1" * 64, "2" * 64)
PLAIN_HEAD = HeadShape(blocks=1, inner=48)
SHAPES: dict[str, Shape] = {
    "head": PLAIN_HEAD,
    "head of two blocks": HeadShape(blocks=2, inner=40),
    "tapped head": HeadShape(blocks=1, inner=48, taps=(1,)),
    "tapped head of two blocks": HeadShape(blocks=2, inner=32, taps=(1,)),
    "small": SmallShape(2, 24, 3, 1, 8, 40, 5000.0, 512),
}


def described(
    shape: Shape, fingerprint: Fingerprint = NOWHERE, name: str = "made", target: str = "tiny"
) -> DrafterMetadata:
    """What a drafter of this shape says of itself."""
    return DrafterMetadata(
        kind=HEAD if isinstance(shape, HeadShape) else SMALL,
        name=name,
        target=target,
        fingerprint=fingerprint,
        shape=shape,
        corpus=(Portion("noise", 1000), Portion("letters", 24)),
        trained=Trained(tokens=2048, steps=7, seconds=1.5, seed=3, device="cpu"),
        held_out=HeldOut(greedy=(0.5, 0.25), overlap=(0.6, 0.55), tokens=400, c=0.1),
        licence="Apache-2.0",
    )


def drafter_tensors(
    shape: Shape, config: ModelConfig, seed: int = 0, ids: Tensor | None = None
) -> dict[str, Tensor]:
    """Draw the tensors of a drafter; matrices keep the size of what they read, norms are odd."""
    if ids is None:
        ids = torch.arange(FIRST, FIRST + SCORED, dtype=torch.int32)
    if isinstance(shape, HeadShape):
        queries = config.heads * config.head_dim
        qkv = queries + 2 * config.kv_heads * config.head_dim
        shapes = head_shapes(shape, config.width, queries, qkv, len(ids))
    else:
        shapes = small_shapes(shape, config.width, len(ids))
    draw = torch.Generator().manual_seed(seed)
    tensors = {
        name: (1.6 * torch.randn(size, generator=draw) * size[-1] ** -0.5)
        if len(size) > 1
        else 0.5 + torch.rand(size, generator=draw)
        for name, size in shapes.items()
    }
    tensors = {name: tensor.half() for name, tensor in tensors.items()}
    tensors["vocabulary"] = ids
    return tensors


def write_head(path: Path, config: ModelConfig, shape: HeadShape = PLAIN_HEAD) -> Path:
    """Write a head for a target of this config, of which nothing else is known."""
    write_drafter(path, described(shape), drafter_tensors(shape, config))
    return path


def write_for(
    path: Path,
    target: LoadedModel,
    shape: Shape,
    tensors: Mapping[str, Tensor] | None = None,
    seed: int = 0,
) -> Path:
    """Write a drafter for a loaded target."""
    metadata = described(shape, target.fingerprint, path.stem, target.info.name)
    if tensors is None:
        tensors = drafter_tensors(shape, target.transformer.config, seed)
    write_drafter(path, metadata, tensors)
    return path


def made(target: LoadedModel, kind: str, folder: Path) -> Drafter:
    """Make a drafter of one of `SHAPES`, from its file."""
    path = folder / f"{kind.replace(' ', '-')}.safetensors"
    if not path.exists():
        write_for(path, target, SHAPES[kind])
    return make_trained(f"trained:{path}", target)


def flat(target: LoadedModel, kind: str, folder: Path, prompt: list[int]) -> Drafter:
    """Make a drafter that is unsure among the ids that the target is likely to go on with."""
    pool = target.transformer.new_pool()

    def likely(*output: int) -> list[int]:
        law = law_after(target, pool, prompt, output, Sampling(1.0))
        return sorted(range(len(law)), key=law.__getitem__)[-9:]

    firsts = likely()
    ids = sorted({*firsts, *likely(firsts[-1])})
    config = target.transformer.config
    tensors = drafter_tensors(SHAPES[kind], config, ids=torch.tensor(ids, dtype=torch.int32))
    tensors["output_norm.weight"] *= 0.1
    path = write_for(folder / "flat.safetensors", target, SHAPES[kind], tensors)
    return make_trained(f"trained:{path}", target)
