"""The table of pre-tokenizers: each splits as the model's own tokenizer.json says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from engine.models.text.pieces import piece_decoder
from engine.models.text.pre_tokenizers import PRE_TOKENIZERS

BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
GPT2 = {**BYTES, "use_regex": True}
DIGITS = {"type": "Digits", "individual_digits": True}


def split_by(*patterns: str) -> list[dict[str, Any]]:
    return [
        {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
        for pattern in patterns
    ]


# What the tokenizer.json of a model of each kind declares, as it is written there.
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
TEKKEN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
DEEPSEEK_CODER = ("[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥\u0800-一가-\ud7ff]+")
DECLARED: dict[str, list[dict[str, Any]]] = {
    "smollm": [DIGITS, GPT2],
    "gpt-2": [GPT2],
    "llama-bpe": [*split_by(LLAMA3), BYTES],
    "llama3": [*split_by(LLAMA3), BYTES],
    "llama-v3": [*split_by(LLAMA3), BYTES],
    "qwen2": [*split_by(QWEN2), BYTES],
    "deepseek-r1-qwen": [*split_by(QWEN2), BYTES],
    "tekken": [*split_by(TEKKEN), BYTES],
    "deepseek-coder": [*split_by(*DEEPSEEK_CODER), DIGITS, BYTES],
    "starcoder": [DIGITS, GPT2],
    "refact": [DIGITS, GPT2],
}
# Pieces written by hand, so that one slip in both places is seen.
SAMPLE = "a12 3   b'll!?\n\nCdE's it'S 年2024/\n/ñ"
BY_HAND = {
    "smollm": "a|1|2| |3|  | b|'ll|!?|\n|\n|CdE|'s| it|'|S| 年|2|0|2|4|/|\n|/|ñ",
    "gpt-2": "a|12| 3|  | b|'ll|!?|\n|\n|CdE|'s| it|'|S| 年|2024|/|\n|/|ñ",
    "llama-bpe": "a|12| |3|  | b|'ll|!?\n\n|CdE|'s| it|'S| 年|202|4|/\n|/ñ",
    "qwen2": "a|1|2| |3|  | b|'ll|!?\n\n|CdE|'s| it|'S| 年|2|0|2|4|/\n|/ñ",
    "tekken": "a|1|2| |3|  | b|'ll|!?\n\n|Cd|E|'s| it|'S| 年|2|0|2|4|/\n/|ñ",
    "deepseek-coder": "a|1|2| |3|  | b|'|ll|!?|\n|\n|CdE|'|s| it|'|S| |年|2|0|2|4|/|\n|/|ñ",
}


def pieces(name: str, text: str) -> list[str]:
    decoder = piece_decoder({"type": "ByteLevel"})
    split = PRE_TOKENIZERS[name].make().pre_tokenize_str(text)
    return [decoder.piece(piece).decode() for piece, _ in split]


def declared(name: str) -> Tokenizer:
    described = {"type": "Sequence", "pretokenizers": DECLARED[name]}
    model = {"type": "BPE", "vocab": {}, "merges": []}
    return Tokenizer.from_str(json.dumps({"pre_tokenizer": described, "model": model}))


def test_every_name_of_the_table_is_held_to_a_declaration() -> None:
    assert PRE_TOKENIZERS.keys() == DECLARED.keys()
    same_as = {"llama3": "llama-bpe", "llama-v3": "llama-bpe", "deepseek-r1-qwen": "qwen2"}
    same_as |= {"starcoder": "smollm", "refact": "smollm"}
    for name in PRE_TOKENIZERS:
        assert DECLARED[name] == DECLARED[same_as.get(name, name)]
        assert same_as.get(name, name) in BY_HAND


@pytest.mark.parametrize(("name", "split"), BY_HAND.items(), ids=BY_HAND)
def test_text_is_split_as_written_by_hand(name: str, split: str) -> None:
    assert pieces(name, SAMPLE) == split.split("|")


@pytest.mark.parametrize("name", DECLARED)
@given(text=st.text(st.sampled_from("aBé中ǅªंa 1२Ⅷ'sLl\n\r\t\u00a0/.!$_😊\u0301"), max_size=24))
def test_any_text_is_split_as_the_models_own_file_declares(name: str, text: str) -> None:
    own = declared(name).pre_tokenizer.pre_tokenize_str(text)
    ours = PRE_TOKENIZERS[name].make().pre_tokenize_str(text)
    assert [piece for piece, _ in ours] == [piece for piece, _ in own]


def test_what_models_of_a_split_have_in_common() -> None:
    begins = {name for name, known in PRE_TOKENIZERS.items() if known.begins}
    whole = {name for name, known in PRE_TOKENIZERS.items() if known.whole_words}
    composes = {name for name, known in PRE_TOKENIZERS.items() if known.composes}
    assert begins == whole == {"llama-bpe", "llama3", "llama-v3", "tekken"}
    assert composes == {"qwen2"}
