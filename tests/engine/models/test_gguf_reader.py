"""GGUF files: the values of a Hugging Face folder come back; damage is found before any read."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import gguf
import numpy as np
import pytest
from gguf.constants import GGMLQuantizationType as Kind
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import DraftscopeError
from engine.models.gguf_header import SUPPORTED_TYPES, read_header
from engine.models.weights import open_checkpoint
from tests.engine.models.model_files import (
    GGUF_METADATA,
    add_value,
    tensors,
    to_gguf_name,
    write_gguf,
)

if TYPE_CHECKING:
    from pathlib import Path

EMBEDDING = "model.embed_tokens.weight"


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return write_gguf(tmp_path / "tiny.gguf", tensors())


def test_names_shapes_and_values_are_the_folders(tiny: Path) -> None:
    stored = tensors()
    checkpoint = open_checkpoint(tiny)
    assert set(checkpoint.names) == set(stored)
    for name, values in stored.items():
        assert checkpoint.shapes(name) == values.shape
        np.testing.assert_array_equal(checkpoint.tensor(name).numpy(), values)
    assert checkpoint.config.tied
    assert (checkpoint.name, checkpoint.source) == ("tiny", "tiny.gguf")


def test_a_head_of_its_own_unties(tmp_path: Path) -> None:
    stored = tensors(head=True)
    checkpoint = open_checkpoint(write_gguf(tmp_path / "a.gguf", stored))
    assert not checkpoint.config.tied
    np.testing.assert_array_equal(
        checkpoint.tensor("lm_head.weight").numpy(), stored["lm_head.weight"]
    )


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


def test_q4_1_is_scale_times_nibble_plus_least(tmp_path: Path) -> None:
    least, scale = np.float16(-1.5), np.float16(0.25)
    nibbles = np.arange(16, dtype=np.uint8)
    block = np.concatenate(
        [np.array([scale, least]).view(np.uint8), nibbles | ((15 - nibbles) << 4)]
    )
    path = tmp_path / "a.gguf"
    writer = _writer(path)
    for name, values in tensors().items():
        if name == EMBEDDING:
            packed = np.tile(block, (40, 1))
            writer.add_tensor(to_gguf_name(name), packed, raw_dtype=Kind.Q4_1)
        else:
            writer.add_tensor(to_gguf_name(name), values)
    _write(writer)
    row = np.concatenate([nibbles, 15 - nibbles]) * 0.25 - 1.5  # low nibbles, then high ones
    np.testing.assert_array_equal(open_checkpoint(path).tensor(EMBEDDING).numpy()[7], row)


def _writer(path: Path) -> gguf.GGUFWriter:
    writer = gguf.GGUFWriter(path, "llama")
    for key, value in GGUF_METADATA.items():
        add_value(writer, key, value)
    return writer


def _write(writer: gguf.GGUFWriter) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _entry_of(content: bytes, tensor: str) -> int:
    """Return where the entry of a tensor goes on after its name."""
    name = struct.pack("<Q", len(tensor)) + tensor.encode()
    return content.index(name) + len(name)


@pytest.mark.parametrize(("number", "name"), [(39, "MXFP4"), (20, "IQ4_NL"), (777, "type 777")])
def test_unsupported_quantisation_is_named_with_tensor_and_list(
    tiny: Path, number: int, name: str
) -> None:
    content = bytearray(tiny.read_bytes())
    at = _entry_of(content, "blk.1.ffn_up.weight") + 4 + 2 * 8
    content[at : at + 4] = struct.pack("<I", number)
    tiny.write_bytes(content)
    with pytest.raises(DraftscopeError) as caught:
        open_checkpoint(tiny)
    for said in (name, "blk.1.ffn_up.weight", *(kind.name for kind in SUPPORTED_TYPES)):
        assert said in str(caught.value)


def test_half_a_file_is_truncated(tiny: Path) -> None:
    content = tiny.read_bytes()
    tiny.write_bytes(content[: len(content) // 2])
    with pytest.raises(DraftscopeError, match=f"truncated: it has {len(content) // 2} bytes"):
        open_checkpoint(tiny)


@pytest.mark.parametrize("offset", [2**64 - 8, 2**64 - 32, 2**63, 1 << 40])
def test_offsets_that_overflow_are_refused(tiny: Path, offset: int) -> None:
    content = bytearray(tiny.read_bytes())
    at = _entry_of(content, "blk.1.ffn_up.weight") + 4 + 2 * 8 + 4
    content[at : at + 8] = struct.pack("<Q", offset)
    tiny.write_bytes(content)
    with pytest.raises(DraftscopeError, match=r"truncated|unaligned"):
        open_checkpoint(tiny)


@pytest.mark.parametrize("count", [2**64 - 1, 2**40])
def test_counts_beyond_the_file_are_refused_before_they_are_allocated(
    tiny: Path, count: int
) -> None:
    content = bytearray(tiny.read_bytes())
    for at in (8, 16):  # tensors, values
        damaged = bytearray(content)
        damaged[at : at + 8] = struct.pack("<Q", count)
        tiny.write_bytes(damaged)
        with pytest.raises(DraftscopeError):
            open_checkpoint(tiny)


@pytest.mark.parametrize(
    ("start", "said"),
    [
        (b"<!DOCTYPE html><html>not found</html>", "web page"),
        (b"  \n<html></html>", "web page"),
        (b"version https://git-lfs.github.com/spec/v1\noid", "Git LFS pointer"),
        (b"GGUF" + struct.pack(">I", 3) + bytes(16), "big-endian"),
        (b"FUGG" + struct.pack(">I", 3) + bytes(16), "big-endian"),
        (b"GGUF" + struct.pack("<I", 1) + bytes(16), "version 1"),
        (b"PK\x03\x04", "archive"),
        (b"", "not a GGUF file"),
        (b"GGUF", "truncated"),
    ],
)
def test_what_is_no_gguf_file_says_what_it_is(tmp_path: Path, start: bytes, said: str) -> None:
    path = tmp_path / "a.gguf"
    path.write_bytes(start)
    with pytest.raises(DraftscopeError, match=said):
        open_checkpoint(path)


def test_a_part_of_a_split_model_is_refused(tmp_path: Path) -> None:
    named = write_gguf(tmp_path / "m-00001-of-00002.gguf", tensors())
    listed = write_gguf(tmp_path / "renamed.gguf", tensors(), {"split.count": 2})
    for path in (named, listed):
        with pytest.raises(DraftscopeError, match="one part of a model that is split into 2"):
            open_checkpoint(path)


@pytest.mark.parametrize("values", [np.ones(7), np.zeros(8), np.full(8, np.nan)])
def test_rotary_frequencies_that_do_not_fit_are_refused_by_name(
    tmp_path: Path, values: np.ndarray
) -> None:
    path = tmp_path / "a.gguf"
    writer = _writer(path)
    for name, tensor in tensors().items():
        writer.add_tensor(to_gguf_name(name), tensor)
    writer.add_tensor("rope_freqs.weight", values.astype(np.float32))
    _write(writer)
    with pytest.raises(DraftscopeError, match="rope_freqs"):
        open_checkpoint(path)


def test_missing_misshapen_and_surplus_tensors_are_three_messages(tmp_path: Path) -> None:
    missing = tensors()
    del missing["model.layers.1.mlp.up_proj.weight"]
    misshapen = {**tensors(), "model.norm.weight": np.ones(31, np.float32)}
    path = tmp_path / "a.gguf"
    for stored, said in ((missing, "lacks the tensor"), (misshapen, "has shape 31")):
        write_gguf(path, stored)
        with pytest.raises(DraftscopeError, match=said):
            open_checkpoint(path)
    writer = _writer(path)
    for name, values in tensors().items():
        writer.add_tensor(to_gguf_name(name), values)
    writer.add_tensor("blk.0.attn_sinks.weight", np.ones(4, np.float32))
    _write(writer)
    with pytest.raises(DraftscopeError, match=r"holds the tensor blk\.0\.attn_sinks"):
        open_checkpoint(path)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damage_anywhere_in_the_header_is_a_sentence_or_harmless(
    tmp_path: Path, data: st.DataObject
) -> None:
    path = tmp_path / "tiny.gguf"
    if not path.exists():
        write_gguf(path, tensors(), {"tokenizer.ggml.tokens": ["a", "b"]})
        (tmp_path / "whole").write_bytes(path.read_bytes())
    content = bytearray((tmp_path / "whole").read_bytes())
    tail = sum(values.nbytes for values in tensors().values())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(content) - tail - 1))
        content[at] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(1, len(content)))])
    try:
        checkpoint = open_checkpoint(path)
    except DraftscopeError:
        return
    for name in checkpoint.names:
        assert tuple(checkpoint.tensor(name).shape) == checkpoint.shapes(name)


@pytest.mark.model
def test_default_model_is_read_whole(default_model_path: Path) -> None:
    header = read_header(default_model_path)
    checkpoint = open_checkpoint(default_model_path)
    assert len(header.tensors) == len(checkpoint.names) == 272
    assert checkpoint.parameters == 134_515_008
    assert checkpoint.config.tied
    assert (checkpoint.config.end_tokens, checkpoint.config.rms_epsilon) == ((0, 2), 1e-5)
    assert "Q4_1" in checkpoint.notes[0]
