"""Byte-level tokenizers in GGUF files: lists that fit, tokens put around, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from engine.errors import DraftscopeError
from engine.models.text.gguf_tokenizer import backend_from_gguf
from engine.models.text.tokenizer import Tokenizer
from tests.engine.models.formats.model_files import SPECIALS, byte_entries

MERGES = ["h e", "l l", "he ll", "hell o", "Ġ w"]
ENTRIES = [*byte_entries(), "he", "ll", "hell", "hello", "Ġw"]
METADATA: dict[str, Any] = {
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "smollm",
    "tokenizer.ggml.tokens": ENTRIES,
    "tokenizer.ggml.token_type": [3] * len(SPECIALS) + [1] * (len(ENTRIES) - len(SPECIALS)),
    "tokenizer.ggml.merges": MERGES,
    "tokenizer.ggml.bos_token_id": 0,
    "tokenizer.ggml.eos_token_id": 1,
}


def from_metadata(**changes: Any) -> Tokenizer:
    names = {f"tokenizer.ggml.{key}": value for key, value in changes.items()}
    return Tokenizer(backend_from_gguf({**METADATA, **names}, "a.gguf"))


def texts(tokenizer: Tokenizer, text: str) -> list[str]:
    return [tokenizer.piece(token).decode() for token in tokenizer.encode(text)]


def test_merges_and_control_tokens_of_gguf_metadata_are_used() -> None:
    tokenizer = from_metadata()
    assert texts(tokenizer, "hello w<|turn|>hell") == ["hello", " w", "<|turn|>", "hell"]
    assert [tokenizer.is_special(token) for token in (0, 1, 2, 3)] == [True, True, True, False]
    assert tokenizer.vocabulary == len(ENTRIES)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"pre": "viking"}, r"viking.*smollm, gpt-2, llama-bpe"),
        ({"pre": "default"}, "default"),
        ({"pre": ["smollm"]}, "smollm"),
        ({"pre": None}, "None"),
        ({"model": "t5"}, "kind t5"),
        ({"model": 3}, "kind 3"),
        ({"model": "llama"}, "no list of scores"),
        ({"model": None}, "no tokenizer"),
        ({"tokens": []}, "no list of tokens"),
        ({"tokens": "abc"}, "no list of tokens"),
        ({"tokens": [1, 2]}, "no list of tokens"),
        ({"tokens": ["a", "b"], "token_type": [5, 5]}, "no token that is used"),
        ({"tokens": ["a", "a"], "token_type": [1, 1], "merges": []}, "twice"),
        ({"token_type": [1]}, "does not fit"),
        ({"token_type": [1.0] * len(ENTRIES)}, "does not fit"),
        ({"token_type": 3}, "does not fit"),
        ({"merges": None}, "no list of merges"),
        ({"merges": ["he zz"]}, "he zz"),
        ({"merges": ["hello"]}, "hello"),
        ({"merges": ["h e", "h e"]}, "twice"),
        ({"merges": [7]}, "no list of merges"),
        ({"add_bos_token": "yes"}, "add_bos_token as 'yes'"),
        ({"add_bos_token": True, "bos_token_id": 10_000}, "no token to add as bos"),
        ({"add_eos_token": True, "eos_token_id": None}, "no token to add as eos"),
        ({"add_eos_token": True, "eos_token_id": True}, "no token to add as eos"),
    ],
)
def test_gguf_tokenizers_that_are_not_understood_are_refused(
    changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(DraftscopeError, match=said):
        from_metadata(**changes)


def test_beginning_token_is_put_only_where_asked() -> None:
    tokenizer = from_metadata(add_bos_token=True)
    assert tokenizer.encode("hello", add_special=True)[0] == 0
    assert tokenizer.encode("hello") == from_metadata().encode("hello", add_special=True)
    assert len(tokenizer.encode("hello")) == 1


def test_ending_token_is_put_behind_where_the_file_asks_for_it() -> None:
    tokenizer = from_metadata(add_bos_token=True, add_eos_token=True)
    hello = tokenizer.encode("hello")
    assert tokenizer.encode("hello", add_special=True) == [0, *hello, 1]
    assert from_metadata(add_eos_token=True).encode("hello", add_special=True) == [*hello, 1]


def test_a_beginning_token_of_any_text_is_put_before() -> None:
    odd = ["$A:1 b", *ENTRIES[1:]]
    tokenizer = from_metadata(tokens=odd, add_bos_token=True)
    assert tokenizer.encode("hello", add_special=True)[0] == 0


def test_llama3_begins_where_the_file_does_not_say() -> None:
    begun = from_metadata(pre="llama-bpe").encode("hello", add_special=True)
    assert begun == [0, *from_metadata(pre="llama-bpe").encode("hello")]
    unnamed = from_metadata(pre="llama-bpe", bos_token_id=10_000)
    assert unnamed.encode("hello", add_special=True) == begun[1:]
    assert unnamed.bos is None


@pytest.mark.parametrize(("pre", "count"), [("llama-bpe", 1), ("tekken", 1), ("smollm", 3)])
def test_a_word_that_is_a_token_is_taken_whole_where_the_models_do(pre: str, count: int) -> None:
    """Its merges alone would never make it."""
    types = METADATA["tokenizer.ggml.token_type"]
    tokenizer = from_metadata(pre=pre, tokens=[*ENTRIES, "xyz"], token_type=[*types, 1])
    assert len(tokenizer.encode("xyz")) == count


@pytest.mark.parametrize(("pre", "same"), [("qwen2", True), ("deepseek-r1-qwen", False)])
def test_text_is_composed_first_where_the_models_do(pre: str, same: bool) -> None:
    tokenizer = from_metadata(pre=pre)
    assert (tokenizer.encode("e\u0301") == tokenizer.encode("é")) is same


def test_unused_entries_that_pad_the_end_are_no_part_of_the_vocabulary() -> None:
    padded = from_metadata(
        tokens=[*ENTRIES, "[PAD1]", "[PAD2]"],
        token_type=[*METADATA["tokenizer.ggml.token_type"], 5, 5],
    )
    assert padded.vocabulary == len(ENTRIES)
    assert padded.identical_to(from_metadata()) is None


def test_user_defined_tokens_are_text_and_recognised_whole() -> None:
    spaces = "  \t"
    tokenizer = from_metadata(
        tokens=[*ENTRIES, spaces], token_type=[*METADATA["tokenizer.ggml.token_type"], 4]
    )
    (token,) = tokenizer.encode(spaces)
    assert not tokenizer.is_special(token)
    assert tokenizer.decode([token]) == spaces


def test_an_added_token_is_its_own_text_and_not_bytes() -> None:
    """Each character of "Ã©" stands for a byte in the vocabulary's alphabet, but this is text."""
    tokenizer = from_metadata(
        tokens=[*ENTRIES, "Ã©"], token_type=[*METADATA["tokenizer.ggml.token_type"], 4]
    )
    (token,) = tokenizer.encode("Ã©")
    assert tokenizer.decode([token]) == tokenizer.decode([0, token]) == "Ã©"
