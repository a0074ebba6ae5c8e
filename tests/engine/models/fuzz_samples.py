"""Small valid files of every kind that is loaded, how each is damaged, and what it really holds."""

from __future__ import annotations

import json
import shutil
import struct
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import gguf
import numpy as np
import torch
from gguf.constants import GGMLQuantizationType as Kind
from safetensors.torch import load_file, save_file

from engine.drafters.file import write_drafter
from tests.engine.drafters.making import SHAPES, described, drafter_tensors, write_head
from tests.engine.models import fuzz_mutations as fuzz
from tests.engine.models.formats.model_files import (
    SPECIALS,
    byte_entries,
    permuted,
    to_gguf_name,
    write_gguf,
)
from tests.engine.models.fuzz_templates import random_template
from tests.engine.models.text.test_sentence_pieces import metadata as sentence_pieces
from tests.tiny_model import tiny_config, tiny_weights, write_tiny_folder

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from pathlib import Path

    from engine.models.config import ModelConfig

TEMPLATE = (
    "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}"
    "{% endif %}{% macro turn(m) %}<|{{ m.role }}|>{{ m['content'] | trim }}{% endmacro %}"
    "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{{ turn(m) }}"
    "{{ '\\n' ~ ns.n if not loop.last else '' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)
CONFIG = replace(tiny_config(layers=1), vocabulary=272)


@dataclass(frozen=True)
class Sample:
    """A kind of file or folder.

    Attributes
    ----------
    write
        Writes it whole into a folder.
    damage
        Damages it there and says how.
    """

    kind: str
    write: Callable[[Path], object]
    damage: Callable[[Path, random.Random], str]

    def copy(self, whole: Path, folder: Path) -> None:
        """Put a fresh copy in the place of the last one."""
        if not folder.exists():
            shutil.copytree(whole, folder)
            return
        for path in folder.iterdir():
            if not (whole / path.name).exists():
                path.unlink()
        for path in whole.iterdir():
            shutil.copyfile(path, folder / path.name)


def _damage_file(path: Path, how: str, draw: random.Random) -> str:
    changed, said = fuzz.MUTATORS[how](path.read_bytes(), draw)
    path.write_bytes(changed)
    return f"{path.name}: {said}"


def _write_folder(folder: Path) -> None:
    write_tiny_folder(folder, layers=1)
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    (folder / "generation_config.json").write_text('{"eos_token_id": [256, 257], "top_p": 0.9}')
    (folder / "special_tokens_map.json").write_text('{"eos_token": {"content": "<|im_end|>"}}')
    described = json.loads((folder / "tokenizer_config.json").read_text())
    described["added_tokens_decoder"] = {"256": {"content": "<|im_end|>", "special": True}}
    (folder / "tokenizer_config.json").write_text(json.dumps(described))


def _write_shards(folder: Path) -> None:
    _write_folder(folder)
    (folder / "chat_template.jinja").unlink()
    stored = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = sorted(stored)
    listed = {}
    for number, held in enumerate((names[:5], names[5:]), start=1):
        shard = f"model-0000{number}-of-00002.safetensors"
        save_file({name: stored[name] for name in held}, folder / shard)
        listed |= dict.fromkeys(held, shard)
    index = {"metadata": {"total_size": 1}, "weight_map": listed}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def _damage_json(folder: Path, draw: random.Random) -> str:
    weights = {"config.json": 5, "tokenizer.json": 4, "tokenizer_config.json": 2}
    files = sorted(folder.glob("*.json"))
    file = draw.choices(files, [weights.get(path.name, 1) for path in files])[0]
    how = draw.choices(("json", "bytes", "stand-in"), (8, 3, 0.5))[0]
    return _damage_file(file, how, draw)


def _damage_weights(folder: Path, draw: random.Random) -> str:
    return _damage_file(draw.choice(sorted(folder.glob("*.safetensors"))), "safetensors", draw)


def _damage_shards(folder: Path, draw: random.Random) -> str:
    if draw.random() < 0.5:
        return _damage_file(folder / "model.safetensors.index.json", "json", draw)
    if draw.random() < 0.2:
        victim = draw.choice(sorted(folder.glob("model*")))
        victim.unlink()
        return f"{victim.name} removed"
    return _damage_weights(folder, draw)


def _gguf_metadata() -> dict[str, Any]:
    entries = [*byte_entries(), "he", "ll", "hell"]
    return {
        "llama.vocab_size": len(entries),
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.tokens": entries,
        "tokenizer.ggml.token_type": [3] * len(SPECIALS) + [1] * (len(entries) - len(SPECIALS)),
        "tokenizer.ggml.merges": ["h e", "l l", "he ll"],
        "tokenizer.ggml.add_bos_token": True,
        "tokenizer.chat_template": TEMPLATE,
        "llama.block_count": 1,
        "llama.context_length": 512,
    }


def _write_gguf(folder: Path, metadata: dict[str, Any], kind: Kind) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    size = len(metadata["tokenizer.ggml.tokens"])
    config = replace(CONFIG, vocabulary=size)
    stored = {name: tensor.numpy() for name, tensor in tiny_weights(config).items()}
    write_gguf(folder / "model.gguf", stored, {**metadata, "llama.vocab_size": size}, kind=kind)


def _pieces_metadata() -> dict[str, Any]:
    kept = ("llama.block_count", "llama.context_length", "tokenizer.chat_template")
    return {key: _gguf_metadata()[key] for key in kept} | sentence_pieces()


def gguf_fields(content: bytes) -> list[int]:
    """Return where a valid header has its lengths, counts, types and offsets."""
    fields, at = [4, 8, 16], 24
    sizes = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}

    def number(code: str) -> int:
        nonlocal at
        fields.append(at)
        (value,) = struct.unpack_from(f"<{code}", content, at)
        at += struct.calcsize(f"<{code}")
        return int(value)

    def text() -> None:
        nonlocal at
        size = number("Q")
        at += size

    def skip(kind: int) -> None:
        nonlocal at
        if kind == 8:
            text()
        elif kind == 9:
            inner, count = number("I"), number("Q")
            if inner in sizes:
                at += count * sizes[inner]
            else:
                for _ in range(count):
                    skip(inner)
        else:
            fields.append(at)
            at += sizes[kind]

    tensors, values = struct.unpack_from("<QQ", content, 8)
    for _ in range(values):
        text()
        skip(number("I"))
    for _ in range(tensors):
        text()
        for _ in range(number("I")):
            number("Q")
        number("I"), number("Q")
    return [*fields, *fields[-80:] * 4]  # more often those of tensors than those of tokens


def _damage_gguf(folder: Path, draw: random.Random) -> str:
    path = folder / "model.gguf"
    content = path.read_bytes()
    if draw.random() < 0.05:
        changed, said = fuzz.stand_in(content, draw)
    else:
        changed, said = fuzz.mutate_bytes(content, draw, gguf_fields(content), 16_000)
    path.write_bytes(changed)
    return said


_ODD: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        2,
        300,
        2**31,
        2**32 - 1,
        0.0,
        -1.5,
        1e30,
        float("nan"),
        float("inf"),
    ),
    *("", "a", "llama", "gpt2", "default", "long" * 5000, "\n\0\u2028", "qwen2"),
    *([0], [1, 2, 3], ["a"], ["a", "a"], ["he", "ll"], [0.5], [[1], [2]], ["\ud7ff"] * 300),
)


def _damage_values(folder: Path, draw: random.Random) -> str:
    """Write the file again with some values of other kinds."""
    pieces = draw.random() < 0.3
    given = _pieces_metadata() if pieces else _gguf_metadata()
    keys = [
        *given,
        *("llama.attention.head_count", "llama.attention.head_count_kv", "llama.rope.freq_base"),
        *("llama.attention.key_length", "llama.attention.value_length", "general.alignment"),
        *("llama.attention.layer_norm_rms_epsilon", "llama.embedding_length", "split.count"),
        *("tokenizer.ggml.bos_token_id", "tokenizer.ggml.eos_token_id", "llama.vocab_size"),
        *("tokenizer.ggml.add_eos_token", "tokenizer.ggml.eot_token_id", "llama.expert_count"),
        *("llama.rope.scaling.type", "llama.rope.dimension_count", "tokenizer.ggml.add_bos_token"),
        *(
            "tokenizer.ggml.add_space_prefix",
            "llama.feed_forward_length",
            "llama.rope.scaling.factor",
        ),
    ]
    size = len(given["tokenizer.ggml.tokens"])
    changes = {draw.choice(keys): draw.choice(_ODD) for _ in range(draw.choice((1, 1, 2, 3)))}
    config = replace(CONFIG, vocabulary=size)
    stored = {name: tensor.numpy() for name, tensor in tiny_weights(config).items()}
    metadata = {**given, "llama.vocab_size": size, **changes}
    try:
        write_gguf(folder / "model.gguf", stored, metadata)
    except Exception as error:  # the writer itself refuses some values
        (folder / "model.gguf").write_bytes(b"GGUF")
        return f"not written: {error!r}"
    return ", ".join(f"{key} = {value!r:.60}" for key, value in changes.items())


def _damage_drafter(folder: Path, draw: random.Random) -> str:
    return _damage_file(folder / "drafter.safetensors", "safetensors", draw)


def _write_template(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "chat_template.jinja").write_text(TEMPLATE)


def _damage_template(folder: Path, draw: random.Random) -> str:
    path = folder / "chat_template.jinja"
    if draw.random() < 0.5:
        source = said = random_template(draw)
    else:
        source, said = fuzz.mutate_template(path.read_text(), draw)
    path.write_bytes(source.encode("utf-8", "surrogatepass"))
    return said


def _write_head(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_head(folder / "drafter.safetensors", CONFIG)


def _write_small(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    shape = SHAPES["small"]
    write_drafter(folder / "drafter.safetensors", described(shape), drafter_tensors(shape, CONFIG))


SAMPLES = (
    Sample("json", _write_folder, _damage_json),
    Sample("weights", _write_folder, _damage_weights),
    Sample("shards", _write_shards, _damage_shards),
    Sample("gguf", lambda folder: _write_gguf(folder, _gguf_metadata(), Kind.F32), _damage_gguf),
    Sample(
        "gguf-q8", lambda folder: _write_gguf(folder, _gguf_metadata(), Kind.Q8_0), _damage_gguf
    ),
    Sample("gguf-pieces", lambda f: _write_gguf(f, _pieces_metadata(), Kind.F16), _damage_gguf),
    Sample("gguf-values", lambda f: _write_gguf(f, _gguf_metadata(), Kind.F32), _damage_values),
    Sample("head", _write_head, _damage_drafter),
    Sample("small", _write_small, _damage_drafter),
    Sample("template", _write_template, _damage_template),
)

_NUMPY = {"F64": "<f8", "F32": "<f4", "F16": "<f2"}


def written_numbers(path: Path, config: ModelConfig) -> dict[str, torch.Tensor]:
    """Read a model's tensors another way: a plain reading of safetensors, gguf's own reader."""
    if path.is_dir():
        found = {}
        for file in path.glob("*.safetensors"):
            content = file.read_bytes()
            base = 8 + int.from_bytes(content[:8], "little")
            for name, entry in json.loads(content[8:base]).items():
                if name == "__metadata__":
                    continue
                start, end = entry["data_offsets"]
                raw = content[base + start : base + end]
                if entry["dtype"] == "BF16":
                    numbers = torch.frombuffer(bytearray(raw), dtype=torch.bfloat16)
                else:
                    read = np.frombuffer(raw, _NUMPY[entry["dtype"]])
                    numbers = torch.from_numpy(read.copy())
                found[name] = numbers.float().reshape(entry["shape"])
        return found
    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(path).tensors}
    numbers = {}
    for name in tiny_weights(replace(CONFIG, layers=config.layers, tied=config.tied, vocabulary=8)):
        stored = tensors[to_gguf_name(name)]
        read = gguf.quants.dequantize(stored.data, stored.tensor_type).astype(np.float32)
        read = read.reshape([int(size) for size in reversed(stored.shape)])
        heads = {"q_proj": config.heads, "k_proj": config.kv_heads}.get(name.split(".")[-2])
        if heads:
            halves = read.reshape(heads, -1, 2, read.shape[1]).swapaxes(1, 2)
            read = halves.reshape(read.shape)
            assert permuted(read, heads).shape == read.shape
        numbers[name] = torch.from_numpy(np.ascontiguousarray(read))
    return numbers
