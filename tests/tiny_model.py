"""Tiny random models as real files: a Hugging Face folder that the engine's own readers open."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from engine.models.config import ModelConfig
from engine.models.layout import expected_shapes

if TYPE_CHECKING:
    from pathlib import Path

END = 256  # "<|im_end|>"
VOCABULARY = 272  # ids 258 and up stand for no token: padding of the embedding
TEMPLATE = (
    "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)


def tiny_config(*, layers: int = 2, width: int = 32, tied: bool = True) -> ModelConfig:
    """Return the sizes of a tiny model; heads share keys, and head_dim is not width / heads."""
    return ModelConfig(
        architecture="llama",
        vocabulary=VOCABULARY,
        layers=layers,
        width=width,
        heads=4,
        kv_heads=2,
        head_dim=16,
        mlp_width=2 * width,
        context_length=512,
        rms_epsilon=1e-5,
        rope_base=10000.0,
        tied=tied,
        bos_token=None,
        end_tokens=(END,),
    )


def tiny_weights(
    config: ModelConfig, seed: int = 0, *, noise: float = 0.0
) -> dict[str, torch.Tensor]:
    """Return random weights of float32; `noise` moves them away from those of the seed."""
    weights = {}
    base, moved = torch.Generator().manual_seed(seed), torch.Generator().manual_seed(seed + 1)
    for name, shape in expected_shapes(config).items():
        if len(shape) == 1:
            weights[name] = torch.ones(shape)
            continue
        scale = 1.0 if "embed" in name else 1.6 * shape[-1] ** -0.5
        weights[name] = scale * torch.randn(shape, generator=base)
        weights[name] += noise * scale * torch.randn(shape, generator=moved)
    return weights


def write_tiny_folder(
    folder: Path,
    seed: int = 0,
    *,
    noise: float = 0.0,
    layers: int = 2,
    width: int = 32,
    tied: bool = True,
    endless: bool = False,
) -> Path:
    """Write config.json, model.safetensors, tokenizer.json and tokenizer_config.json.

    An `endless` model has no end token and a long context: only the limit or a stop ends its runs.
    """
    config = tiny_config(layers=layers, width=width, tied=tied)
    folder.mkdir(parents=True, exist_ok=True)
    values = {
        "model_type": "llama",
        "vocab_size": config.vocabulary,
        "hidden_size": config.width,
        "intermediate_size": config.mlp_width,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.heads,
        "num_key_value_heads": config.kv_heads,
        "head_dim": config.head_dim,
        "max_position_embeddings": config.context_length,
        "rms_norm_eps": config.rms_epsilon,
        "rope_theta": config.rope_base,
        "tie_word_embeddings": config.tied,
        "eos_token_id": END,
    }
    if endless:
        del values["eos_token_id"]
        values["max_position_embeddings"] = 4096
    (folder / "config.json").write_text(json.dumps(values), encoding="utf-8")
    save_file(tiny_weights(config, seed, noise=noise), folder / "model.safetensors")
    return write_tiny_tokenizer(folder, endless=endless)


def write_tiny_tokenizer(folder: Path, *, endless: bool = False) -> Path:
    """Write tokenizer.json and tokenizer_config.json: bytes, and two control tokens after them."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({token: i for i, token in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<|im_end|>", "<|im_start|>"])
    tokenizer.save(str(folder / "tokenizer.json"))
    described = {"chat_template": TEMPLATE} | ({} if endless else {"eos_token": "<|im_end|>"})
    (folder / "tokenizer_config.json").write_text(json.dumps(described), encoding="utf-8")
    return folder
