"""A model's config from the config.json of a Hugging Face folder.

Knows what each model type of transformers means by its keys, also by those it leaves out; knows no
tensor and no torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.errors import DraftscopeError
from engine.models.config import MOST_LAYERS, ModelConfig
from engine.models.family import DEFAULTS, SIZES, refuse_unknown, unsupported
from engine.models.formats.config_values import flag, integer, number
from engine.models.formats.files import elsewhere, read_json
from engine.models.rope_scaling import (
    RopeScaling,
    rope_values,
    scaling_of_folder,
    usable_length,
)
from engine.models.text.end_tokens import end_tokens_of_folder, token_ids

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def config_from_folder(folder: Path) -> ModelConfig:
    """Read config.json of a Hugging Face folder (a nested `text_config` wins over the outside).

    Raises
    ------
    DraftscopeError
        If config.json is missing, incomplete, or of a family that is not supported.
    """
    path = folder / "config.json"
    if not path.is_file():
        raise DraftscopeError(
            f"The folder {folder.name} has no config.json, so its weights cannot be understood. "
            f"{elsewhere(folder) or 'Copy config.json beside them.'}"
        )
    outside = read_json(path)
    inside = outside.get("text_config")
    nested = isinstance(inside, dict)
    given = {**outside, **inside} if isinstance(inside, dict) else outside
    kind = given.get("model_type")
    if not isinstance(kind, str):
        raise unsupported("no model type in config.json")
    if kind not in DEFAULTS:
        raise unsupported(f"model type {kind}")
    refuse_unknown(given, inside if isinstance(inside, dict) else outside)
    values = {**(SIZES[kind] if nested else {}), **DEFAULTS[kind], **given}
    return _config(kind, values, end_tokens_of_folder(folder, given))


def _config(kind: str, values: Mapping[str, Any], end_tokens: tuple[int, ...]) -> ModelConfig:
    heads = integer(values, "num_attention_heads")
    width = integer(values, "hidden_size")
    layers = integer(values, "num_hidden_layers")
    head_dim = integer(values, "head_dim", width // max(heads, 1))
    scaling = scaling_of_folder(values)
    window, windowed = _windows(kind, values, layers)
    biased = _flag_of(kind, values, "attention_bias", ("llama", "qwen3"))
    return ModelConfig(
        architecture=kind,
        vocabulary=integer(values, "vocab_size"),
        layers=layers,
        width=width,
        heads=heads,
        kv_heads=integer(values, "num_key_value_heads", heads),
        head_dim=head_dim,
        mlp_width=integer(values, "intermediate_size"),
        context_length=usable_length(integer(values, "max_position_embeddings"), scaling),
        rms_epsilon=number(values, "rms_norm_eps", 1e-6),
        rope_base=number({**values, **rope_values(values)}, "rope_theta", 10000.0),
        tied=values.get("tie_word_embeddings") is True,
        bos_token=next(iter(token_ids(values.get("bos_token_id"))), None),
        end_tokens=end_tokens,
        qkv_bias=biased or kind == "qwen2",
        output_bias=biased,
        mlp_bias=_flag_of(kind, values, "mlp_bias", ("llama",)),
        head_norms=kind == "qwen3",
        fused=kind == "phi3",
        rotary_width=_rotary_width(kind, values, head_dim, scaling),
        scaling=scaling,
        window=window,
        windowed=windowed,
    )


def _flag_of(kind: str, values: Mapping[str, Any], key: str, kinds: tuple[str, ...]) -> bool:
    """Read a flag that only some model types have; qwen2's tensors speak for themselves."""
    given = flag(values, key)
    if kind in kinds:
        return given
    if given and not (kind == "qwen2" and key == "attention_bias"):
        raise unsupported(f"{key} in a model of type {kind}")
    return False


def _rotary_width(
    kind: str, values: Mapping[str, Any], head_dim: int, scaling: RopeScaling | None
) -> int | None:
    part = number({**values, **rope_values(values)}, "partial_rotary_factor", 1.0)
    if part > 1:
        raise unsupported(f"partial_rotary_factor is {part:g}")
    if kind == "phi3":
        if scaling is not None:  # transformers reads phi3's yarn as longrope
            raise unsupported(f"rotary scaling {scaling.kind} in a model of type phi3")
        return int(head_dim * part)
    if part != 1:
        raise unsupported(f"partial_rotary_factor is {part:g} in a model of type {kind}")
    return None


def _windows(
    kind: str, values: Mapping[str, Any], layers: int
) -> tuple[int | None, tuple[int, ...]]:
    """Return the sliding window and the layers in which it holds."""
    window = None
    if values.get("sliding_window") is not None:
        window = integer(values, "sliding_window")
    switch = flag(values, "use_sliding_window", kind in ("mistral", "phi3"))
    first = 0
    if kind in ("qwen2", "qwen3"):
        window = window if switch else None
        first = max(0, integer(values, "max_window_layers", 0))
    elif window is not None and (kind == "llama" or not switch):
        raise unsupported(f"sliding_window is {window} in a model of type {kind}")
    windowed = () if window is None else tuple(range(first, min(layers, MOST_LAYERS)))
    types = values.get("layer_types")
    if types is None:
        return window if windowed else None, windowed
    if not isinstance(types, list) or len(types) != layers:
        raise unsupported(f"layer_types is {types!r:.80} for {layers} layers")
    unknown = [name for name in types if name not in ("full_attention", "sliding_attention")]
    if unknown:
        raise unsupported(f"layers of {unknown[0]!s:.80} in layer_types")
    named = tuple(i for i, name in enumerate(types) if name == "sliding_attention")
    if (named and window is None) or (kind not in ("qwen2", "qwen3") and named != windowed):
        raise unsupported(
            f"layer_types with {len(named)} layers of sliding attention and a window of {window}"
        )
    return window if named else None, named
