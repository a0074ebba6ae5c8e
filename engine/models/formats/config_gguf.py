"""A model's config from the metadata of a GGUF file.

Knows llama.cpp's keys; every key of the architecture is read, neutral, or refused by name. Knows
no tensor but by name, and no torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from engine.models.config import MOST_LAYERS, ModelConfig
from engine.models.family import unsupported
from engine.models.formats.config_values import integer, number
from engine.models.rope_scaling import scaling_of_gguf, usable_length
from engine.models.text.end_tokens import end_tokens_of_gguf, token_ids

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

ARCHITECTURES = ("llama", "qwen2", "qwen3")

_READ = frozenset(
    {
        *("vocab_size", "context_length", "embedding_length", "block_count"),
        *("feed_forward_length", "attention.head_count", "attention.head_count_kv"),
        *("attention.key_length", "attention.value_length", "attention.layer_norm_rms_epsilon"),
        *("attention.sliding_window", "rope.dimension_count", "rope.freq_base"),
        *("rope.scale_linear", "rope.scaling.type", "rope.scaling.factor"),
        *("rope.scaling.original_context_length", "rope.scaling.attn_factor"),
        *("rope.scaling.yarn_ext_factor", "rope.scaling.yarn_log_multiplier"),
        *("rope.scaling.yarn_attn_factor", "rope.scaling.yarn_beta_fast"),
        "rope.scaling.yarn_beta_slow",
        "rope.scaling.finetuned",  # says how it was trained, not what is computed
        "attention.layer_norm_epsilon",  # of another kind of norm, which none of these has
        "tensor_data_layout",  # of the query and key rows: the same for every llama file
        "pooling_type",  # of an embedding model, which decodes nothing
    }
)
_OTHER_FILES = ("adapter", "mmproj", "imatrix")  # under general.type, beside "model"
_NEUTRAL = {
    "expert_count": 0,
    "expert_used_count": 0,
    "use_parallel_residual": False,
    "attention.causal": True,
    "attention.clamp_kqv": 0,
    "attention.max_alibi_bias": 0,
    "attn_logit_softcapping": 0,
    "final_logit_softcapping": 0,
    "logit_scale": 1,
    "embedding_scale": 1,
    "residual_scale": 1,
}


def config_from_gguf(
    metadata: Mapping[str, Any], embedding_rows: int, tensors: Container[str] = ()
) -> ModelConfig:
    """Read a GGUF file's metadata; whether the head is tied is settled by its tensors later.

    Parameters
    ----------
    metadata
        Key to plain Python value.
    embedding_rows
        Rows of `token_embd.weight`, for files that do not state their vocabulary.
    tensors
        Names in the file: which biases there are is stated nowhere else.

    Raises
    ------
    DraftscopeError
        If something is missing, or not supported, by name.
    """
    kind = _architecture(metadata)
    values = {
        key.removeprefix(f"{kind}."): value
        for key, value in metadata.items()
        if key.startswith(f"{kind}.")
    }
    heads = integer(values, "attention.head_count")
    width = integer(values, "embedding_length")
    layers = integer(values, "block_count")
    head_dim = integer(values, "attention.key_length", width // max(heads, 1))
    _refuse_unknown(values)
    trained = integer(values, "context_length")
    scaling = scaling_of_gguf(values, trained)
    window = _window(kind, values)
    return ModelConfig(
        architecture=kind,
        vocabulary=integer(values, "vocab_size", embedding_rows),
        layers=layers,
        width=width,
        heads=heads,
        kv_heads=integer(values, "attention.head_count_kv", heads),
        head_dim=head_dim,
        mlp_width=integer(values, "feed_forward_length"),
        context_length=usable_length(trained, scaling),
        rms_epsilon=_decimal(number(values, "attention.layer_norm_rms_epsilon")),
        rope_base=number(values, "rope.freq_base", 10000.0),
        tied=False,
        bos_token=next(iter(token_ids(metadata.get("tokenizer.ggml.bos_token_id"))), None),
        end_tokens=end_tokens_of_gguf(metadata),
        qkv_bias="blk.0.attn_q.bias" in tensors,
        output_bias="blk.0.attn_output.bias" in tensors,
        mlp_bias="blk.0.ffn_down.bias" in tensors,
        head_norms=kind == "qwen3",
        rotary_width=_rotary_width(kind, values, head_dim),
        scaling=scaling,
        window=window,
        windowed=tuple(range(min(layers, MOST_LAYERS))) if window else (),
    )


def _architecture(metadata: Mapping[str, Any]) -> str:
    what, kind = metadata.get("general.type"), metadata.get("general.architecture")
    if what in _OTHER_FILES:
        raise unsupported(f"a GGUF file of type {what}, which is only a part of a model")
    if kind not in ARCHITECTURES:
        raise unsupported(f"architecture {kind!s:.80}")
    return str(kind)


def _decimal(stored: float) -> float:
    """Return the decimal that was meant by a float32: 1e-5, not 9.99999975e-6."""
    return float(str(np.float32(stored)))


def _refuse_unknown(values: Mapping[str, Any]) -> None:
    experts = values.get("expert_count")
    if experts:
        raise unsupported(f"a mixture of {experts} experts")
    for key, given in values.items():
        if key not in _READ and (key not in _NEUTRAL or given != _NEUTRAL[key]):
            raise unsupported(f"{key} is {given!r:.80}")


def _rotary_width(kind: str, values: Mapping[str, Any], head_dim: int) -> int | None:
    """Return how many coordinates turn; llama.cpp turns all of them in an architecture llama."""
    turned = integer(values, "rope.dimension_count", head_dim)
    for key, given in (
        ("attention.value_length", integer(values, "attention.value_length", head_dim)),
        ("rope.dimension_count", turned if kind == "llama" else head_dim),
    ):
        if given != head_dim:
            raise unsupported(f"{key} is {given} with heads of {head_dim}")
    return None if turned == head_dim else turned


def _window(kind: str, values: Mapping[str, Any]) -> int | None:
    """Return the sliding window, which holds in every layer: so it is in Mistral's models."""
    window = integer(values, "attention.sliding_window", 0) or None
    if window is not None and kind != "llama":  # Qwen's layers differ, and no key says which
        raise unsupported(f"attention.sliding_window is {window} in a model of {kind}")
    return window
