"""Conversations as the chat template writes them, with users given and made up, and raw texts."""

from __future__ import annotations

from itertools import islice, pairwise
from typing import TYPE_CHECKING

import pytest
import torch

from engine.models.text.chat import ChatTemplate, open_chat_template
from engine.models.text.tokenizer import open_tokenizer
from engine.training.conversations import USER_LIMIT, Conversation, Row, Turns, converse
from engine.training.opened import open_target
from tests.engine.training.toys import TURNS, write_toy
from tests.tiny_model import END, TEMPLATE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from engine.models.text.tokenizer import Tokenizer
    from engine.training.opened import OpenedTarget

WORDS = "How many mills stand by the river?"


def held(
    target: OpenedTarget, beginnings: Iterable[Conversation], *, longest: int = 160, seed: int = 0
) -> list[Row]:
    generator = torch.Generator().manual_seed(seed)
    rows = converse(
        target.model,
        target.tokenizer,
        target.turns,
        iter(beginnings),
        target.ends,
        generator,
        longest=longest,
        sequences=12,
    )
    return list(rows)


def written(tokenizer: Tokenizer, template: ChatTemplate, *said: str) -> list[int]:
    """Ids of a conversation whose turns are `said`, up to the next answer's first word."""
    roles = ("user", "assistant")
    turns = [{"role": roles[i % 2], "content": words} for i, words in enumerate(said)]
    return tokenizer.encode(template.render(turns))


def pieced(tokenizer: Tokenizer, turns: Turns, first: str, answer: str, second: str) -> list[int]:
    said = [tokenizer.encode(words) for words in (first, answer, second)]
    return [
        *(*turns.begin, *said[0], *turns.to_answer),
        *(*said[1], *turns.to_user, *said[2], *turns.to_answer),
    ]


@pytest.mark.parametrize("source", [TURNS, TEMPLATE])
def test_turns_are_what_template_and_tokenizer_give_for_the_whole(
    toy: OpenedTarget, source: str
) -> None:
    template = ChatTemplate(source, {})
    turns = Turns.of(template, toy.tokenizer)
    said = (WORDS, "Three, and one is old.", "Which one?")
    expected = written(toy.tokenizer, template, *said)
    assert pieced(toy.tokenizer, turns, *said) == expected


@pytest.mark.model
def test_turns_are_those_of_the_default_models_template(default_model_path: Path) -> None:
    tokenizer, template = open_tokenizer(default_model_path), open_chat_template(default_model_path)
    assert template is not None
    turns = Turns.of(template, tokenizer)
    for said in ((WORDS, "Three.", "Which?"), ("def f(x):\n    return", "```\n1\n```", "é 日本")):
        assert pieced(tokenizer, turns, *said) == written(tokenizer, template, *said)
    assert len(turns.begin) == 24  # its own system turn, up to a user's first word


def test_a_given_users_turn_stands_in_the_row_and_the_target_goes_on(toy: OpenedTarget) -> None:
    template = ChatTemplate(TURNS, {})
    rows = held(toy, [Conversation("asked", 0.7, WORDS, limit=20)] * 5)
    begin = written(toy.tokenizer, template, WORDS)
    assert len(rows) == 5
    for row in rows:
        assert list(row.tokens[: len(begin)]) == begin
        assert 1 <= len(row.tokens) - len(begin) <= 20
        assert (row.temperature, row.kind) == (0.7, "asked")


def test_made_up_users_speak_first_and_are_answered(toy: OpenedTarget) -> None:
    assert toy.turns is not None
    rows = held(toy, [Conversation("made-up", 1.0, limit=10)] * 8, longest=400)
    assert rows
    begin, to_answer = toy.turns.begin, toy.turns.to_answer
    for row in rows:
        assert row.tokens[: len(begin)] == begin
        rest = row.tokens[len(begin) :]
        at = next(i for i in range(len(rest)) if rest[i : i + len(to_answer)] == to_answer)
        assert 3 <= at <= USER_LIMIT
        assert END not in rest[:at]
        assert 1 <= len(rest) - at - len(to_answer) <= 10


def test_raw_texts_pass_through_no_template(toy: OpenedTarget) -> None:
    rows = held(toy, [Conversation("raw", 1.0, WORDS, raw=True, turns=3, limit=15)] * 4)
    ids = tuple(toy.tokenizer.encode(WORDS, add_special=True))
    assert [row.tokens[: len(ids)] for row in rows] == [ids] * 4
    assert all(0 < len(row.tokens) - len(ids) <= 15 for row in rows)


class Ending:
    """A target that ends a turn at each token with the chance 0.15, at temperature 1."""

    def __init__(self, target: OpenedTarget, monkeypatch: pytest.MonkeyPatch) -> None:
        logits = target.model.transformer.logits

        def raised(hidden: torch.Tensor) -> torch.Tensor:
            scores = logits(hidden).clone()
            scores[:, END] = scores.logsumexp(dim=-1) - 1.7
            return scores

        monkeypatch.setattr(target.model.transformer, "logits", raised)


def test_a_conversation_of_two_turns_is_one_row(
    toy: OpenedTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    Ending(toy, monkeypatch)
    assert toy.turns is not None
    two = Conversation("two", 1.0, WORDS, turns=2, limit=40)
    rows = held(toy, [two] * 40, longest=700)
    to_user, to_answer = toy.turns.to_user, toy.turns.to_answer

    def count(row: Row, part: tuple[int, ...]) -> int:
        return sum(row.tokens[i : i + len(part)] == part for i in range(len(row.tokens)))

    whole = [row for row in rows if count(row, to_answer) == 2]
    assert len(whole) > 5
    for row in whole:
        assert count(row, to_user) == 2  # the first after the system's turn
        assert (END, END) not in pairwise(row.tokens)  # the template ends the first answer
    assert all(count(row, to_answer) == 1 for row in held(toy, [Conversation("one", 1.0, WORDS)]))


@pytest.mark.parametrize("longest", [60, 90, 200])
def test_no_row_is_longer_than_the_longest(
    toy: OpenedTarget, monkeypatch: pytest.MonkeyPatch, longest: int
) -> None:
    Ending(toy, monkeypatch)
    beginnings = [
        Conversation("mixed", 1.0, text, raw=raw, turns=3, limit=50)
        for text, raw in ((None, False), (WORDS, False), (WORDS, True), (WORDS * 9, False)) * 5
    ]
    rows = held(toy, beginnings, longest=longest)
    assert rows
    assert max(len(row.tokens) for row in rows) <= longest


def test_a_base_model_goes_on_with_raw_texts_alone(tmp_path: Path) -> None:
    base = open_target(str(write_toy(tmp_path / "base", template=None)), "cpu")
    assert base.turns is None
    rows = held(base, [Conversation("raw", 1.0, WORDS, raw=True, turns=2, limit=9)] * 3)
    assert len(rows) == 3


@pytest.mark.parametrize(
    "template",
    [
        "{{ raise_exception('no') }}",
        "{% for m in messages %}{{ m.content | upper }}{% endfor %}",
        "{{ messages[0].content }} and no more",
    ],
)
def test_a_template_that_takes_words_apart_is_not_used(tmp_path: Path, template: str) -> None:
    assert open_target(str(write_toy(tmp_path / "odd", template=template)), "cpu").turns is None


def test_endless_beginnings_are_read_as_rows_are_taken(toy: OpenedTarget) -> None:
    read = 0

    def endless() -> Iterator[Conversation]:
        nonlocal read
        while True:
            read += 1
            yield Conversation("raw", 1.0, WORDS, raw=True, limit=4)

    generator = torch.Generator().manual_seed(0)
    rows = converse(
        toy.model, toy.tokenizer, toy.turns, endless(), toy.ends, generator, sequences=10
    )
    assert len(list(islice(rows, 30))) == 30
    assert read <= 30 + 2 * 10
    rows.close()
