"""Reading a trained head: a safetensors file, checked against its target before use.

Knows the file's layout (the README beside the bundled head gives it) and no drafting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from safetensors import SafetensorError, safe_open

from engine.errors import DraftscopeError
from engine.models.transformer import Block

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor

    from engine.models.plans import Linear
    from engine.models.transformer import Transformer


@dataclass(frozen=True)
class HeadWeights:
    """The head's parts, ready under the target's plan."""

    vocabulary: Tensor  # [R], the target's ids that the head scores
    hidden_norm: Tensor  # [D]
    embedding_norm: Tensor  # [D]
    output_norm: Tensor  # [D]
    fuse: Linear  # [D, 2 D]
    block: Block
    head: Linear  # [R, D], rows of the target's own table
    parameters: int  # trained numbers in the file


def load_head(path: Path, target: Transformer) -> HeadWeights:
    """Read and check a head for this target.

    Raises
    ------
    DraftscopeError
        If the file is no head, or one for a target of another width or vocabulary.
    """
    tensors = _read(path)
    shapes = _expected(tensors, target)
    for name, shape in shapes.items():
        if name not in tensors:
            raise DraftscopeError(f"{path.name} is no head for a target: it lacks {name!r}.")
        if tuple(tensors[name].shape) != shape:
            raise DraftscopeError(
                f"{path.name} does not fit this target: {name!r} has the shape "
                f"{tuple(tensors[name].shape)} where {shape} is needed. Choose the head that was "
                "trained for this target."
            )
    ids = tensors["vocabulary"].long()
    if int(ids.min()) < 0 or int(ids.max()) >= target.vocabulary:
        raise DraftscopeError(
            f"{path.name} drafts ids up to {int(ids.max())}, beyond this target's vocabulary of "
            f"{target.vocabulary}; choose the head that was trained for this target."
        )
    return _assemble(tensors, ids, target)


def _read(path: Path) -> dict[str, Tensor]:
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # not a dict
    except (SafetensorError, OSError) as error:
        raise DraftscopeError(
            f"{path.name} could not be read as safetensors ({error}); fetch it again."
        ) from error


def _expected(tensors: dict[str, Tensor], target: Transformer) -> dict[str, tuple[int, ...]]:
    """Return the shapes that a head for this target has."""
    config = target.config
    width, heads, kv_heads = config.width, config.heads, config.kv_heads
    inner = (
        tensors["mlp.down.weight"].shape[-1] if "mlp.down.weight" in tensors else config.mlp_width
    )
    scored = tensors["vocabulary"].shape[0] if "vocabulary" in tensors else 0
    return {
        "vocabulary": (scored,),
        "fuse.weight": (width, 2 * width),
        "hidden_norm.weight": (width,),
        "embedding_norm.weight": (width,),
        "attention_norm.weight": (width,),
        "mlp_norm.weight": (width,),
        "output_norm.weight": (width,),
        "attention.qkv.weight": ((heads + 2 * kv_heads) * config.head_dim, width),
        "attention.output.weight": (width, heads * config.head_dim),
        "mlp.gate_up.weight": (2 * inner, width),
        "mlp.down.weight": (width, inner),
    }


def _assemble(tensors: dict[str, Tensor], ids: Tensor, target: Transformer) -> HeadWeights:
    config, plan = target.config, target.plan

    def vector(name: str) -> Tensor:
        return tensors[name].to(device=plan.device, dtype=plan.dtype)

    def linear(name: str) -> Linear:
        return plan.linear(tensors[name].to(torch.promote_types(plan.dtype, torch.float32)))

    block = Block(
        index=0,
        heads=config.heads,
        kv_heads=config.kv_heads,
        head_dim=config.head_dim,
        epsilon=config.rms_epsilon,
        attention_norm=vector("attention_norm.weight"),
        mlp_norm=vector("mlp_norm.weight"),
        qkv=linear("attention.qkv.weight"),
        output=linear("attention.output.weight"),
        gate_up=linear("mlp.gate_up.weight"),
        down=linear("mlp.down.weight"),
    )
    trained = sum(tensor.numel() for name, tensor in tensors.items() if name != "vocabulary")
    return HeadWeights(
        vocabulary=ids.to(plan.device),
        hidden_norm=vector("hidden_norm.weight"),
        embedding_norm=vector("embedding_norm.weight"),
        output_norm=vector("output_norm.weight"),
        fuse=linear("fuse.weight"),
        block=block,
        head=plan.linear(target.embed(ids.tolist())),
        parameters=trained,
    )
