"""End tokens are united from every place that names one, and nothing odd in a place does harm."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from engine.loading import load_model
from engine.models.text.end_tokens import (
    END_TEXTS,
    end_tokens_of_folder,
    end_tokens_of_gguf,
    token_ids,
)
from engine.models.text.tokenizer import open_tokenizer
from engine.sampling import Sampling
from engine.trace.events import FinishReason
from tests.engine.decoding import decode
from tests.engine.models.formats.model_files import tensors, write_gguf
from tests.engine.models.text.test_gguf_tokenizer import METADATA
from tests.tiny_model import END, write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path


def put(folder: Path, **files: Any) -> Path:
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"config": {"eos_token_id": 5}}, (5,)),
        ({"config": {"eos_token_id": [1, 106]}}, (1, 106)),
        ({"config": {"eos_token_id": 5, "text_config": {"eos_token_id": [6]}}}, (5, 6)),
        ({"config": {"text_config": {"eos_token_id": 6}}}, (6,)),
        ({"generation_config": {"eos_token_id": [128001, 128009]}}, (128001, 128009)),
        ({"config": {"eos_token_id": 5}, "generation_config": {"eos_token_id": [7, 5]}}, (5, 7)),
        (
            {
                "tokenizer_config": {
                    "eos_token": "<e>",
                    "added_tokens_decoder": {"9": {"content": "<e>"}, "8": {"content": "<x>"}},
                }
            },
            (9,),
        ),
        (
            {
                "tokenizer_config": {"eos_token": {"content": "<e>"}},
                "tokenizer": {"added_tokens": [{"id": 4, "content": "<e>"}]},
            },
            (4,),
        ),
        (
            {
                "tokenizer_config": {"eos_token": "</s>"},
                "tokenizer": {"model": {"vocab": {"</s>": 2}}},
            },
            (2,),
        ),
        (
            {
                "special_tokens_map": {"eos_token": {"content": "<e>"}},
                "tokenizer": {"added_tokens": [{"id": 4, "content": "<e>"}]},
            },
            (4,),
        ),
        (
            {
                "config": {"eos_token_id": 1},
                "generation_config": {"eos_token_id": 2},
                "tokenizer_config": {"eos_token": "a"},
                "special_tokens_map": {"eos_token": "b"},
                "tokenizer": {"model": {"vocab": {"a": 3, "b": 4, "c": 5}}},
            },
            (1, 2, 3, 4),
        ),
        ({}, ()),
    ],
)
def test_every_place_of_a_folder_counts(
    tmp_path: Path, files: dict[str, Any], found: tuple[int, ...]
) -> None:
    assert end_tokens_of_folder(put(tmp_path, **files)) == found


@pytest.mark.parametrize(
    "value",
    [None, -1, True, "2", 2.0, [None, "a", [3]], {}, {"a": 1}, 1 << 31, 10**400, [-5], []],
)
def test_what_is_no_id_is_left_out(tmp_path: Path, value: Any) -> None:
    assert token_ids(value) == []
    files = {
        "config": {"eos_token_id": value, "text_config": value},
        "generation_config": {"eos_token_id": value},
        "tokenizer_config": {"eos_token": "<e>", "added_tokens_decoder": value},
        "special_tokens_map": {"eos_token": value},
        "tokenizer": {"added_tokens": [value, {"content": "<e>", "id": value}], "model": value},
    }
    assert end_tokens_of_folder(put(tmp_path, **files)) == ()


def test_ids_written_as_text_are_read_with_care(tmp_path: Path) -> None:
    listed = {key: {"content": "<e>"} for key in ("9" * 5000, "²", "x", "", "-1", "7")}
    described = {"eos_token": "<e>", "added_tokens_decoder": listed}
    assert end_tokens_of_folder(put(tmp_path, tokenizer_config=described)) == (7,)


@pytest.mark.parametrize("text", sorted(END_TEXTS))
def test_a_control_token_that_is_known_to_end_counts_in_a_gguf_file(text: str) -> None:
    tokens = ["<unk>", "a", text, "<|im_start|>"]
    given = {"tokenizer.ggml.tokens": tokens, "tokenizer.ggml.token_type": [2, 1, 3, 3]}
    assert end_tokens_of_gguf(given) == (2,)
    named = {**given, "tokenizer.ggml.eos_token_id": 0, "tokenizer.ggml.eom_token_id": 1}
    assert end_tokens_of_gguf(named) == (0, 1, 2)
    for kind in (1, 2, 4, 5, 6):  # what a text could hold is never an end
        assert end_tokens_of_gguf({**given, "tokenizer.ggml.token_type": [2, 1, kind, 3]}) == ()


def test_ids_of_a_gguf_file_beyond_its_tokens_are_left_out(tmp_path: Path) -> None:
    given = {"tokenizer.ggml.eot_token_id": 1, "tokenizer.ggml.eos_token_id": 10**6}
    assert end_tokens_of_gguf({**METADATA, **given}) == (1,)
    path = write_gguf(tmp_path / "a.gguf", tensors(), {**METADATA, **given})
    assert open_tokenizer(path).end_tokens == (1,)


def test_ids_of_a_folder_beyond_its_tokens_are_left_out(tmp_path: Path) -> None:
    folder = put(write_tiny_folder(tmp_path), generation_config={"eos_token_id": [3, 10**6]})
    assert open_tokenizer(folder).end_tokens == (3, END)


@pytest.mark.case("C19")
def test_a_text_stops_on_each_of_the_ends_of_generation_config(tmp_path: Path) -> None:
    folder = put(write_tiny_folder(tmp_path), generation_config={"eos_token_id": [1, 106]})
    target = load_model(folder, device="cpu", plan="eager")
    assert target.end_tokens >= {1, 106}
    for token in (1, 106):
        forced = Sampling(logit_bias=((token, 1000.0),))
        text, _, decoder = decode(target, None, sampling=forced, ends=target.end_tokens)
        assert text == [token]
        assert decoder.reason is FinishReason.END_TOKEN
    forced = Sampling(logit_bias=((105, 1000.0),))
    text, _, _ = decode(target, None, sampling=forced, ends=target.end_tokens, count=5)
    assert text == [105] * 5
