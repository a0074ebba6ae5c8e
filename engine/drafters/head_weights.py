"""Reading a trained head: a safetensors file, checked against its target before use.

Knows the file's layout (the README beside the bundled head gives it) and no drafting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from engine.errors import DraftscopeError, short
from engine.models.blocks import Block
from engine.models.formats.safetensors_header import TYPE_BYTES, read_safetensors_header
from engine.models.formats.safetensors_reader import read_stored
from engine.models.formats.weights import check_numbers
from engine.models.rotary import Rotary

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor

    from engine.models.layout import Shape
    from engine.models.plans.protocol import Linear, Stack
    from engine.models.transformer import Transformer

ID_BYTES = {"I64": 8, "I32": 4}


@dataclass(frozen=True)
class HeadWeights:
    """The head's parts, ready under the target's plan."""

    vocabulary: Tensor  # [R], the target's ids that the head scores, in order
    hidden_norm: Tensor  # [D]
    embedding_norm: Tensor  # [D]
    output_norm: Tensor  # [D]
    fuse: Linear  # [D, 2 D]
    block: Block
    stack: Stack  # of the one block
    head: Linear  # [R, D], rows of the target's own table
    parameters: int  # trained numbers in the file


def load_head(path: Path, target: Transformer) -> HeadWeights:
    """Read and check a head for this target.

    Raises
    ------
    DraftscopeError
        If the file is no head, or one for a target of another width or vocabulary.
    """
    tensors = _read(path, target)
    # in order: a draw runs through a law by ids, and the lowest id wins a tie; nothing in the file
    # but the list itself hangs on its order, since the head's rows are the target's own
    ids = tensors["vocabulary"].long().sort().values
    if int(ids.min()) < 0 or int(ids.max()) >= target.vocabulary:
        raise DraftscopeError(
            f"{path.name} drafts ids from {int(ids.min())} to {int(ids.max())}, beyond this "
            f"target's vocabulary of {target.vocabulary}; choose the head that was trained for "
            "this target."
        )
    if len(set(ids.tolist())) != len(ids):
        raise DraftscopeError(
            f"{path.name} is damaged: it lists an id of its vocabulary twice. Fetch it again."
        )
    return _assemble(tensors, ids, target)


def _read(path: Path, target: Transformer) -> dict[str, Tensor]:
    """Read the tensors of a head whose header fits the target; nothing is read before that."""
    header = read_safetensors_header(path, {**TYPE_BYTES, **ID_BYTES})
    shapes = _expected({name: stored.shape for name, stored in header.items()}, target)
    for name, shape in shapes.items():
        stored = header.get(name)
        if stored is None or (stored.kind in ID_BYTES) != (name == "vocabulary"):
            raise DraftscopeError(f"{path.name} is no head for a target: it lacks {name!r}.")
        if stored.shape != shape or 0 in shape:
            raise DraftscopeError(
                f"{path.name} does not fit this target: {name!r} has the shape "
                f"{stored.shape} where {shape} is needed. Choose the head that was "
                "trained for this target."
            )
    surplus = next((name for name in header if name not in shapes), None)
    if surplus is not None:
        raise DraftscopeError(
            f"{path.name} is no head for a target: it holds {short(surplus)!r}, which no head has."
        )
    tensors = {name: read_stored(path, stored) for name, stored in header.items()}
    for name in shapes.keys() - {"vocabulary"}:
        check_numbers(tensors[name].float(), name, path.name)
    return tensors


def _expected(found: dict[str, Shape], target: Transformer) -> dict[str, Shape]:
    """Return the shapes that a head for this target has."""
    config = target.config
    width, heads, kv_heads = config.width, config.heads, config.kv_heads
    inner = (found.get("mlp.down.weight") or (config.mlp_width,))[-1]
    scored = (found.get("vocabulary") or (0,))[0]
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
    rotary = Rotary(config.head_dim, config.rope_base, plan.dtype, plan.device)
    trained = sum(tensor.numel() for name, tensor in tensors.items() if name != "vocabulary")
    return HeadWeights(
        vocabulary=ids.to(plan.device),
        hidden_norm=vector("hidden_norm.weight"),
        embedding_norm=vector("embedding_norm.weight"),
        output_norm=vector("output_norm.weight"),
        fuse=linear("fuse.weight"),
        block=block,
        stack=plan.stack((block,), rotary),
        head=plan.linear(target.embed(ids.tolist())),
        parameters=trained,
    )
