"""Tiny random models of each supported family, made and written by transformers itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import gguf
import numpy as np
import torch
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    Phi3Config,
    Phi3ForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from engine.loading import load_model
from tests.engine.models.formats.model_files import add_value
from tests.tiny_model import write_tiny_tokenizer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from transformers import PreTrainedConfig, PreTrainedModel

    from engine.loading import LoadedModel

VOCABULARY = 258  # the tiny tokenizer's: bytes and two control tokens
CLASSES: dict[str, tuple[type[PreTrainedConfig], type[PreTrainedModel]]] = {
    "llama": (LlamaConfig, LlamaForCausalLM),
    "mistral": (MistralConfig, MistralForCausalLM),
    "qwen2": (Qwen2Config, Qwen2ForCausalLM),
    "qwen3": (Qwen3Config, Qwen3ForCausalLM),
    "phi3": (Phi3Config, Phi3ForCausalLM),
}
SIZES = {
    "vocab_size": VOCABULARY,
    "hidden_size": 48,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,  # 4 heads of 16 are wider than the model
    "max_position_embeddings": 256,
    "rms_norm_eps": 1e-5,
    "tie_word_embeddings": False,
    **{"bos_token_id": None, "eos_token_id": None, "pad_token_id": None},
}
WHOLE = {"num_attention_heads": 3, "num_key_value_heads": 3, "head_dim": None}  # 3 heads of 16


def yarn(**changes: Any) -> dict[str, Any]:
    """Return a yarn scaling whose ramp lies within 8 frequencies."""
    scaling = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}
    return {"rope_parameters": {"rope_theta": 10000.0, **scaling, **changes}}


LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
# name: model type, and what is not as in SIZES
FAMILY: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("llama", {}),
    "llama tied": ("llama", {"tie_word_embeddings": True}),
    "llama biased": ("llama", {"attention_bias": True, "mlp_bias": True}),
    "llama wide heads": ("llama", {"hidden_size": 64, "head_dim": 32}),
    "llama linear": ("llama", {"rope_parameters": {"rope_type": "linear", "factor": 4.0}}),
    "llama dynamic": ("llama", {"rope_parameters": {"rope_type": "dynamic", "factor": 4.0}}),
    "llama llama3": ("llama", {"rope_parameters": {"rope_theta": 5e5, **LLAMA3}}),
    "llama yarn": ("llama", yarn()),
    "llama yarn mscale": ("llama", yarn(mscale=0.7, mscale_all_dim=1.3, truncate=False)),
    "qwen2": ("qwen2", {}),
    "qwen2 yarn": ("qwen2", yarn(attention_factor=0.8, beta_fast=16.0, beta_slow=2.0)),
    "qwen2 window": (
        "qwen2",
        {"use_sliding_window": True, "sliding_window": 8, "max_window_layers": 1},
    ),
    "qwen3": ("qwen3", {"tie_word_embeddings": True}),
    "qwen3 biased": ("qwen3", {"attention_bias": True}),
    "qwen3 window": (
        "qwen3",
        {
            **{"use_sliding_window": True, "sliding_window": 8},
            "layer_types": ["sliding_attention", "full_attention"],
        },
    ),
    "mistral": ("mistral", {"sliding_window": None}),
    "mistral window": ("mistral", {"sliding_window": 8}),
    "phi3": ("phi3", WHOLE),
    "phi3 partial": ("phi3", {**WHOLE, "partial_rotary_factor": 0.5, "sliding_window": 8}),
}


def make(name: str, seed: int = 0, **changes: Any) -> PreTrainedModel:
    """Make a model of the family with random weights, norms and biases, in float32."""
    kind, own = FAMILY[name]
    given = {**SIZES, **own, **changes}
    if kind == "phi3":
        del given["head_dim"]  # it has none of its own
    config_class, model_class = CLASSES[kind]
    model = model_class._from_config(config_class(**given), attn_implementation="eager")
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for tensor_name, weight in model.named_parameters():
            noise = torch.randn(weight.shape, generator=generator)
            if weight.ndim > 1:
                weight.copy_(
                    noise * (1.0 if "embed" in tensor_name else 1.6 * len(noise.T) ** -0.5)
                )
            else:
                weight.copy_(noise * 0.5 + (0 if tensor_name.endswith("bias") else 1))
    model.generation_config.eos_token_id = None
    return model.eval()


def write(model: PreTrainedModel, folder: Path) -> Path:
    """Write a model as transformers does, with the tiny tokenizer beside it."""
    model.save_pretrained(folder)
    return write_tiny_tokenizer(folder, endless=True)


def load(folder: Path, dtype: torch.dtype = torch.float32) -> LoadedModel:
    """Load a folder or a GGUF file under the reference plan."""
    return load_model(folder, device="cpu", plan="eager", dtype=dtype)


def edit_config(folder: Path, **changes: Any) -> None:
    """Change keys of config.json; a value of None stays in it as null."""
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


_TO_GGUF = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
}


def write_gguf(
    model: PreTrainedModel,
    path: Path,
    metadata: Mapping[str, Any],
    extra: Mapping[str, np.ndarray] | None = None,
) -> Path:
    """Write a model as llama.cpp's converter does; metadata are without the prefix."""
    config = model.config
    kind = "llama" if config.model_type == "mistral" else config.model_type
    writer = gguf.GGUFWriter(path, kind)
    head_dim = getattr(config, "head_dim", None) or 16
    values = {
        "embedding_length": config.hidden_size,
        "block_count": config.num_hidden_layers,
        "attention.head_count": config.num_attention_heads,
        "attention.head_count_kv": config.num_key_value_heads,
        "attention.key_length": head_dim,
        "attention.value_length": head_dim,
        "feed_forward_length": config.intermediate_size,
        "context_length": config.max_position_embeddings,
        "attention.layer_norm_rms_epsilon": config.rms_norm_eps,
        "rope.freq_base": float(config.rope_parameters["rope_theta"]),
        "rope.dimension_count": head_dim,
        **metadata,
    }
    for key, value in values.items():
        add_value(writer, f"{kind}.{key}", value)
    for name, weight in model.state_dict().items():
        part, _, ending = name.rpartition(".")
        if part == "lm_head" and config.tie_word_embeddings:
            continue
        tensor = weight.numpy()
        if kind == "llama" and part.endswith(("q_proj", "k_proj")):
            tensor = _permuted(tensor, tensor.shape[0] // head_dim)
        writer.add_tensor(f"{_gguf_part(part)}.{ending}", np.ascontiguousarray(tensor))
    for name, tensor in (extra or {}).items():
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _gguf_part(part: str) -> str:
    if part in _TO_GGUF:
        return _TO_GGUF[part]
    _, _, index, inside = part.split(".", 3)
    return f"blk.{index}.{_TO_GGUF[inside]}"


def _permuted(rows: np.ndarray, heads: int) -> np.ndarray:
    """Reorder query or key rows, or their bias: halves become pairs."""
    halves = rows.reshape(heads, 2, rows.shape[0] // heads // 2, *rows.shape[1:])
    return halves.swapaxes(1, 2).reshape(rows.shape)
