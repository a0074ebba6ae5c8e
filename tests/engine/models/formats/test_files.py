"""Files of a model: what lies in their place is told apart, and nothing waits or overflows."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.errors import DraftscopeError
from engine.loading import load_model
from engine.models.formats import files
from engine.models.formats.files import read_json, read_json_if_there, read_span, read_text
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config.json"


def refusal(read: Callable[[Path], object], path: Path) -> str:
    with pytest.raises(DraftscopeError) as caught:
        read(path)
    said = str(caught.value)
    assert said.isprintable()
    assert len(said) < 300
    return said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"<!DOCTYPE html><html></html>", "web page"),
        (b"\xef\xbb\xbf\r\n<?xml version='1.0'?>", "web page"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
        (b"Entry not found", "holds text ('Entry not found')"),
        (bytes(500), "zeros only"),
        (b"GGUF\3\0\0\0", "a GGUF file"),
        (b"PK\x03\x04", "archive"),
        (b"\x1f\x8b\x08", "compressed"),
        (b"", "not valid JSON (Expecting value)"),
        (b'{"a": 1', "not valid JSON"),
        (b'{"a": \x00}', "not valid JSON"),
        (b'{"a": "\xff"}', "not valid JSON (its content)"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not valid JSON (its content)"),
        (b"[" * 100_000, "not valid JSON (its content)"),
        (b"[1]", "holds no JSON object"),
        (b"null", "holds no JSON object"),
        (b'{"' + b"long" * 50_000, "not valid JSON"),
    ],
)
def test_what_is_no_json_object_says_what_it_is(path: Path, content: bytes, said: str) -> None:
    path.write_bytes(content)
    assert said in refusal(read_json, path)
    assert said in refusal(read_json_if_there, path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_json_of_every_encoding_that_json_has_is_read(path: Path, encoding: str) -> None:
    path.write_text('{"a": "é😊"}', encoding)
    assert read_json(path) == {"a": "é😊"}


def test_only_what_is_really_absent_counts_as_absent(path: Path) -> None:
    assert read_json_if_there(path) == {}
    path.symlink_to("gone")  # a cache whose files were cleaned away
    assert "config.json cannot be read: No such file" in refusal(read_json_if_there, path)
    path.unlink()
    path.mkdir()
    assert "is a folder" in refusal(read_json_if_there, path)


def test_a_pipe_is_refused_and_not_waited_for(path: Path) -> None:
    os.mkfifo(path)
    for read in (read_json, read_text, files.head):
        assert "no ordinary file" in refusal(read, path)


def test_a_file_that_must_not_be_read_is_a_sentence(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_text("{}")

    def locked(*arguments: object, **named: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", locked)
    for read in (read_json, read_text, files.head):
        assert "config.json cannot be read: Permission denied" in refusal(read, path)


def test_a_file_too_large_to_be_json_is_refused_before_it_is_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_text(json.dumps({"a": "b" * 100}))
    monkeypatch.setattr(files, "LARGEST_JSON", 100)
    monkeypatch.setattr(files, "read_bytes", None)
    for read in (read_json, read_text):
        assert "too large" in refusal(read, path) or "at most 100" in refusal(read, path)


def test_a_span_is_read_whole_or_not_at_all(path: Path) -> None:
    path.write_bytes(bytes(range(100)))
    assert read_span(path, 90, 10).tolist() == list(range(90, 100))
    for start, size in ((90, 11), (100, 1), (1000, 5), (0, 10**6)):
        with pytest.raises(DraftscopeError, match="has changed while it was read"):
            read_span(path, start, size)
    path.unlink()
    with pytest.raises(DraftscopeError, match="cannot be read"):
        read_span(path, 0, 1)


def test_a_model_under_a_name_that_is_no_text_has_one(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9 \xf0")
    write_tiny_folder(tmp_path / "whole").rename(folder)
    target = load_model(folder, device="cpu", plan="eager")
    assert target.info.name == "caf� �"
    json.dumps(target.info.name).encode()
    target.info.name.encode()
