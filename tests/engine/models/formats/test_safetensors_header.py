"""The header of a safetensors file: what departs from the format is one sentence."""

from __future__ import annotations

import json
import os
import tracemalloc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from engine.errors import LONGEST, DraftscopeError
from engine.models.formats.safetensors_header import HEADER_LIMIT, read_safetensors_header

if TYPE_CHECKING:
    from pathlib import Path


def entry(start: int, end: int, shape: list[Any] | None = None, kind: str = "F32") -> Any:
    shape = [(end - start) // 4] if shape is None else shape
    return {"dtype": kind, "shape": shape, "data_offsets": [start, end]}


def raw_safetensors(header: Any, data: int = 0) -> bytes:
    """Write a header as it is told, true or not, and `data` bytes behind it."""
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(raw).to_bytes(8, "little") + raw + bytes(data)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.safetensors"


def refusal(path: Path, content: bytes) -> str:
    """Return the sentence of a refusal."""
    path.write_bytes(content)
    with pytest.raises(DraftscopeError) as caught:
        read_safetensors_header(path)
    said = str(caught.value)
    assert "\n" not in said
    assert len(said) <= LONGEST
    return said


def test_what_the_package_writes_is_read(path: Path) -> None:
    stored = {"b": np.ones((2, 3), np.float32), "a": np.ones(5, np.float16), "s": np.float64(1)}
    save_file({name: np.asarray(tensor) for name, tensor in stored.items()}, path, {"k": "v"})
    header = read_safetensors_header(path)
    assert {name: one.shape for name, one in header.items()} == {"b": (2, 3), "a": (5,), "s": ()}
    assert sum(one.end - one.start for one in header.values()) == 24 + 10 + 8
    assert max(one.end for one in header.values()) == path.stat().st_size


@pytest.mark.parametrize(
    ("header", "data", "said"),
    [
        ({"a": entry(0, 32), "b": entry(40, 72)}, 72, "a gap before the tensor b"),
        ({"a": entry(8, 40)}, 40, "a gap before the tensor a"),
        ({"a": entry(0, 32), "b": entry(16, 48)}, 48, "bytes of another tensor in the tensor b"),
        ({"a": entry(0, 32), "b": entry(0, 32)}, 32, "bytes of another tensor in the tensor b"),
        ({"a": entry(0, 32)}, 40, "longer than its header says"),
        ({"a": entry(0, 32)}, 24, "truncated"),
        ({"a": entry(0, 2**64)}, 32, "no full entry"),
        ({"a": entry(2**63, 2**63 + 32)}, 32, "truncated"),
        ({"a": entry(0, 32, [2**32, 2**32])}, 32, "do not fit"),
        ({"a": entry(0, 32, [2**63, 0])}, 32, "do not fit"),
        ({"a": entry(0, 32, [1] * 8 + [8])}, 32, "no full entry"),
        ({"a": entry(0, 32, [True])}, 32, "no full entry"),
        ({"a": entry(0, 32, [8.0])}, 32, "no full entry"),
        ({"a": entry(0, 32, [-8])}, 32, "no full entry"),
        ({"a": {**entry(0, 32), "more": 1}}, 32, "no full entry"),
        ({"a": {**entry(0, 32), "dtype": ["F32"]}}, 32, "no full entry"),
        ({"a": {**entry(0, 32), "data_offsets": [0]}}, 32, "no full entry"),
        ({"a": {**entry(0, 32), "data_offsets": "01"}}, 32, "no full entry"),
        ({"a": []}, 32, "no full entry"),
        ({"a": None}, 32, "no full entry"),
        ([], 0, "not a safetensors file"),
        (b'{"a":1}x', 0, "not JSON"),
        (b'{"a"' + b"[" * 100_000, 0, "not JSON"),
        (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", 0, "not JSON"),
        (b'{"a":' + b"9" * 5000 + b"}", 0, "not JSON"),
        (b'{"a":"\xff"}', 0, "not JSON"),
    ],
)
def test_what_the_header_says_is_what_the_file_holds(
    path: Path, header: Any, data: int, said: str
) -> None:
    assert said in refusal(path, raw_safetensors(header, data))


def test_a_tensor_that_stands_twice_is_refused(path: Path) -> None:
    one, other = json.dumps(entry(0, 32)), json.dumps(entry(32, 64))
    assert "the tensor a twice" in refusal(
        path, raw_safetensors(f'{{"a": {one}, "a": {other}}}'.encode(), 64)
    )
    doubled = '{"a": {"dtype": "F32", "dtype": "F32", "shape": [8], "data_offsets": [0, 32]}}'
    assert "no full entry" in refusal(path, raw_safetensors(doubled.encode(), 32))


@pytest.mark.parametrize("kind", ["F8_E4M3", "F8_E5M2", "F4", "I8", "U8", "BOOL", "I64", "f32", ""])
def test_a_type_of_number_that_is_not_supported_is_named(path: Path, kind: str) -> None:
    said = refusal(path, raw_safetensors({"layer.weight": entry(0, 32, [8], kind)}, 32))
    assert f"the tensor layer.weight is stored as {kind}, which is not supported" in said
    assert "F64, F32, F16, BF16" in said


@pytest.mark.case("C03")
def test_a_header_that_would_be_huge_is_refused_without_allocating_it(path: Path) -> None:
    tracemalloc.start()
    try:
        said = refusal(path, (0x07DF9D40).to_bytes(8, "little") + b"{}" + bytes(64))
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
    assert "132095296 bytes" in said
    assert f"the limit is {HEADER_LIMIT}" in said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"<!DOCTYPE html><html>Sign in</html>", "web page"),
        (b"\n <html>", "web page"),
        (b"version https://git-lfs.github.com/spec/v1\noid", "Git LFS pointer"),
        (b"Entry not found", "holds text ('Entry not found')"),
        (b'{"error": "Repository not found"}', "holds text"),
        (bytes(4096), "zeros only"),
        (b"GGUF\3\0\0\0" + bytes(60), "a GGUF file"),
        (b"PK\x03\x04" + bytes(60), "archive"),
        (b"\x80\x02}q\x00(X", "not a safetensors file"),
        (b"", "not a safetensors file"),
        (b"\x08", "not a safetensors file"),
        ((1000).to_bytes(8, "little") + b"{", "truncated: it has 9 bytes"),
        ((1000).to_bytes(8, "little"), "truncated: it has 8 bytes"),
    ],
)
def test_what_is_no_safetensors_file_says_what_it_is(path: Path, content: bytes, said: str) -> None:
    assert said in refusal(path, content)


def test_names_of_any_length_and_kind_make_one_short_line(path: Path) -> None:
    for name in ("line\nbreak", "long" * 5000, "\ud800", "\u202e\x00"):
        header = {name: entry(0, 32), name + "b": entry(0, 32)}
        assert "another tensor" in refusal(path, raw_safetensors(header, 32))


@pytest.mark.case("C09")
def test_what_is_no_ordinary_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.safetensors")
    (tmp_path / "folder.safetensors").mkdir()
    (tmp_path / "link.safetensors").symlink_to(tmp_path / "gone")
    for name, said in (("pipe", "no ordinary file"), ("folder", "a folder"), ("link", "No such")):
        with pytest.raises(DraftscopeError, match=said):
            read_safetensors_header(tmp_path / f"{name}.safetensors")
