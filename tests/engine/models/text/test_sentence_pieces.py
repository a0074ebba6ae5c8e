"""SentencePiece vocabularies in GGUF files, against a plain reading of SentencePiece's own rule."""

from __future__ import annotations

import math
import random
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tokenizers import Tokenizer as Backend
from tokenizers import models, pre_tokenizers, trainers

from engine.errors import DraftscopeError
from engine.models.text.gguf_tokenizer import backend_from_gguf
from engine.models.text.sentence_pieces import BYTES
from engine.models.text.tokenizer import Tokenizer, open_tokenizer
from tests.engine.models.formats.model_files import tensors, write_gguf

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

CONTROL = ["<unk>", "<s>", "</s>"]
TEXT = (
    "In the beginning there was the word, and the word was with the others; nothing that is "
    "said is said but by words, and there is no end to the saying of them. L'été à la plage, "
    "where the waves are and the sand is. The theatre's other end: the three thieves, thereafter."
)


def trained(text: str, size: int) -> list[str]:
    """Train pieces on a text, the most frequent first, as SentencePiece's own BPE does."""
    backend = Backend(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    backend.train_from_iterator([text], trainers.BpeTrainer(vocab_size=size, show_progress=False))
    vocabulary = backend.get_vocab()
    return sorted(vocabulary, key=vocabulary.__getitem__)


PIECES = trained(TEXT, 160)


def metadata(pieces: Sequence[str] = PIECES, **changes: Any) -> dict[str, Any]:
    tokens = [*CONTROL, *BYTES, *pieces]
    values: dict[str, Any] = {
        "model": "llama",
        "tokens": tokens,
        "token_type": [2, 3, 3, *[6] * 256, *[1] * len(pieces)],
        "scores": [0.0] * 259 + [-float(rank) for rank in range(len(pieces))],
        "bos_token_id": 1,
        "eos_token_id": 2,
    }
    return {f"tokenizer.ggml.{key}": value for key, value in {**values, **changes}.items()}


def opened(**changes: Any) -> Tokenizer:
    return Tokenizer(backend_from_gguf(metadata(**changes), "a.gguf"))


def joined_by_score(text: str, given: dict[str, Any], *, prefix: bool = True) -> list[int]:
    """Join the two neighbours whose joint piece scores highest, the leftmost of several."""
    tokens, scores, types = (
        given[f"tokenizer.ggml.{key}"] for key in ("tokens", "scores", "token_type")
    )
    ids = {piece: token for token, piece in enumerate(tokens)}
    score = {piece: scores[token] for piece, token in ids.items() if types[token] in (1, 5)}
    symbols = list((" " * (prefix and bool(text)) + text).replace(" ", "▁"))
    while True:
        joint = [
            (score[left + right], -at)
            for at, (left, right) in enumerate(pairwise(symbols))
            if left + right in score
        ]
        if not joint:
            break
        at = -max(joint)[1]
        symbols[at : at + 2] = [symbols[at] + symbols[at + 1]]
    found: list[int] = []
    for symbol in symbols:
        found += [ids[symbol]] if symbol in ids else [ids[BYTES[byte]] for byte in symbol.encode()]
    return found


def test_texts_of_the_vocabulary_are_joined_by_score() -> None:
    tokenizer, given = opened(), metadata()
    draw = random.Random(7)
    longest = 0
    for _ in range(400):
        start = draw.randrange(len(TEXT))
        text = TEXT[start : start + draw.randrange(60)]
        if draw.random() < 0.3:
            text = "".join(draw.sample(text, len(text)))
        ids = tokenizer.encode(text)
        assert ids == joined_by_score(text, given), text
        longest = max(longest, *(len(tokenizer.entry(token)) for token in ids), 0, 0)
    assert longest >= 6  # or nothing was joined


@given(st.text(st.sampled_from("athe wors,. é中😊\n\u0000<0x41>▁"), max_size=30))
def test_any_text_is_joined_by_score_and_comes_back(text: str) -> None:
    assume("<s>" not in text)  # that is no text
    ids = opened().encode(text)
    assert ids == joined_by_score(text, metadata())
    assert opened().decode(ids, skip_special=False) == text.replace("▁", " ")


@given(st.integers(0, 2**64))
def test_any_vocabulary_is_joined_by_score(seed: int) -> None:
    """Scores in any order: a long piece may come before the pieces that it is made of."""
    draw = random.Random(seed)
    pieces = list("abc▁")
    while len(pieces) < 24:
        piece = draw.choice(pieces) + draw.choice(pieces)
        if piece not in pieces and len(piece) < 8:
            pieces.append(piece)
    order = draw.sample(range(len(pieces)), len(pieces))
    scores = [0.0] * 259 + [-float(rank) for rank in order]
    given = metadata(pieces, scores=scores)
    tokenizer = Tokenizer(backend_from_gguf(given, "a.gguf"))
    for _ in range(20):
        text = "".join(draw.choice("ab c") for _ in range(draw.randrange(24)))
        assert tokenizer.encode(text) == joined_by_score(text, given), text


def test_control_tokens_are_recognised_and_each_part_between_begins_with_a_space() -> None:
    tokenizer, given = opened(), metadata()
    ids = tokenizer.encode("the<s>the</s>")
    the = joined_by_score("the", given)
    assert ids == [*the, 1, *the, 2]
    assert [tokenizer.is_special(token) for token in (0, 1, 2, 3, 259)] == [True] * 3 + [False] * 2
    assert tokenizer.decode(ids) == "the the"


def test_user_defined_tokens_are_text_and_unused_ones_join_as_any() -> None:
    types = metadata()["tokenizer.ggml.token_type"]
    marked = {"token_type": [*types, 4], "tokens": [*metadata()["tokenizer.ggml.tokens"], "<|x|>"]}
    scores = [*metadata()["tokenizer.ggml.scores"], 0.0]
    tokenizer = opened(**marked, scores=scores)
    last = len(types)
    assert last in tokenizer.encode("the <|x|> end")
    assert not tokenizer.is_special(last)
    assert tokenizer.decode([last]) == "<|x|>"
    unused = {"token_type": [5 if kind == 1 else kind for kind in types[:-1]] + [1]}
    assert opened(**unused).encode(TEXT) == opened().encode(TEXT)


def test_a_byte_written_out_is_text_and_a_byte_token_is_a_byte() -> None:
    tokenizer = opened()
    assert tokenizer.decode(tokenizer.encode("<0x41>")) == "<0x41>"
    assert 3 + 0x41 not in tokenizer.encode("<0x41>")
    assert tokenizer.encode("中") == [259 + PIECES.index("▁"), *(3 + b for b in "中".encode())]
    assert tokenizer.decode([3 + byte for byte in "中".encode()]) == "中"


def test_pieces_of_a_text_are_never_joined_into_a_byte_or_a_control_token() -> None:
    """Nor into what scores highest of all."""
    pieces = [*"▁<0x41>s", "0x", "0x4", "0x41", "0x41>", "s>"]
    given = metadata(pieces)
    tokenizer = Tokenizer(backend_from_gguf(given, "a.gguf"))
    assert [tokenizer.entry(token) for token in tokenizer.encode("<0x41>")] == ["▁", "<", "0x41>"]
    assert tokenizer.decode(tokenizer.encode("<0x41>")) == "<0x41>"
    assert tokenizer.encode("<0x41>s>") == joined_by_score("<0x41>s>", given)


def test_without_a_prefix_nothing_is_put_before_or_taken_off() -> None:
    bare = opened(add_space_prefix=False)
    assert bare.encode("the end") == joined_by_score("the end", metadata(), prefix=False)
    assert bare.decode(bare.encode(" the ")) == " the "
    assert opened().decode(opened().encode(" the ")) == " the "


def test_texts_begin_with_the_beginning_token_unless_the_file_says_no() -> None:
    bare = opened().encode("end")
    assert opened().encode("end", add_special=True) == [1, *bare]
    assert opened(add_bos_token=False).encode("end", add_special=True) == bare
    assert opened(add_eos_token=True).encode("end", add_special=True) == [1, *bare, 2]
    assert opened().encode("") == []


def test_a_gguf_file_with_sentence_pieces_is_opened(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "a.gguf", tensors(), metadata())
    tokenizer = open_tokenizer(path)
    assert tokenizer.decode(tokenizer.encode(TEXT)) == TEXT
    assert (tokenizer.end_tokens, tokenizer.bos) == ((2,), 1)


TOKENS = metadata()["tokenizer.ggml.tokens"]
SCORES = metadata()["tokenizer.ggml.scores"]
JOINED = next(token for token, piece in enumerate(TOKENS) if piece in PIECES and len(piece) > 1)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"scores": None}, "no list of scores"),
        ({"scores": ["a"] * len(TOKENS)}, "no list of scores"),
        ({"scores": SCORES[:-1]}, "scores that does not fit"),
        ({"scores": [*SCORES[:JOINED], math.nan, *SCORES[JOINED + 1 :]]}, "the score nan"),
        ({"scores": [*SCORES[:JOINED], *[-5.0] * (len(SCORES) - JOINED)]}, "have one score"),
        ({"tokens": [*TOKENS[:5], "x<0x02>", *TOKENS[6:]]}, "lacks the byte token <0x02>"),
        ({"tokens": [*TOKENS[:-1], "x" * 257]}, "a token of 257 characters"),
        ({"add_space_prefix": 1}, "add_space_prefix as 1"),
    ],
)
def test_vocabularies_that_leave_something_open_are_refused(
    changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(DraftscopeError, match=said):
        opened(**changes)
