"""What a model is: its sizes and constants, from config.json or from a GGUF file's metadata.

The plain Llama family only; everything else is refused by name. Knows no torch and no tensor:
`layout` says which tensors a config asks for, the readers find them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import DraftscopeError
from engine.models.end_tokens import (
    end_tokens_of_folder,
    end_tokens_of_gguf,
    token_ids,
    token_text,
)
from engine.models.files import read_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = [
    "SUPPORTED",
    "ModelConfig",
    "config_from_folder",
    "config_from_gguf",
    "end_tokens_of_folder",
    "end_tokens_of_gguf",
    "token_text",
]

SUPPORTED = "Supported is the plain Llama family (model type llama, rotary positions unscaled)."
MOST_LAYERS = 4096  # a bound for damaged files, far above any model


@dataclass(frozen=True)
class ModelConfig:
    """Sizes and constants of a decoder-only transformer.

    Letters: V vocabulary, L layers, D width, H heads.

    Attributes
    ----------
    vocabulary
        V, rows of the embedding; may be padded beyond the tokenizer's own vocabulary.
    head_dim
        Of one head; `heads * head_dim` need not be `width`.
    tied
        Whether the head multiplies by the embedding; the file decides where it disagrees.
    end_tokens
        Ids that end a text, in rising order.
    """

    architecture: str
    vocabulary: int
    layers: int
    width: int
    heads: int
    kv_heads: int
    head_dim: int
    mlp_width: int
    context_length: int
    rms_epsilon: float
    rope_base: float
    tied: bool
    bos_token: int | None
    end_tokens: tuple[int, ...]

    def __post_init__(self) -> None:
        sizes = ("vocabulary", "layers", "width", "heads", "kv_heads", "head_dim", "mlp_width")
        for name in (*sizes, "context_length"):
            if getattr(self, name) < 1:
                raise DraftscopeError(
                    f"The model's configuration gives {name} {getattr(self, name)}, which must be "
                    "positive. Download the model again."
                )
        if self.layers > MOST_LAYERS:
            raise DraftscopeError(
                f"The model's configuration asks for {self.layers} layers; at most {MOST_LAYERS} "
                "are supported. Check the file."
            )
        if self.heads % self.kv_heads or self.head_dim % 2:
            raise DraftscopeError(
                f"The model's configuration is inconsistent: {self.heads} heads, {self.kv_heads} "
                f"key/value heads, head size {self.head_dim}. Download the model again."
            )


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
            "Copy config.json beside them."
        )
    outside = read_json(path)
    inside = outside.get("text_config")
    values = {**outside, **inside} if isinstance(inside, dict) else outside
    _refuse_unsupported(values)
    heads = _integer(values, "num_attention_heads")
    width = _integer(values, "hidden_size")
    return ModelConfig(
        architecture="llama",
        vocabulary=_integer(values, "vocab_size"),
        layers=_integer(values, "num_hidden_layers"),
        width=width,
        heads=heads,
        kv_heads=_integer(values, "num_key_value_heads", heads),
        head_dim=_integer(values, "head_dim", width // max(heads, 1)),
        mlp_width=_integer(values, "intermediate_size"),
        context_length=_integer(values, "max_position_embeddings", 2048),
        rms_epsilon=_number(values, "rms_norm_eps", 1e-6),
        rope_base=_number({**values, **_rope(values)}, "rope_theta", 10000.0),
        tied=values.get("tie_word_embeddings") is True,
        bos_token=next(iter(token_ids(values.get("bos_token_id"))), None),
        end_tokens=end_tokens_of_folder(folder, values),
    )


def _refuse_unsupported(values: Mapping[str, Any]) -> None:
    kind = values.get("model_type")
    if kind != "llama":
        named = f"model type {kind}" if isinstance(kind, str) else "no model type in config.json"
        raise DraftscopeError(f"This model is not supported: {named}. {SUPPORTED}")
    scaling = _rope(values)
    name = scaling.get("rope_type", scaling.get("type"))
    if scaling and name not in (None, "default"):
        raise DraftscopeError(f"Rotary scaling {name} is not supported. {SUPPORTED}")
    if scaling and name is None and scaling.keys() - {"rope_theta"}:
        keys = ", ".join(sorted(scaling))
        raise DraftscopeError(f"Rotary scaling with {keys} is not supported. {SUPPORTED}")
    for key, wanted in (
        ("attention_bias", False),
        ("mlp_bias", False),
        ("hidden_act", "silu"),
        ("partial_rotary_factor", 1),
    ):
        given = values.get(key)
        if given is not None and given != wanted:
            raise DraftscopeError(f"This model is not supported: {key} is {given}. {SUPPORTED}")


def _rope(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return `rope_parameters` (newer files) or `rope_scaling`; empty where neither is given."""
    for key in ("rope_parameters", "rope_scaling"):
        given = values.get(key)
        if isinstance(given, dict):
            return given
        if given is not None:
            raise DraftscopeError(f"{key} in config.json is not understood: {given}. {SUPPORTED}")
    return {}


def config_from_gguf(metadata: Mapping[str, Any], embedding_rows: int) -> ModelConfig:
    """Read a GGUF file's metadata; whether the head is tied is settled by its tensors later.

    Parameters
    ----------
    metadata
        Key to plain Python value.
    embedding_rows
        Rows of `token_embd.weight`, for files that do not state their vocabulary.
    """
    kind = metadata.get("general.architecture")
    if kind != "llama":
        raise DraftscopeError(f"This model is not supported: architecture {kind}. {SUPPORTED}")
    values = {
        key.removeprefix("llama."): value
        for key, value in metadata.items()
        if key.startswith("llama.")
    }
    heads = _integer(values, "attention.head_count")
    width = _integer(values, "embedding_length")
    head_dim = _integer(values, "attention.key_length", width // max(heads, 1))
    _refuse_unsupported_gguf(values, head_dim)
    epsilon = _number(values, "attention.layer_norm_rms_epsilon")
    return ModelConfig(
        architecture="llama",
        vocabulary=_integer(values, "vocab_size", embedding_rows),
        layers=_integer(values, "block_count"),
        width=width,
        heads=heads,
        kv_heads=_integer(values, "attention.head_count_kv", heads),
        head_dim=head_dim,
        mlp_width=_integer(values, "feed_forward_length"),
        context_length=_integer(values, "context_length"),
        rms_epsilon=float(str(np.float32(epsilon))),  # stored as float32: 1e-5, not 9.99999975e-6
        rope_base=_number(values, "rope.freq_base", 10000.0),
        tied=False,
        bos_token=next(iter(token_ids(metadata.get("tokenizer.ggml.bos_token_id"))), None),
        end_tokens=end_tokens_of_gguf(metadata),
    )


def _refuse_unsupported_gguf(values: Mapping[str, Any], head_dim: int) -> None:
    scaling = values.get("rope.scaling.type")
    if scaling not in (None, "none"):
        raise DraftscopeError(f"Rotary scaling {scaling} is not supported. {SUPPORTED}")
    experts = values.get("expert_count")
    if experts:
        raise DraftscopeError(f"A mixture of {experts} experts is not supported. {SUPPORTED}")
    for key in ("attention.value_length", "rope.dimension_count"):
        if _integer(values, key, head_dim) != head_dim:
            raise DraftscopeError(
                f"This model is not supported: {key} is {values[key]} with heads of {head_dim}. "
                f"{SUPPORTED}"
            )


def _integer(values: Mapping[str, Any], key: str, default: int | None = None) -> int:
    given = values.get(key)
    if given is None and default is not None:
        return default
    if isinstance(given, bool) or not isinstance(given, int):
        raise _missing(key, given, "a whole number")
    return given


def _number(values: Mapping[str, Any], key: str, default: float | None = None) -> float:
    given = values.get(key)
    if given is None and default is not None:
        return default
    if isinstance(given, bool) or not isinstance(given, int | float) or not given > 0:
        raise _missing(key, given, "a positive number")
    return float(given)


def _missing(key: str, given: object, wanted: str) -> DraftscopeError:
    if given is None:
        return DraftscopeError(
            f"The model's configuration does not give {key}. Download the model again."
        )
    return DraftscopeError(
        f"The model's configuration gives {key} as {given!r:.80}, which should be {wanted}. "
        "Download the model again."
    )
