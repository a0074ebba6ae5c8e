"""Text comes out as its tokens' bytes, whatever a folder's files say of cleaning it up."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import pytest
from tokenizers import AddedToken, Tokenizer, decoders

from engine.models.text import tokenizer as opened
from tests.engine.models.formats.model_files import (
    CONFIG,
    byte_level_backend,
    sentence_piece_backend,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    Open = Callable[[Tokenizer, bool], opened.Tokenizer]

CONTROLS = ("<|channel|>", "<|message|>")
LONGER = (b" !=", b" x", b" .", b" 's", b" ,", b"\xf0\x9f", b"\x98\x8a", b"\xe4\xb8", b"\xad")


@pytest.fixture
def folder_with(tmp_path: Path) -> Open:
    """Open a folder with a tokenizer, in which tokenizer_config.json asks for cleaning or not."""

    def make(backend: Tokenizer, clean_up: bool) -> opened.Tokenizer:
        backend.save(str(tmp_path / "tokenizer.json"))
        (tmp_path / "config.json").write_text(json.dumps(CONFIG))
        described = {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "clean_up_tokenization_spaces": clean_up,
        }
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(described))
        return opened.open_tokenizer(tmp_path)

    return make


def streamed(tokenizer: opened.Tokenizer, ids: Sequence[int], skip: bool = True) -> str:
    stream = tokenizer.stream(skip_special=skip)
    return "".join([*(stream.push(token) for token in ids), stream.flush()])


@pytest.mark.case("B11")
@pytest.mark.parametrize("clean_up", [True, False])
@pytest.mark.parametrize("text", ["x != y and a.b == c", "a , b . c ! d ? it 's do n't", "  x  "])
def test_text_makes_the_round_trip_although_the_folder_asks_for_cleaning(
    folder_with: Open, clean_up: bool, text: str
) -> None:
    tokenizer = folder_with(byte_level_backend(LONGER), clean_up)
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == streamed(tokenizer, ids) == text


def decoded_at_once(tokenizer: opened.Tokenizer, ids: Sequence[int], strips: bool) -> str:
    """The ids' own bytes together, decoded in one go; the beginning may lose a space."""
    data = b"".join(tokenizer.piece(token) for token in ids if not tokenizer.is_special(token))
    return data[strips and data[:1] == b" " :].decode("utf-8", "replace")


@pytest.mark.case("B12")
@pytest.mark.parametrize("clean_up", [True, False])
@pytest.mark.parametrize("kind", ["byte-level", "byte fallback"])
def test_500_streams_put_together_are_all_ids_decoded(
    folder_with: Open, clean_up: bool, kind: str
) -> None:
    falls_back = kind == "byte fallback"
    backend = sentence_piece_backend() if falls_back else byte_level_backend(LONGER)
    tokenizer, source = folder_with(backend, clean_up), random.Random(12)
    seen = {"�": 0, "😊": 0, " .": 0}
    for _ in range(500):
        ids = source.choices(range(tokenizer.vocabulary), k=source.randrange(1, 40))
        if source.random() < 0.5:  # every other one holds characters in halves
            ids += tokenizer.encode("中😊 != .") + ids[:3]
        text = streamed(tokenizer, ids)
        assert text == decoded_at_once(tokenizer, ids, falls_back) == tokenizer.decode(ids)
        if not falls_back:  # the package's fallback gives one mark a byte where bytes are no text
            assert text == backend.decode(ids)
        for part in seen:
            seen[part] += part in text
    assert min(seen.values()) > 100


@pytest.mark.case("B15")
@pytest.mark.parametrize("skip", [True, False])
def test_no_space_comes_after_a_control_token(skip: bool) -> None:
    backend = byte_level_backend()
    backend.add_special_tokens([AddedToken(text, normalized=False) for text in CONTROLS])
    tokenizer = opened.Tokenizer(backend)
    ids = tokenizer.encode("<|channel|>analysis<|message|> it is<|end|>")
    assert sum(map(tokenizer.is_special, ids)) == 3
    shown = "analysis it is" if skip else "<|channel|>analysis<|message|> it is<|end|>"
    assert streamed(tokenizer, ids, skip) == shown
    assert backend.decode(ids, skip_special_tokens=skip) == tokenizer.decode(ids, skip) == shown


@pytest.mark.case("B15")
@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize(
    "decoder", [None, decoders.Metaspace(), decoders.Metaspace(prepend_scheme="never")]
)
def test_control_tokens_of_marked_spaces_are_the_packages_own(
    skip: bool, decoder: decoders.Decoder | None
) -> None:
    backend = sentence_piece_backend(decoder)
    tokenizer = opened.Tokenizer(backend)
    ids = [backend.token_to_id(piece) for piece in ("<s>", "▁I", "</s>", "▁am", "x", "</s>", "▁x")]
    text = streamed(tokenizer, ids, skip)
    assert text == backend.decode(ids, skip_special_tokens=skip)
    assert ("</s>" in text) != skip
