"""Whatever the text and wherever its bytes are cut into tokens, a stream is its decoding."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import decoders

from engine.models.text.streaming import TextStream
from engine.models.text.tokenizer import Tokenizer
from tests.engine.models.formats.model_files import byte_level_backend, sentence_piece_backend

if TYPE_CHECKING:
    from collections.abc import Sequence


class Cut:
    """A vocabulary of given pieces of bytes: token i is the i-th; some are control tokens."""

    def __init__(self, pieces: Sequence[bytes], special: Sequence[bool] = ()) -> None:
        self._pieces, self._special = pieces, special

    def piece(self, token: int) -> bytes:
        return self._pieces[token]

    first_piece = piece

    def is_special(self, token: int) -> bool:
        return bool(self._special) and self._special[token]


# Every code point, lone surrogates among them; and those that texts go wrong with.
AWKWARD = "a \n\t\r\x00\u0301\u05e9\u0661\u200d\u202e\ufeff\ufffd\ud83d\ude0a中😊\U0010ffff"
ANY_TEXT = st.text(st.characters(exclude_categories=()) | st.sampled_from(AWKWARD))
# Bytes that begin, go on with and break characters, more often than chance would have them.
ANY_BYTES = st.binary(max_size=40) | st.lists(
    st.sampled_from(b"a\x80\x8f\x90\x9f\xa0\xbf\xc0\xc1\xc3\xe0\xe4\xed\xef\xf0\xf4\xf5\xff"),
    max_size=40,
).map(bytes)
DATA = ANY_BYTES | ANY_TEXT.map(lambda text: text.encode("utf-8", "surrogatepass"))
# Few letters, so that stop strings overlap, hold and begin one another.
STOP_TEXT = st.text("ab😊\n", max_size=30)
STOPS = st.lists(st.text("ab😊\n\ufffd", min_size=1, max_size=5), max_size=5)


def cut(data: st.DataObject, whole: bytes) -> list[bytes]:
    """Cut bytes into tokens anywhere, inside characters too; some tokens are empty."""
    places = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=len(whole) + 2)))
    return [whole[start:end] for start, end in pairwise([0, *places, len(whole)])]


def put_together(stream: TextStream, count: int) -> str:
    return "".join([*(stream.push(token) for token in range(count)), stream.flush()])


@settings(max_examples=300)
@given(DATA, st.data())
def test_a_stream_put_together_is_all_bytes_decoded_at_once(
    whole: bytes, data: st.DataObject
) -> None:
    pieces = cut(data, whole)
    text = put_together(TextStream(Cut(pieces)), len(pieces))
    assert text == whole.decode("utf-8", "replace")


@settings(max_examples=300)
@given(ANY_TEXT, st.data())
def test_a_text_comes_out_as_it_was_but_for_lone_surrogates(text: str, data: st.DataObject) -> None:
    sound = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    pieces = cut(data, sound.encode())
    assert put_together(TextStream(Cut(pieces)), len(pieces)) == sound
    tokenizer = BYTE_LEVEL
    assert tokenizer.decode(tokenizer.encode(text)) == sound


@settings(max_examples=300)
@given(DATA | STOP_TEXT.map(str.encode), STOPS, st.data())
def test_every_byte_is_accounted_for_and_nothing_is_taken_back(
    whole: bytes, stops: list[str], data: st.DataObject
) -> None:
    pieces = cut(data, whole)
    stream = TextStream(Cut(pieces), stops)
    released, taken = "", b""
    final = put_together(TextStream(Cut(pieces), stops), len(pieces))
    for token, piece in enumerate(pieces):
        released, taken = released + stream.push(token), taken + piece
        assert final.startswith(released)
        if stream.stopped:
            return
        complete = taken.removesuffix(stream.begun)
        assert len(complete) + len(stream.begun) == len(taken)
        assert complete.decode("utf-8", "replace") == released + stream.withheld
        assert len(stream.begun) < 4
        assert not stream.withheld or any(
            stop.startswith(stream.withheld) and stop != stream.withheld for stop in stops
        )


def text_and_stop(whole: str, stops: Sequence[str]) -> tuple[str, str | None]:
    """The whole text's own cut: at the stop string that ends first, of these at the longest."""
    for end in range(1, len(whole) + 1):
        ending = [stop for stop in stops if whole[:end].endswith(stop)]
        if ending:
            found = max(ending, key=len)
            return whole[: end - len(found)], found
    return whole, None


@settings(max_examples=300)
@given(STOP_TEXT.map(str.encode) | DATA, STOPS, st.data())
def test_where_a_text_is_cut_does_not_depend_on_its_tokens(
    whole: bytes, stops: list[str], data: st.DataObject
) -> None:
    text = whole.decode("utf-8", "replace")
    if text:  # a stop string out of the text itself, too
        start = data.draw(st.integers(0, len(text) - 1))
        stops = [*stops, text[start : start + data.draw(st.integers(1, 6))]]
    pieces = cut(data, whole)
    stream = TextStream(Cut(pieces), stops)
    shown = put_together(stream, len(pieces))
    assert (shown, stream.stop_string) == text_and_stop(text, stops)
    assert stream.stopped == (stream.stop_string is not None)
    assert not stream.withheld


@settings(max_examples=300)
@given(st.lists(st.tuples(ANY_BYTES, st.booleans())), st.booleans())
def test_control_tokens_are_in_the_text_exactly_if_they_are_shown(
    tokens: list[tuple[bytes, bool]], skip: bool
) -> None:
    pieces, special = [piece for piece, _ in tokens], [one for _, one in tokens]
    stream = TextStream(Cut(pieces, special), skip_special=skip)
    kept = [piece for piece, control in tokens if not (skip and control)]
    assert put_together(stream, len(pieces)) == b"".join(kept).decode("utf-8", "replace")


BYTE_LEVEL = Tokenizer(byte_level_backend([b"\xf0\x9f", b"\x98\x8a", b"  ", "中".encode()]))
DECODERS = [None, decoders.Metaspace(), decoders.Metaspace(prepend_scheme="never")]
VOCABULARIES = [BYTE_LEVEL, *(Tokenizer(sentence_piece_backend(one)) for one in DECODERS)]


@pytest.mark.parametrize("tokenizer", VOCABULARIES, ids=["bytes", "Llama 2", "Metaspace", "never"])
@settings(max_examples=300)
@given(data=st.data(), skip=st.booleans())
def test_a_stream_that_goes_on_with_a_text_adds_what_the_whole_would(
    tokenizer: Tokenizer, data: st.DataObject, skip: bool
) -> None:
    ids = st.lists(st.integers(0, tokenizer.vocabulary - 1), min_size=1, max_size=20)
    before, after = data.draw(ids), data.draw(ids)
    begun = tokenizer.stream(skip_special=skip)
    shown = "".join(map(begun.push, before))
    if begun.begun or not shown:
        return  # the text does not stand at a character's end, or has not begun
    assert shown == tokenizer.decode(before, skip)
    going_on = tokenizer.stream(skip_special=skip, at_start=False)
    added = "".join([*map(going_on.push, after), going_on.flush()])
    assert shown + added == tokenizer.decode([*before, *after], skip)
