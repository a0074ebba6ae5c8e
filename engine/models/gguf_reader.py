"""Tensors of a GGUF file under their Hugging Face names, shapes and values.

Undoes what llama.cpp's converter did to a Llama model: other names, and the rows of the query and
key projections reordered for interleaved rotary positions. Knows no device and no transformer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import gguf.quants
import numpy as np
import torch
from gguf.constants import GGMLQuantizationType

from engine.errors import DraftscopeError
from engine.models.config import SUPPORTED, ModelConfig, config_from_gguf
from engine.models.files import unreadable
from engine.models.gguf_header import GgufHeader, TensorSpan, read_header
from engine.models.layout import EMBEDDING, HEAD, NORM, Shape, check_layout, settle_head

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_OUTSIDE = {"token_embd.weight": EMBEDDING, "output_norm.weight": NORM, "output.weight": HEAD}
_LAYER = re.compile(r"blk\.(\d+)\.(\w+)\.weight")
_INSIDE = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
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
        span = self.spans[name]
        raw = self._bytes(span)
        if span.kind is GGMLQuantizationType.BF16:
            tensor = torch.from_numpy(raw.view(np.int16)).view(torch.bfloat16)
        elif span.kind is GGMLQuantizationType.F16:
            tensor = torch.from_numpy(raw.view(np.float16))
        elif span.kind is GGMLQuantizationType.F32:
            tensor = torch.from_numpy(raw.view(np.float32))
        else:
            rows = raw.reshape(-1, len(raw) // max(1, int(np.prod(span.shape[:-1]))))
            tensor = torch.from_numpy(gguf.quants.dequantize(rows, span.kind))
        return self._in_halves(name, tensor.reshape(span.shape))

    def _bytes(self, span: TensorSpan) -> NDArray[np.uint8]:
        try:
            with self.path.open("rb") as file:
                raw = np.fromfile(file, dtype=np.uint8, count=span.size, offset=span.offset)
        except OSError as error:
            raise unreadable(self.path, error) from error
        if len(raw) != span.size:
            raise DraftscopeError(f"{self.path.name} has changed while it was read. Open it again.")
        return raw

    def _in_halves(self, name: str, tensor: torch.Tensor) -> torch.Tensor:
        """Undo llama.cpp's permutation of query and key rows (pairs back into halves)."""
        if name.endswith("q_proj.weight"):
            heads = self.config.heads
        elif name.endswith("k_proj.weight"):
            heads = self.config.kv_heads
        else:
            return tensor
        rows, width = tensor.shape
        pairs = tensor.reshape(heads, rows // heads // 2, 2, width)
        return pairs.transpose(1, 2).reshape(rows, width)

    def close(self) -> None:
        """Nothing is held open."""


def open_gguf(path: Path) -> GgufSource:
    """Check a GGUF file against its own metadata; no tensor is allocated.

    Raises
    ------
    DraftscopeError
        A sentence for what is wrong or not supported.
    """
    header = read_header(path)
    embedding = header.tensors.get("token_embd.weight")
    config = config_from_gguf(header.metadata, embedding.shape[0] if embedding else 0)
    spans = _renamed(path, header)
    shapes = {name: span.shape for name, span in spans.items()}
    config, _ = settle_head(config, shapes, lambda: False)  # in GGUF a missing head means tied
    check_layout(config, shapes, path.name)
    return GgufSource(path, config, spans, _notes(spans))


def _renamed(path: Path, header: GgufHeader) -> dict[str, TensorSpan]:
    spans: dict[str, TensorSpan] = {}
    for name, span in header.tensors.items():
        if name == "rope_freqs.weight":
            raise DraftscopeError(
                f"{path.name} has rotary frequencies of its own (rope_freqs.weight, scaling "
                f"llama3), which is not supported. {SUPPORTED}"
            )
        layer = _LAYER.fullmatch(name)
        if layer and layer[2] in _INSIDE:
            spans[f"model.layers.{int(layer[1])}.{_INSIDE[layer[2]]}.weight"] = span
        else:
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
