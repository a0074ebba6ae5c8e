"""Conversations that a target holds: with users it makes up, with given ones, and raw texts.

Knows a chat template's turns as ids; draws by `answers`. Knows no source of prompts and no file.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.training.answers import SEQUENCES, Prompt, answer

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    import torch

    from engine.models.text.chat import ChatTemplate
    from engine.models.text.tokenizer import Tokenizer
    from engine.training.answers import Answer
    from engine.training.batched import BatchedTransformer

_MARK = "\N{OBJECT REPLACEMENT CHARACTER}user\N{OBJECT REPLACEMENT CHARACTER}"
USER_LIMIT = 120  # tokens of a user's turn that the model writes
WARMTH = 1.0  # temperature of such a turn: the wider, the more kinds of text


@dataclass(frozen=True)
class Conversation:
    """How a conversation begins, and how it goes on."""

    kind: str  # a word for the corpus: what sort of prompt this is
    temperature: float  # of the answers
    text: str | None = None  # the user's first turn; None: the model writes it
    raw: bool = False  # `text` is gone on with as it is, through no template
    turns: int = 1  # answers; the model writes the user's turns between them
    limit: int = 256  # tokens of each answer


@dataclass(frozen=True)
class Row:
    """One text of the corpus."""

    tokens: tuple[int, ...]
    temperature: float  # at which the target drew its part
    kind: str


@dataclass(frozen=True)
class _Talk:
    """Where a conversation stands."""

    conversation: Conversation
    users_turn: bool  # what is being drawn
    answers: int = 0


@dataclass(frozen=True)
class Turns:
    """What a chat template writes around turns, as ids."""

    begin: tuple[int, ...]  # a text's start, up to a user's first words
    to_answer: tuple[int, ...]  # from a user's last word to the answer's first
    to_user: tuple[int, ...]  # from an answer's last word to the user's first

    @classmethod
    def of(cls, template: ChatTemplate, tokenizer: Tokenizer) -> Turns:
        """Read them off a rendered conversation of two users' turns."""
        turn = {"role": "user", "content": _MARK}
        reply = {"role": "assistant", "content": _MARK}
        text = template.render([turn, reply, turn])
        begin, to_answer, to_user, _ = text.split(_MARK)
        return cls(*(tuple(tokenizer.encode(part)) for part in (begin, to_answer, to_user)))


def converse(
    model: BatchedTransformer,
    tokenizer: Tokenizer,
    turns: Turns | None,
    beginnings: Iterator[Conversation],
    ends: frozenset[int],
    generator: torch.Generator,
    *,
    longest: int = 640,
    sequences: int = SEQUENCES,
) -> Generator[Row, None, None]:
    """Yield conversations as they end.

    Parameters
    ----------
    turns
        None for a model without a chat template: all must be raw then.
    beginnings
        Read as there is room; endless ones are fine, since rows are yielded one by one.
    longest
        Tokens of a conversation.
    """
    following: deque[Prompt] = deque()  # turns that can go on now

    def prompts() -> Iterator[Prompt]:
        while True:
            if following:
                yield following.popleft()
                continue
            begun = next(beginnings, None)
            if begun is None:
                return
            yield _first(begun, tokenizer, turns)

    while True:
        for done in answer(model, prompts(), ends, generator, sequences=sequences, longest=longest):
            talk = done.prompt.tag
            assert isinstance(talk, _Talk)
            if talk.users_turn:
                asked = _asked(done, talk, turns, ends)
                if asked is not None:
                    following.append(asked)
                continue
            more = _more(done, talk, turns, ends, longest)
            if more is None:
                row = (*done.prompt.tokens, *done.drawn)
                yield Row(row, talk.conversation.temperature, talk.conversation.kind)
            else:
                following.append(more)
        if not following:
            return


def _first(conversation: Conversation, tokenizer: Tokenizer, turns: Turns | None) -> Prompt:
    """Return the first thing to draw."""
    talk = _Talk(conversation, users_turn=False)
    if conversation.raw:
        text = tokenizer.encode(conversation.text or "", add_special=True)
        return Prompt(tuple(text), conversation.temperature, conversation.limit, talk)
    assert turns is not None, "without a chat template there are raw ones only"
    if conversation.text is None:
        return Prompt(turns.begin, WARMTH, USER_LIMIT, replace(talk, users_turn=True))
    ids = (*turns.begin, *tokenizer.encode(conversation.text), *turns.to_answer)
    return Prompt(ids, conversation.temperature, conversation.limit, talk)


def _asked(done: Answer, talk: _Talk, turns: Turns | None, ends: frozenset[int]) -> Prompt | None:
    """Return the answer that a made-up user's turn asks for; None if there are no words in it."""
    assert turns is not None
    words = tuple(token for token in done.drawn if token not in ends)
    if len(words) < 3 or done.repeats:
        return None
    conversation = talk.conversation
    ids = (*done.prompt.tokens, *words, *turns.to_answer)
    return Prompt(
        ids, conversation.temperature, conversation.limit, replace(talk, users_turn=False)
    )


def _more(
    done: Answer, talk: _Talk, turns: Turns | None, ends: frozenset[int], longest: int
) -> Prompt | None:
    """Return the user's next turn, if there is to be one and it has room; None if it was all."""
    conversation, answers = talk.conversation, talk.answers + 1
    over = conversation.raw or turns is None or answers >= conversation.turns or done.repeats
    if over or done.drawn[-1] not in ends:
        return None
    assert turns is not None
    ids = (*done.prompt.tokens, *done.drawn[:-1], *turns.to_user)
    if len(ids) + USER_LIMIT + conversation.limit // 2 > longest:
        return None
    return Prompt(ids, WARMTH, USER_LIMIT, replace(talk, users_turn=True, answers=answers))
