"""Small model files, written as the real tools write them. Used by the tests of the readers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import gguf
import numpy as np
from gguf.constants import GGMLQuantizationType
from safetensors.numpy import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from engine.models.text.pieces import BYTE_ALPHABET

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

CONFIG: dict[str, Any] = {
    "model_type": "llama",
    "vocab_size": 40,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,  # 4 heads of 16 are wider than the model
    "intermediate_size": 64,
    "max_position_embeddings": 128,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "tie_word_embeddings": True,
    "hidden_act": "silu",
    "eos_token_id": 2,
    "bos_token_id": 1,
}

GGUF_METADATA: dict[str, Any] = {
    "llama.vocab_size": 40,
    "llama.embedding_length": 32,
    "llama.block_count": 2,
    "llama.attention.head_count": 4,
    "llama.attention.head_count_kv": 2,
    "llama.attention.key_length": 16,
    "llama.attention.value_length": 16,
    "llama.feed_forward_length": 64,
    "llama.context_length": 128,
    "llama.attention.layer_norm_rms_epsilon": 1e-5,
    "llama.rope.freq_base": 10000.0,
    "tokenizer.ggml.bos_token_id": 1,
    "tokenizer.ggml.eos_token_id": 2,
}

_TO_GGUF = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
}
_LAYER_TO_GGUF = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def tensors(*, head: bool = False, seed: int = 0) -> dict[str, NDArray[np.float32]]:
    """Draw the tensors of CONFIG's model."""
    shapes: dict[str, tuple[int, ...]] = {
        "model.embed_tokens.weight": (40, 32),
        "model.norm.weight": (32,),
    }
    for index in range(2):
        layer = f"model.layers.{index}"
        shapes[f"{layer}.input_layernorm.weight"] = (32,)
        shapes[f"{layer}.self_attn.q_proj.weight"] = (64, 32)
        shapes[f"{layer}.self_attn.k_proj.weight"] = (32, 32)
        shapes[f"{layer}.self_attn.v_proj.weight"] = (32, 32)
        shapes[f"{layer}.self_attn.o_proj.weight"] = (32, 64)
        shapes[f"{layer}.post_attention_layernorm.weight"] = (32,)
        shapes[f"{layer}.mlp.gate_proj.weight"] = (64, 32)
        shapes[f"{layer}.mlp.up_proj.weight"] = (64, 32)
        shapes[f"{layer}.mlp.down_proj.weight"] = (32, 64)
    if head:
        shapes["lm_head.weight"] = (40, 32)
    generator = np.random.default_rng(seed)
    return {
        name: generator.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()
    }


def write_folder(
    folder: Path,
    stored: Mapping[str, NDArray[Any]],
    config: Mapping[str, Any] = CONFIG,
) -> Path:
    """Write config.json and one model.safetensors."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    save_file(dict(stored), folder / "model.safetensors")
    return folder


def write_sharded(folder: Path, stored: Mapping[str, NDArray[Any]]) -> list[Path]:
    """Write config.json, two shards and their index; return the shards."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    names = list(stored)
    shards = {
        "model-00001-of-00002.safetensors": names[: len(names) // 2],
        "model-00002-of-00002.safetensors": names[len(names) // 2 :],
    }
    for shard, held in shards.items():
        save_file({name: stored[name] for name in held}, folder / shard)
    weight_map = {name: shard for shard, held in shards.items() for name in held}
    index = {"metadata": {}, "weight_map": weight_map}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return [folder / shard for shard in shards]


def to_gguf_name(name: str) -> str:
    """Return llama.cpp's name of a tensor."""
    if name in _TO_GGUF:
        return _TO_GGUF[name]
    _, _, index, inside = name.split(".", 3)
    return f"blk.{index}.{_LAYER_TO_GGUF[inside.removesuffix('.weight')]}.weight"


def permuted(rows: NDArray[Any], heads: int) -> NDArray[Any]:
    """Reorder query or key rows as llama.cpp's converter does: halves become pairs."""
    halves = rows.reshape(heads, 2, rows.shape[0] // heads // 2, rows.shape[1])
    return halves.swapaxes(1, 2).reshape(rows.shape)


def write_gguf(
    path: Path,
    stored: Mapping[str, NDArray[Any]],
    metadata: Mapping[str, Any] | None = None,
    *,
    kind: GGMLQuantizationType = GGMLQuantizationType.F32,
    architecture: str = "llama",
) -> Path:
    """Write a GGUF file with `kind` for the matrices; a value of None leaves its key out."""
    writer = gguf.GGUFWriter(path, architecture)
    for key, value in {**GGUF_METADATA, **(metadata or {})}.items():
        add_value(writer, key, value)
    for name, tensor in stored.items():
        values = tensor
        if name.endswith("q_proj.weight"):
            values = permuted(values, 4)
        elif name.endswith("k_proj.weight"):
            values = permuted(values, 2)
        if values.ndim > 1 and kind is not GGMLQuantizationType.F32:
            packed = gguf.quants.quantize(values, kind)
            writer.add_tensor(to_gguf_name(name), packed, raw_dtype=kind)
        else:
            writer.add_tensor(to_gguf_name(name), np.ascontiguousarray(values))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def add_value(writer: gguf.GGUFWriter, key: str, value: Any) -> None:
    """Add a metadata value by its Python type."""
    if value is None:
        return
    if isinstance(value, bool):
        writer.add_bool(key, value)
    elif isinstance(value, int):
        writer.add_uint32(key, value)
    elif isinstance(value, float):
        writer.add_float32(key, value)
    elif isinstance(value, str):
        writer.add_string(key, value)
    else:
        writer.add_array(key, value)


BYTES = sorted(BYTE_ALPHABET, key=BYTE_ALPHABET.__getitem__)  # entry of byte b at index b
SPECIALS = ("<|begin|>", "<|end|>", "<|turn|>")


def byte_entries(extra: Iterable[bytes] = ()) -> list[str]:
    """Return a byte-level vocabulary: three control tokens, every byte, then longer entries."""
    longer = ["".join(BYTES[byte] for byte in piece) for piece in extra]
    return [*SPECIALS, *BYTES, *longer]


def byte_level_backend(extra: Iterable[bytes] = ()) -> Tokenizer:
    """Build a byte-level tokenizer without merges; ids as in `byte_entries`."""
    vocabulary = {entry: token for token, entry in enumerate(byte_entries(extra))}
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens([AddedToken(text, normalized=False) for text in SPECIALS])
    return backend


SENTENCE_PIECES = ("▁I", "▁am", "▁", "▁▁▁▁", ".", "x", "▁x", "!", "=", "▁a", "é")


def sentence_piece_backend(decoder: decoders.Decoder | None = None) -> Tokenizer:
    """Build a tokenizer of the Llama 2 kind: byte fallback and marked spaces."""
    entries = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    entries += SENTENCE_PIECES
    vocabulary = {entry: token for token, entry in enumerate(entries)}
    model = models.BPE(vocab=vocabulary, merges=[], byte_fallback=True, unk_token="<unk>")
    backend = Tokenizer(model)
    backend.decoder = decoder or decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    backend.add_special_tokens([AddedToken(text, normalized=False) for text in entries[:3]])
    return backend
