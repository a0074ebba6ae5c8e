"""What is supported, and what is refused by name. Knows names and defaults; computes nothing.

A key of a configuration that changes what is computed is either understood elsewhere, has the one
value that changes nothing, or is refused here: it is never ignored.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from engine.errors import DraftscopeError, short

if TYPE_CHECKING:
    from collections.abc import Mapping

SUPPORTED = (
    "Supported are the model types llama, mistral, qwen2, qwen3 and phi3 (in GGUF files llama, "
    "qwen2 and qwen3) with rotary positions that are plain or scaled by linear, llama3, yarn or "
    "dynamic."
)

# What a configuration of each model type means where it leaves a key out: the defaults of the
# classes in transformers, which writes only what differs from them.
DEFAULTS: dict[str, dict[str, Any]] = {
    "llama": {"max_position_embeddings": 2048},
    "mistral": {
        "max_position_embeddings": 131_072,
        "num_key_value_heads": 8,
        "sliding_window": 4096,
    },
    "qwen2": {
        "max_position_embeddings": 32_768,
        "num_key_value_heads": 32,
        "sliding_window": 4096,
        "max_window_layers": 28,
    },
    "qwen3": {
        "max_position_embeddings": 32_768,
        "num_key_value_heads": 32,
        "head_dim": 128,
        "sliding_window": 4096,
        "max_window_layers": 28,
    },
    "phi3": {"max_position_embeddings": 4096, "rms_norm_eps": 1e-5},
}
# The sizes too: a text_config inside of another configuration may leave even these out.
_SIZE_KEYS = (
    *("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers"),
    "num_attention_heads",
)
SIZES: dict[str, dict[str, int]] = {
    kind: dict(zip(_SIZE_KEYS, sizes, strict=True))
    for kind, sizes in {
        "llama": (32_000, 4096, 11_008, 32, 32),
        "mistral": (32_000, 4096, 14_336, 32, 32),
        "qwen2": (151_936, 4096, 22_016, 32, 32),
        "qwen3": (151_936, 4096, 22_016, 32, 32),
        "phi3": (32_064, 3072, 8192, 32, 32),
    }.items()
}

# Keys that change what is computed unless they have one of these values.
_NEUTRAL: dict[str, tuple[object, ...]] = {
    "hidden_act": ("silu", "swish"),
    "hidden_activation": ("silu", "swish"),
    "position_embedding_type": ("rope", "rotary"),
    "use_rope": (True,),
    "is_causal": (True,),
    "is_encoder_decoder": (),
    "add_cross_attention": (),
    "attention_chunk_size": (),
    "attn_output_gate": (),
    "block_configs": (),
    "clip_qkv": (),
    "dim_model_base": (),
    "embedding_multiplier": (1,),
    "attention_multiplier": (),
    "residual_multiplier": (1,),
    "logits_scaling": (1,),
    "logit_scale": (1,),
    "lm_head_multiplier": (1,),
    "scale_emb": (1,),
    "scale_depth": (),
    "final_logit_softcapping": (0,),
    "attn_logit_softcapping": (0,),
    "query_pre_attn_scalar": (),
    "num_experts": (0,),
    "num_local_experts": (0,),
    "n_routed_experts": (0,),
    "no_rope_layers": (),
    "no_rope_layer_interval": (),
    "quantization_config": (),
    "quantization": (),
    "compression_config": (),
    "dual_chunk_attention_config": (),
    "use_qk_norm": (),
    "qk_layernorm": (),
    "use_mrope": (),
}
# Of these it is false, and not only another value, that changes what is computed.
_TRUE_UNLESS_GIVEN = frozenset({"is_causal", "use_rope"})
# Keys nobody has heard of yet, whose names say that they change what is computed.
_TELLING = re.compile(
    r"softcap|soft_cap|multiplier|scal(e|ing|ar)(_|$)|expert|(^|_)moe(_|$)|alibi|(^|_)(no)?rope"
    r"|(^|_)nope|rotary|attention_sink|(^|_)gated?(_|$)|window|clip_?qkv|att(entio)?n_temperature|mup_"
    r"|qk_?norm"
    r"|lora_rank|parallel_(attn|attention|residual)|cross_attention|bidirectional|linear_attn"
)
_UNDERSTOOD = frozenset(
    {
        *("rope_theta", "rope_scaling", "rope_parameters", "partial_rotary_factor"),
        *("sliding_window", "use_sliding_window", "max_window_layers"),
    }
)


def unsupported(what: str) -> DraftscopeError:
    """Say what is not supported, and what is.

    Parameters
    ----------
    what
        The thing by its name, as the end of "This model is not supported: ...".
    """
    return DraftscopeError(f"This model is not supported: {short(what, 120)}. {SUPPORTED}")


def refuse_unknown(values: Mapping[str, Any], named: Mapping[str, Any]) -> None:
    """Refuse keys that change what is computed and that nothing here understands.

    Parameters
    ----------
    values
        Everything that the configuration says about the text model.
    named
        The part of it in which names count too: not what stands outside of a text_config, where a
        `scale_factor` is of an image.

    Raises
    ------
    DraftscopeError
        Naming the first such key and its value.
    """
    for key, given in values.items():
        if _harmless(key, given) or key in _UNDERSTOOD:
            continue
        neutral = _NEUTRAL.get(key)
        if neutral is None:
            if key in named and _TELLING.search(key):
                raise unsupported(f"{key} is {given!r:.80}")
        elif given not in neutral:
            raise unsupported(_described(key, given))


def _harmless(key: str, given: object) -> bool:
    """Return whether a value says that the thing is absent."""
    if given is False:
        return key not in _TRUE_UNLESS_GIVEN
    return given is None or given in ("", [], {})


def _described(key: str, given: object) -> str:
    """Name a key and its value; of a way of quantising its name, whatever stands beside that."""
    method = given.get("quant_method") if isinstance(given, dict) else None
    return f"{key} is {given!r:.80}" if method is None else f"{key} asks for {method!s:.80}"
