"""Corpora as files: what is written is read, tables too, and damage is told in a sentence."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.errors import DraftscopeError
from engine.training.corpus import MEASURED, Corpus, joined, kept_rows, read_corpus, write_corpus
from tests.engine.training.toys import noise_rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

VOCABULARY = 258


def equal(one: Corpus, other: Corpus) -> bool:
    tensors = torch.equal(one.tokens, other.tokens) and torch.equal(one.starts, other.starts)
    lists = (one.kinds, one.temperatures, one.validation)
    return tensors and lists == (other.kinds, other.temperatures, other.validation)


@pytest.fixture
def corpus() -> Corpus:
    return Corpus.of(noise_rows([5 + i % 7 for i in range(60)]))


def test_rows_keep_their_ids_kinds_and_temperatures(corpus: Corpus) -> None:
    rows = noise_rows([5 + i % 7 for i in range(60)])
    assert corpus.rows == 60
    for index, row in enumerate(rows):
        assert corpus.row(index).tolist() == list(row.tokens)
        assert (corpus.kinds[index], corpus.temperatures[index]) == (row.kind, row.temperature)
    assert corpus.lengths() == [len(row.tokens) for row in rows]


def test_one_row_in_so_many_is_kept_for_measuring(corpus: Corpus) -> None:
    assert corpus.validation == {6, 6 + MEASURED, 6 + 2 * MEASURED}
    for rows in (1, 2, 5, 24, 25, 500):
        kept = kept_rows(rows)
        assert rows / MEASURED - 1 < len(kept) < rows / MEASURED + 1
        assert kept <= set(range(rows))
        assert len(kept) >= 1
    assert 0 not in kept_rows(2) | kept_rows(30)


def test_a_text_that_is_kept_is_trained_on_nowhere() -> None:
    rows = noise_rows([40] * 60)
    apart, kept = Corpus.of(rows), 6
    rest = [row for row in range(60) if row not in apart.validation]
    assert kept in apart.validation
    assert apart.trained == (*rest,)
    rows[0] = replace(rows[kept], kind="another", temperature=0.7)  # the same text
    rows[1] = replace(rows[kept], tokens=rows[kept].tokens[:-1])  # nearly so
    assert Corpus.of(rows).trained == tuple(row for row in rest if row != 0)
    twice = joined((apart, apart))  # the same rows of both are kept
    assert twice.trained == (*rest, *(60 + row for row in rest))


def test_what_is_written_is_read(corpus: Corpus, tmp_path: Path) -> None:
    path = tmp_path / "text.safetensors"
    write_corpus(corpus, path)
    assert equal(read_corpus(path, VOCABULARY), corpus)
    assert [found.name for found in tmp_path.iterdir()] == ["text.safetensors"]


def test_joined_corpora_keep_their_rows_and_what_is_kept_of_each(corpus: Corpus) -> None:
    other = Corpus.of(noise_rows([3] * 30, seed=1))
    both = joined([corpus, other, corpus])
    assert both.rows == 150
    for index in range(150):
        part, row = ((corpus, index), (other, index - 60), (corpus, index - 90))[
            (index >= 60) + (index >= 90)
        ]
        assert torch.equal(both.row(index), part.row(row))
        assert both.kinds[index] == part.kinds[row]
        assert (index in both.validation) == (row in part.validation)


def test_a_table_of_rows_of_one_length_is_read(tmp_path: Path) -> None:
    table = torch.arange(40, dtype=torch.int32).view(5, 8)
    heats = torch.tensor([0.0, 0.7, 1.0, 0.0, 1.0])
    path = tmp_path / "table.safetensors"
    save_file({"tokens": table, "temperature": heats, "validation": torch.tensor([1, 4])}, path)
    corpus = read_corpus(path, VOCABULARY)
    assert corpus.rows == 5
    assert [corpus.row(index).tolist() for index in range(5)] == table.tolist()
    assert corpus.validation == {1, 4}
    assert corpus.temperatures == tuple(heats.tolist())
    assert corpus.kinds == ("text",) * 5


def test_a_file_that_cannot_be_written_leaves_nothing(corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "text.safetensors").mkdir()
    with pytest.raises(DraftscopeError, match=r"text\.safetensors cannot be written .*make room"):
        write_corpus(corpus, tmp_path / "text.safetensors")
    assert [found.name for found in tmp_path.iterdir()] == ["text.safetensors"]
    with pytest.raises(DraftscopeError, match="cannot be written"):
        write_corpus(corpus, tmp_path / "nowhere" / "text.safetensors")


def without(name: str) -> Callable[[dict[str, torch.Tensor]], None]:
    return lambda stored: stored.__delitem__(name)


def put(name: str, tensor: torch.Tensor) -> Callable[[dict[str, torch.Tensor]], None]:
    return lambda stored: stored.update({name: tensor})


def moved(by: int, place: int) -> Callable[[dict[str, torch.Tensor]], None]:
    def change(stored: dict[str, torch.Tensor]) -> None:
        stored["starts"][place] += by

    return change


DAMAGES = {
    "no ids": (without("tokens"), "holds no text for training"),
    "ids as int64": (put("tokens", torch.zeros(9, dtype=torch.int64)), "holds no text"),
    "no ids at all": (put("tokens", torch.zeros(0, dtype=torch.int32)), "holds no text"),
    "ids in a cube": (put("tokens", torch.zeros(2, 2, 2, dtype=torch.int32)), "holds no text"),
    "an id too high": (put("tokens", torch.full((479,), 258, dtype=torch.int32)), "does not have"),
    "a negative id": (put("tokens", torch.full((479,), -1, dtype=torch.int32)), "does not have"),
    "no starts": (without("starts"), "where its rows begin"),
    "one start": (put("starts", torch.zeros(1, dtype=torch.int64)), "where its rows begin"),
    "starts as floats": (put("starts", torch.zeros(61)), "where its rows begin"),
    "starts in a table": (put("starts", torch.zeros(61, 1, dtype=torch.int64)), "rows begin"),
    "a late first start": (moved(1, 0), "do not fill it"),
    "an early last start": (moved(-1, -1), "do not fill it"),
    "starts that fall": (moved(100, 3), "do not fill it"),
    "too few kinds": (put("kind", torch.zeros(59, dtype=torch.int32)), "lists do not fit"),
    "kinds as floats": (put("kind", torch.zeros(60)), "lists do not fit"),
    "too many temperatures": (put("temperature", torch.zeros(61)), "lists do not fit"),
    "a table of temperatures": (put("temperature", torch.zeros(60, 1)), "lists do not fit"),
    "a kept row too many": (put("validation", torch.tensor([60])), "lists do not fit"),
    "a negative kept row": (put("validation", torch.tensor([-1])), "lists do not fit"),
    "kept rows in a table": (put("validation", torch.tensor([[1]])), "lists do not fit"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_every_damage_is_one_sentence(corpus: Corpus, tmp_path: Path, damage: str) -> None:
    path = tmp_path / "text.safetensors"
    write_corpus(corpus, path)
    stored = load_file(path)
    change, words = DAMAGES[damage]
    change(stored)
    save_file(stored, path)
    with pytest.raises(DraftscopeError, match=words) as told:
        read_corpus(path, VOCABULARY)
    assert str(told.value).startswith("text.safetensors ")


@pytest.mark.parametrize("content", [b"", b"words", b"\x10\0\0\0\0\0\0\0{}", None])
def test_a_file_that_is_none_is_one_sentence(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "text.safetensors"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DraftscopeError, match=r"text\.safetensors"):
        read_corpus(path, VOCABULARY)


@pytest.mark.parametrize("kinds", ["[", "{}", "7", "[" * 100_000, json.dumps(["only one"])])
def test_kinds_that_cannot_be_read_are_plain_text(
    corpus: Corpus, tmp_path: Path, kinds: str
) -> None:
    path = tmp_path / "text.safetensors"
    write_corpus(corpus, path)
    save_file(load_file(path), path, metadata={"kinds": kinds})
    found = read_corpus(path, VOCABULARY)
    assert set(found.kinds) <= {"text", "only one"}
    assert torch.equal(found.tokens, corpus.tokens)


def test_a_corpus_that_keeps_nothing_for_measuring_is_read(corpus: Corpus, tmp_path: Path) -> None:
    path = tmp_path / "text.safetensors"
    whole = Corpus(
        corpus.tokens, corpus.starts, corpus.kinds, corpus.temperatures, validation=frozenset()
    )
    write_corpus(whole, path)
    assert equal(read_corpus(path, VOCABULARY), whole)


def test_ids_take_four_bytes_each(corpus: Corpus) -> None:
    # a million tokens are 4 MB; what is kept for each row is few words
    assert corpus.tokens.dtype == torch.int32
    assert corpus.tokens.untyped_storage().nbytes() == 4 * len(corpus.tokens)
