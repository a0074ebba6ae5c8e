"""How many first ids are a template's own words: what most texts begin with."""

from __future__ import annotations

from dataclasses import replace

from engine.training.corpus import Corpus
from engine.training.train import _shared_prefix
from tests.engine.training.toys import noise_rows


def with_beginning(begin: list[int], chats: int, others: int) -> Corpus:
    rows = noise_rows([40] * (chats + others), seed=1)
    letters = [(97 + place % 26, *row.tokens) for place, row in enumerate(rows)]
    return Corpus.of(
        [
            replace(row, tokens=(*begin, *ids) if place < chats else ids)
            for place, (row, ids) in enumerate(zip(rows, letters, strict=True))
        ]
    )


def test_a_templates_own_words_are_those_that_most_texts_begin_with() -> None:
    begin = [1, 2, 3, 4, 5, 6, 7]
    assert _shared_prefix(with_beginning(begin, 40, 10)) == 7
    assert _shared_prefix(with_beginning(begin, 40, 60)) == 0  # most have none
    assert _shared_prefix(with_beginning(begin, 4, 0)) == 0  # too few to tell
    alike = Corpus.of([replace(noise_rows([20])[0], kind="same")] * 30)
    assert _shared_prefix(alike) == 10  # never more than half of the texts
