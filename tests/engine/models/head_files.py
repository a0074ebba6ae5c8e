"""A small head for the tiny target, as a real file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from safetensors.torch import save_file

if TYPE_CHECKING:
    from pathlib import Path

    from engine.models.config import ModelConfig

SCORED = 40


def head_tensors(config: ModelConfig, seed: int = 0) -> dict[str, torch.Tensor]:
    """Draw the tensors of a head; the README beside the bundled head gives the layout."""
    width, inner = config.width, 48
    rows = config.heads * config.head_dim
    both = 2 * config.kv_heads * config.head_dim
    shapes = {
        "fuse.weight": (width, 2 * width),
        "hidden_norm.weight": (width,),
        "embedding_norm.weight": (width,),
        "attention_norm.weight": (width,),
        "mlp_norm.weight": (width,),
        "output_norm.weight": (width,),
        "attention.qkv.weight": (rows + both, width),
        "attention.output.weight": (width, rows),
        "mlp.gate_up.weight": (2 * inner, width),
        "mlp.down.weight": (width, inner),
    }
    draw = torch.Generator().manual_seed(seed)
    tensors = {
        name: torch.randn(shape, generator=draw).half() if len(shape) > 1 else torch.ones(shape)
        for name, shape in shapes.items()
    }
    tensors["vocabulary"] = torch.arange(3, 3 + SCORED, dtype=torch.int32)
    return tensors


def write_head(path: Path, config: ModelConfig) -> Path:
    """Write a head for a target of this config."""
    save_file(head_tensors(config), path)
    return path
