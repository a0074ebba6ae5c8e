"""The header of a GGUF file: what contradicts itself or the file's size is one sentence."""

from __future__ import annotations

import os
import struct
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from engine.errors import LONGEST, DraftscopeError
from engine.models.formats import gguf_header
from engine.models.formats.gguf_header import read_header

if TYPE_CHECKING:
    from pathlib import Path

U8, BOOL, STRING, ARRAY, U64 = 0, 7, 8, 9, 10
F32, Q4_K = 0, 12

Value = tuple[str, int, bytes]
Tensor = tuple[str, tuple[int, ...], int, int]  # name, sizes from the innermost, type, offset


def text(content: str | bytes) -> bytes:
    raw = content.encode() if isinstance(content, str) else content
    return struct.pack("<Q", len(raw)) + raw


def raw_gguf(
    values: list[Value],
    tensors: list[Tensor],
    data: int = 0,
    *,
    version: int = 3,
    alignment: int = 32,
) -> bytes:
    """Write a header as it is told, true or not, and `data` bytes behind it."""
    content = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(values))
    for key, kind, value in values:
        content += text(key) + struct.pack("<I", kind) + value
    for name, sizes, kind, offset in tensors:
        content += text(name) + struct.pack("<I", len(sizes))
        content += struct.pack(f"<{len(sizes)}Q", *sizes) + struct.pack("<IQ", kind, offset)
    return content + bytes(-len(content) % alignment) + bytes(data)


def refusal(path: Path, content: bytes) -> str:
    """Return the sentence of a refusal; it comes without any large allocation."""
    path.write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises(DraftscopeError) as caught:
            read_header(path)
        assert tracemalloc.get_traced_memory()[1] < 4 * len(content) + 200_000
    finally:
        tracemalloc.stop()
    said = str(caught.value)
    assert "\n" not in said
    assert len(said) <= LONGEST
    return said


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.gguf"


TWO: list[Tensor] = [("one", (8,), F32, 0), ("two", (8, 2), F32, 32)]


def test_a_whole_header_is_read(path: Path) -> None:
    path.write_bytes(raw_gguf([("k", STRING, text("v"))], TWO, 96))
    header = read_header(path)
    assert header.metadata == {"k": "v"}
    one, two = header.tensors["one"], header.tensors["two"]
    assert (one.shape, one.size, two.shape, two.size) == ((8,), 32, (2, 8), 64)
    assert two.offset - one.offset == 32
    assert two.offset + two.size == path.stat().st_size


@pytest.mark.case("C28")
@pytest.mark.parametrize("offset", [2**64 - 8, 2**64 - 32, 2**63, 1 << 40, 64])
def test_an_offset_beyond_the_file_is_refused(path: Path, offset: int) -> None:
    said = refusal(path, raw_gguf([], [TWO[0], ("two", (8, 2), F32, offset)], 96))
    assert "truncated" in said or "unaligned" in said
    assert "tensor two" in said


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ((1 << 62, 4), "truncated"),
        ((2**64 - 1,), "truncated"),
        ((1 << 32, 1 << 32, 1 << 32, 1 << 32), "truncated"),
        ((0,), "of shape"),
        ((8, 0), "of shape"),
        ((1, 1, 1, 1, 1), "5 dimensions"),
    ],
)
def test_sizes_that_overflow_or_are_none_are_refused(
    path: Path, sizes: tuple[int, ...], said: str
) -> None:
    assert said in refusal(path, raw_gguf([], [("one", sizes, F32, 0)], 96))


@pytest.mark.parametrize(
    ("second", "said"),
    [
        (("two", (8,), F32, 0), "two within the one before it"),
        (("two", (8,), F32, 64), "two after a gap"),
        (("two", (8,), F32, 8), "two at an unaligned offset"),
        (("one", (8,), F32, 32), "one twice"),
    ],
)
def test_tensors_lie_one_after_the_other(path: Path, second: Tensor, said: str) -> None:
    assert said in refusal(path, raw_gguf([], [TWO[0], second], 128))


@pytest.mark.parametrize("alignment", [0, 3, 48, 2**32 - 1])
def test_an_alignment_that_is_no_power_of_two_is_refused(path: Path, alignment: int) -> None:
    value = ("general.alignment", 4, struct.pack("<I", alignment))
    assert f"an alignment of {alignment}" in refusal(path, raw_gguf([value], TWO, 96))


@pytest.mark.parametrize(
    "value",
    [
        ("general.alignment", U64, struct.pack("<Q", 1 << 63)),
        ("general.alignment", BOOL, b"\1"),
        ("general.alignment", STRING, text("32")),
        ("general.alignment", 12, struct.pack("<d", 32.0)),
    ],
)
def test_an_alignment_of_another_kind_or_a_huge_one_is_refused(path: Path, value: Value) -> None:
    said = refusal(path, raw_gguf([value], TWO, 96))
    assert "an alignment of" in said or "truncated" in said


def test_other_alignments_are_followed(path: Path) -> None:
    value = ("general.alignment", 4, struct.pack("<I", 64))
    path.write_bytes(raw_gguf([value], [TWO[0], ("two", (8, 2), F32, 64)], 128, alignment=64))
    tensors = read_header(path).tensors
    assert tensors["one"].offset % 64 == tensors["two"].offset % 64 == 0


@pytest.mark.parametrize("count", [2**64 - 1, 1 << 60, 1 << 40, 5000])
@pytest.mark.parametrize("at", [8, 16])  # tensors, values
def test_counts_beyond_the_file_are_refused_before_they_are_allocated(
    path: Path, at: int, count: int
) -> None:
    content = bytearray(raw_gguf([("k", STRING, text("v"))], TWO, 96))
    content[at : at + 8] = struct.pack("<Q", count)
    assert refusal(path, content)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (("k", STRING, struct.pack("<Q", 1 << 63)), "truncated"),
        (("k", ARRAY, struct.pack("<IQ", U8, 1 << 60)), "truncated"),
        (("k", ARRAY, struct.pack("<IQ", STRING, 1 << 60)), "truncated"),
        (("k", ARRAY, struct.pack("<IQ", STRING, 40)), "truncated"),
        (("k", ARRAY, struct.pack("<IQ", 13, 1)), "unknown type 13"),
        (("k", 13, b""), "unknown type 13"),
        (("k", 2**32 - 1, b""), "unknown type"),
        (("k", ARRAY, struct.pack("<IQ", ARRAY, 1) * 5 + bytes(12)), "nested too deeply"),
        (("k", STRING, text(b"\xff\xfe")), "not UTF-8"),
        (("k" * 65_536, U8, b"\0"), "a name of 65536 bytes"),
    ],
)
def test_values_that_cannot_be_are_refused(path: Path, value: Value, said: str) -> None:
    assert said in refusal(path, raw_gguf([value], TWO, 96))


def test_a_key_that_stands_twice_is_refused(path: Path) -> None:
    values = [("some.key", U8, b"\0"), ("some.key", U8, b"\1")]
    assert "the value some.key twice" in refusal(path, raw_gguf(values, TWO, 96))


def test_nested_arrays_within_reason_are_read(path: Path) -> None:
    inner = struct.pack("<IQ", STRING, 1) + text("in")
    path.write_bytes(raw_gguf([("k", ARRAY, struct.pack("<IQ", ARRAY, 1) + inner)], TWO, 96))
    assert read_header(path).metadata["k"] == [["in"]]


def test_a_header_is_bounded_in_bytes_and_in_values(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = ("k", ARRAY, struct.pack("<IQ", U8, 1000) + bytes(1000))
    monkeypatch.setattr(gguf_header, "MOST_ITEMS", 999)
    assert "more than 999 values" in refusal(path, raw_gguf([value], TWO, 96))
    monkeypatch.setattr(gguf_header, "MOST_ITEMS", 1001 + len(TWO))
    path.write_bytes(raw_gguf([value], TWO, 96))
    assert len(read_header(path).metadata["k"]) == 1000
    monkeypatch.setattr(gguf_header, "HEADER_LIMIT", 500)
    assert "a header of more than 500 bytes" in refusal(path, raw_gguf([value], TWO, 96))


def test_names_of_any_length_and_kind_make_one_short_line(path: Path) -> None:
    name = "line\nbreak\u2028\x00" + "long" * 9000
    said = refusal(path, raw_gguf([], [(name, (8,), F32, 0), (name, (8,), F32, 32)], 64))
    assert "twice" in said


@pytest.mark.case("C30")
def test_a_web_page_a_part_and_a_swapped_file_are_three_messages(tmp_path: Path) -> None:
    whole = raw_gguf([], TWO, 96)
    page = b"<!DOCTYPE html>\n<html><body>Sign in to download</body></html>"
    swapped = b"GGUF" + whole[4:8][::-1] + whole[8:]
    messages = {
        refusal(tmp_path / "model.gguf", page),
        refusal(tmp_path / "model-00001-of-00002.gguf", whole),
        refusal(tmp_path / "model.gguf", swapped),
        refusal(tmp_path / "model.gguf", b"FUGG" + whole[4:]),
    }
    assert len(messages) == 3
    for said in ("web page", "split into 2 files", "big-endian"):
        assert sum(said in message for message in messages) == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00", "Git LFS pointer"),
        (bytes(4096), "zeros only"),
        (b"Entry not found", "holds text ('Entry not found')"),
        (b"\xef\xbb\xbf<html>", "web page"),
        (b"lmgg" + bytes(60), "before GGUF"),
        (b"PK\x03\x04" + bytes(60), "archive"),
        (b"\x93abc" + bytes(60), "does not start with GGUF"),
        (b"", "does not start with GGUF"),
        (b"GGUF", "truncated"),
        (raw_gguf([], [], version=1), "version 1; versions 2 and 3"),
        (raw_gguf([], [], version=4), "version 4; versions 2 and 3"),
        (raw_gguf([], [], version=0), "version 0"),
        (raw_gguf([("split.count", 2, b"\3\0")], TWO, 96), "split into 3 files"),
    ],
)
def test_what_is_no_gguf_file_says_what_it_is(path: Path, content: bytes, said: str) -> None:
    assert said in refusal(path, content)


def test_what_is_no_ordinary_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.gguf")
    (tmp_path / "folder.gguf").mkdir()
    (tmp_path / "link.gguf").symlink_to(tmp_path / "gone.gguf")
    for name, said in (("pipe", "no ordinary file"), ("folder", "a folder"), ("link", "No such")):
        with pytest.raises(DraftscopeError, match=said):
            read_header(tmp_path / f"{name}.gguf")
