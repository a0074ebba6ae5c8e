"""A tiny random model on disk: a Hugging Face folder that the real engine loads in milliseconds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

WIDTH, HEADS, KV_HEADS, HEAD_DIM, MLP, LAYERS = 32, 4, 2, 8, 64, 2


def write_tiny_model(folder: Path, seed: int = 0) -> Path:
    """Write config.json, model.safetensors and tokenizer.json; text is split into bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = _write_tokenizer(folder)
    config = {
        "model_type": "llama",
        "vocab_size": vocabulary,
        "hidden_size": WIDTH,
        "intermediate_size": MLP,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "head_dim": HEAD_DIM,
        "max_position_embeddings": 4096,
        "rms_norm_eps": 1e-6,
        "rope_theta": 10000.0,
        "tie_word_embeddings": True,
    }
    (folder / "config.json").write_text(json.dumps(config))
    _write_weights(folder, vocabulary, seed)
    return folder


def _write_tokenizer(folder: Path) -> int:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {piece: number for number, piece in enumerate(alphabet)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.save(str(folder / "tokenizer.json"))
    return len(vocabulary)


def _write_weights(folder: Path, vocabulary: int, seed: int) -> None:
    import torch
    from safetensors.torch import save_file

    generator = torch.Generator().manual_seed(seed)

    def random(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator) * 0.4

    tensors = {
        "model.embed_tokens.weight": random(vocabulary, WIDTH),
        "model.norm.weight": torch.ones(WIDTH),
    }
    for layer in range(LAYERS):
        name = f"model.layers.{layer}"
        tensors |= {
            f"{name}.input_layernorm.weight": torch.ones(WIDTH),
            f"{name}.post_attention_layernorm.weight": torch.ones(WIDTH),
            f"{name}.self_attn.q_proj.weight": random(HEADS * HEAD_DIM, WIDTH),
            f"{name}.self_attn.k_proj.weight": random(KV_HEADS * HEAD_DIM, WIDTH),
            f"{name}.self_attn.v_proj.weight": random(KV_HEADS * HEAD_DIM, WIDTH),
            f"{name}.self_attn.o_proj.weight": random(WIDTH, HEADS * HEAD_DIM),
            f"{name}.mlp.gate_proj.weight": random(MLP, WIDTH),
            f"{name}.mlp.up_proj.weight": random(MLP, WIDTH),
            f"{name}.mlp.down_proj.weight": random(WIDTH, MLP),
        }
    save_file(tensors, str(folder / "model.safetensors"))
