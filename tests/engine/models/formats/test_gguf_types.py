"""Every type of number that GGUF files hold: read right, or refused by name before any read."""

from __future__ import annotations

import struct
import tracemalloc
from typing import TYPE_CHECKING, Any

import gguf
import numpy as np
import pytest
from gguf.constants import GGML_QUANT_SIZES
from gguf.constants import GGMLQuantizationType as Kind

from engine.errors import DraftscopeError
from engine.models.formats.gguf_header import SUPPORTED_TYPES, read_header
from engine.models.formats.weights import open_checkpoint
from tests.engine.models.formats.ggml_blocks import READERS, random_rows, read_rows
from tests.engine.models.formats.model_files import (
    GGUF_METADATA,
    add_value,
    permuted,
    tensors,
    write_gguf,
)

if TYPE_CHECKING:
    from pathlib import Path

    from engine.models.formats.weights import Checkpoint

WIDE: dict[str, Any] = {
    "llama.vocab_size": 5,
    "llama.embedding_length": 256,
    "llama.block_count": 1,
    "llama.attention.key_length": 64,
    "llama.attention.value_length": 64,
    "llama.feed_forward_length": 256,
}
ROWS = {
    "token_embd": 5,
    **{"blk.0.attn_q": 256, "blk.0.attn_k": 128, "blk.0.attn_v": 128, "blk.0.attn_output": 256},
    **{"blk.0.ffn_gate": 256, "blk.0.ffn_up": 256, "blk.0.ffn_down": 256},
}


def write_packed(path: Path, kind: Kind) -> dict[str, np.ndarray]:
    """Write a model of one layer, 256 wide, with random blocks; return the packed matrices."""
    writer = gguf.GGUFWriter(path, "llama")
    for key, value in {**GGUF_METADATA, **WIDE}.items():
        add_value(writer, key, value)
    packed = {name: random_rows(kind, rows, 256, seed=rows) for name, rows in ROWS.items()}
    for name, rows in packed.items():
        writer.add_tensor(f"{name}.weight", rows, raw_dtype=kind)
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        writer.add_tensor(f"{name}.weight", np.ones(256, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return packed


def test_every_supported_type_has_a_reader_of_its_own_here() -> None:
    assert set(READERS) == set(SUPPORTED_TYPES)
    for kind, (numbers, size, _, _) in READERS.items():
        assert GGML_QUANT_SIZES[kind] == (numbers, size)


@pytest.mark.parametrize("kind", SUPPORTED_TYPES, ids=lambda kind: kind.name)
def test_random_blocks_are_read_as_ggml_reads_them(tmp_path: Path, kind: Kind) -> None:
    packed = write_packed(tmp_path / "a.gguf", kind)
    checkpoint: Checkpoint = open_checkpoint(tmp_path / "a.gguf")
    read = checkpoint.tensor("model.embed_tokens.weight").numpy()
    expected = read_rows(kind, packed["token_embd"], 256)
    assert read.dtype == np.float32
    np.testing.assert_allclose(read, expected, rtol=2e-6, atol=1e-5)
    assert len(np.unique(expected)) > 60  # many values, or a slip would not be seen


def test_rows_of_quantised_queries_and_keys_are_put_back_in_halves(tmp_path: Path) -> None:
    packed = write_packed(tmp_path / "a.gguf", Kind.Q4_K)
    checkpoint = open_checkpoint(tmp_path / "a.gguf")
    for name, stored, heads in (("q", "attn_q", 4), ("k", "attn_k", 2)):
        read = checkpoint.tensor(f"model.layers.0.self_attn.{name}_proj.weight").numpy()
        rows = gguf.quants.dequantize(packed[f"blk.0.{stored}"], Kind.Q4_K)
        np.testing.assert_array_equal(permuted(read, heads), rows)
    value = checkpoint.tensor("model.layers.0.self_attn.v_proj.weight").numpy()
    np.testing.assert_array_equal(value, gguf.quants.dequantize(packed["blk.0.attn_v"], Kind.Q4_K))


@pytest.mark.parametrize(
    ("kind", "step"),
    [
        (Kind.F16, 0.002),
        (Kind.BF16, 0.016),
        (Kind.Q8_0, 0.02),
        (Kind.Q5_0, 0.25),
        (Kind.Q5_1, 0.15),
        (Kind.Q4_0, 0.5),
        (Kind.Q4_1, 0.3),
    ],
)
def test_stored_types_come_back_within_their_step(tmp_path: Path, kind: Kind, step: float) -> None:
    stored = tensors()
    checkpoint = open_checkpoint(write_gguf(tmp_path / "a.gguf", stored, kind=kind))
    for name, values in stored.items():
        assert np.abs(checkpoint.tensor(name).numpy() - values).max() < step
    assert checkpoint.notes or kind is Kind.BF16


OTHERS = [kind for kind in Kind if kind not in SUPPORTED_TYPES]


@pytest.mark.case("C26")
@pytest.mark.parametrize(
    ("number", "name"),
    [*((kind.value, kind.name) for kind in OTHERS), (4, "Q4_2"), (33, "Q4_0_8_8"), (777, "type")],
)
def test_other_types_are_refused_by_name_before_anything_is_allocated(
    tmp_path: Path, number: int, name: str
) -> None:
    path = write_gguf(tmp_path / "a.gguf", tensors())
    content = bytearray(path.read_bytes())
    entry = struct.pack("<Q", 19) + b"blk.1.ffn_up.weight"
    at = content.index(entry) + len(entry) + 4
    content[at : at + 20] = struct.pack("<QQI", 1 << 20, 1 << 20, number)  # 4 TB of float32
    path.write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises(DraftscopeError) as caught:
            open_checkpoint(path)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
    listed = (kind.name for kind in SUPPORTED_TYPES)
    for said in (name, str(number), "blk.1.ffn_up.weight", *listed):
        assert said in str(caught.value)


def test_the_type_numbers_of_the_report_have_their_names() -> None:
    assert (Kind(39).name, Kind(20).name) == ("MXFP4", "IQ4_NL")
    assert {"MXFP4", "IQ4_NL", "TQ1_0"} <= {kind.name for kind in OTHERS}


def test_a_row_that_is_no_whole_number_of_blocks_is_damaged(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "a.gguf", tensors())
    content = bytearray(path.read_bytes())
    entry = struct.pack("<Q", 19) + b"blk.1.ffn_up.weight"
    at = content.index(entry) + len(entry) + 4
    content[at : at + 20] = struct.pack("<QQI", 32, 64, Kind.Q4_K.value)
    path.write_bytes(content)
    with pytest.raises(DraftscopeError, match=r"ffn_up\.weight of shape \(64, 32\) in Q4_K"):
        read_header(path)
