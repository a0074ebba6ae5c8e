"""Tensors of a GGUF file under their Hugging Face names, shapes and values.

Undoes what llama.cpp's converter did to a model: other names, for architecture llama the rows of
the query and key projections reordered for interleaved rotary positions, and rotary frequencies
that are stored as divisors. Knows no device and no transformer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import gguf.quants
import numpy as np
import torch
from gguf.constants import GGMLQuantizationType

from engine.models.family import unsupported
from engine.models.formats.config_gguf import config_from_gguf
from engine.models.formats.files import read_span
from engine.models.formats.gguf_header import GgufHeader, TensorSpan, read_header
from engine.models.layout import EMBEDDING, HEAD, NORM, Shape, check_layout, settle_head
from engine.models.rope_scaling import RopeScaling

if TYPE_CHECKING:
    from pathlib import Path

    from engine.models.config import ModelConfig

DIVISORS = "rope_freqs.weight"
_OUTSIDE = {"token_embd.weight": EMBEDDING, "output_norm.weight": NORM, "output.weight": HEAD}
_LAYER = re.compile(r"blk\.(\d+)\.(\w+)\.(weight|bias)")
_INSIDE = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_PLAIN = (GGMLQuantizationType.F32, GGMLQuantizationType.F16, GGMLQuantizationType.BF16)


@dataclass(frozen=True)
class GgufSource:
    """A checked GGUF file; tensors are read when asked for."""

    path: Path
    config: ModelConfig
    spans: dict[str, TensorSpan]  # by Hugging Face name
    notes: list[str] = field(default_factory=list)

    def shape(self, name: str) -> Shape:
        """Return a tensor's shape, rows first."""
        return self.spans[name].shape

    def read(self, name: str) -> torch.Tensor:
        """Read a tensor: float32, or the file's own float16 or bfloat16."""
        return self._in_halves(name, read_tensor(self.path, self.spans[name]))

    def _in_halves(self, name: str, tensor: torch.Tensor) -> torch.Tensor:
        """Undo llama.cpp's permutation of query and key rows (pairs back into halves)."""
        if self.config.architecture != "llama":  # the others' rows are in halves already
            return tensor
        part = name.rpartition(".")[0]
        if part.endswith("q_proj"):
            heads = self.config.heads
        elif part.endswith("k_proj"):
            heads = self.config.kv_heads
        else:
            return tensor
        pairs = tensor.reshape(heads, self.config.head_dim // 2, 2, *tensor.shape[1:])
        return pairs.transpose(1, 2).reshape(tensor.shape)

    def close(self) -> None:
        """Nothing is held open."""


def open_gguf(path: Path) -> GgufSource:
    """Check a GGUF file against its own metadata; no tensor of the model is allocated.

    Raises
    ------
    DraftscopeError
        A sentence for what is wrong or not supported.
    """
    header = read_header(path)
    embedding = header.tensors.get("token_embd.weight")
    rows = embedding.shape[0] if embedding else 0
    config = config_from_gguf(header.metadata, rows, header.tensors)
    config = _with_divisors(path, config, header.tensors.get(DIVISORS))
    spans = _renamed(header)
    shapes = {name: span.shape for name, span in spans.items()}
    config, _ = settle_head(config, shapes, lambda: False)  # in GGUF a missing head means tied
    check_layout(config, shapes, path.name)
    return GgufSource(path, config, spans, [*config.notes, *_notes(spans)])


def read_tensor(path: Path, span: TensorSpan) -> torch.Tensor:
    """Read a tensor as it is stored: float32, or the file's own float16 or bfloat16."""
    raw = read_span(path, span.offset, span.size)
    if span.kind is GGMLQuantizationType.BF16:
        tensor = torch.from_numpy(raw.view(np.int16)).view(torch.bfloat16)
    elif span.kind is GGMLQuantizationType.F16:
        tensor = torch.from_numpy(raw.view(np.float16))
    elif span.kind is GGMLQuantizationType.F32:
        tensor = torch.from_numpy(raw.view(np.float32))
    else:
        rows = raw.reshape(-1, len(raw) // max(1, int(np.prod(span.shape[:-1]))))
        with np.errstate(all="ignore"):  # what is not finite is refused where it is asked for
            tensor = torch.from_numpy(gguf.quants.dequantize(rows, span.kind))
    return tensor.reshape(span.shape)


def _with_divisors(path: Path, config: ModelConfig, span: TensorSpan | None) -> ModelConfig:
    """Read the rotary frequencies that a file of architecture llama may bring (Llama 3)."""
    if span is None or config.architecture != "llama":
        return config  # elsewhere it is a surplus tensor, refused as such
    if config.scaling is not None:
        raise unsupported(f"{DIVISORS} beside rotary scaling {config.scaling.kind}")
    if span.shape != (config.rotary_dim // 2,):
        raise unsupported(f"{DIVISORS} of shape {span.shape} with heads of {config.head_dim}")
    divisors = read_tensor(path, span).double()
    if not bool((divisors > 0).all() & divisors.isfinite().all()):
        raise unsupported(f"{DIVISORS} with numbers that are not positive")
    return replace(config, scaling=RopeScaling("divisors", divisors=tuple(divisors.tolist())))


def _renamed(header: GgufHeader) -> dict[str, TensorSpan]:
    spans: dict[str, TensorSpan] = {}
    for name, span in header.tensors.items():
        layer = _LAYER.fullmatch(name)
        if layer and layer[2] in _INSIDE:
            spans[f"model.layers.{int(layer[1])}.{_INSIDE[layer[2]]}.{layer[3]}"] = span
        elif name != DIVISORS or header.metadata.get("general.architecture") != "llama":
            spans[_OUTSIDE.get(name, name)] = span
    return spans


def _notes(spans: dict[str, TensorSpan]) -> list[str]:
    matrices = {span.kind for span in spans.values() if len(span.shape) > 1}
    quantised = sorted(kind.name for kind in matrices if kind not in _PLAIN)
    notes = []
    if quantised:
        names = " and ".join(quantised)
        notes.append(f"The weights are stored quantised ({names}) and dequantised when read.")
    if GGMLQuantizationType.F16 in matrices:
        notes.append("Weights are stored as float16 and widened to float32 when read.")
    return notes
