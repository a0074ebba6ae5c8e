"""GGUF files: the values of a Hugging Face folder come back; damage is found before any read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gguf
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import DraftscopeError
from engine.models.formats.gguf_header import read_header
from engine.models.formats.weights import open_checkpoint
from tests.engine.models.formats.model_files import (
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


@pytest.mark.case("C28")
def test_half_a_file_is_truncated(tiny: Path) -> None:
    content = tiny.read_bytes()
    tiny.write_bytes(content[: len(content) // 2])
    with pytest.raises(DraftscopeError, match=f"truncated: it has {len(content) // 2} bytes"):
        open_checkpoint(tiny)


@pytest.mark.case("C30")
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
