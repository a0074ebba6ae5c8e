"""A text is followed through the bytes of its tokens, whatever a trace leaves open."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.check.text import TextReadings
from engine.models.text.streaming import TextStream

PIECES = (
    b" the",
    b" ",
    b"a",
    b"ab",
    b"b",
    b"\xf0\x9f",
    b"\x99\x82",
    b"\xc3",
    b"\xa9",
    b"\xff",
    b"",
)


class _Pieces:
    """Tokens are indices of PIECES; those from `special` on are control tokens, all written <s>."""

    def __init__(self, special: int, *, strip: bool) -> None:
        self._special, self._strip = special, strip

    def piece(self, token: int) -> bytes:
        return b"<s>" if self.is_special(token) else PIECES[token]

    def first_piece(self, token: int) -> bytes:
        piece = self.piece(token)
        return piece[1:] if self._strip and piece.startswith(b" ") else piece

    def is_special(self, token: int) -> bool:
        return token >= self._special


TOKENS = st.lists(st.integers(0, 2 * len(PIECES) - 1), max_size=24)
STOPS = st.sampled_from([(), ("ab",), ("ba", "aab"), ("\ufffd",), ("🙂 t", "é")])


@given(TOKENS, STOPS, st.booleans(), st.booleans())
def test_what_a_stream_releases_can_always_be_read(
    tokens: list[int], stops: tuple[str, ...], strip: bool, at_start: bool
) -> None:
    pieces = _Pieces(len(PIECES), strip=strip)
    stream = TextStream(pieces, stops, at_start=at_start)
    readings = TextReadings(stops, at_start=at_start)
    for token in tokens:
        assert readings.add(pieces.piece(token), stream.push(token)) is None
        if stream.stopped:
            assert readings.may_have_stopped
            break
    else:
        assert not readings.must_have_stopped
    assert readings.finish(stream.flush()) is None


@given(TOKENS.filter(bool), st.data())
def test_a_letter_that_no_token_holds_is_never_read(tokens: list[int], data: st.DataObject) -> None:
    pieces = _Pieces(len(PIECES), strip=False)
    stream, readings = TextStream(pieces), TextReadings((), at_start=False)
    spoilt = data.draw(st.integers(0, len(tokens) - 1))
    for index, token in enumerate(tokens):
        released = stream.push(token) + "x" * (index == spoilt)
        wrong = readings.add(pieces.piece(token), released)
        if index == spoilt:
            assert wrong is not None
            return
        assert wrong is None


@pytest.mark.parametrize(
    ("pieces", "texts", "wrong"),
    [
        ((b"ab", b"c"), ("ab", "c"), None),
        ((b"ab", b"c"), ("ab", "d"), "'' or 'c'"),
        ((b"\xf0\x9f", b"\x99\x82"), ("", "🙂"), None),
        ((b"\xf0\x9f", b"\x99\x82"), ("🙂", ""), "''"),  # not before its last byte is there
        ((b"a", b"<|end|>"), ("a", ""), None),  # a control token, perhaps
        ((b"a", b"<|end|>"), ("a", "<|end|>"), None),  # or none
        ((b"a", b"<|end|>"), ("a", "<|"), "'' or '<|end|>'"),  # but nothing in between
    ],
)
def test_texts_are_the_bytes_of_their_tokens(
    pieces: tuple[bytes, ...], texts: tuple[str, ...], wrong: str | None
) -> None:
    readings = TextReadings((), at_start=False)
    found = [readings.add(*pair) for pair in zip(pieces, texts, strict=True)]
    assert next((one for one in found if one is not None), None) == wrong


def test_text_is_withheld_only_while_it_may_begin_a_stop_string() -> None:
    readings = TextReadings(("END",), at_start=False)
    assert readings.add(b"x", "x") is None
    assert readings.add(b"E", "") is None
    assert readings.add(b"N", "") is None
    assert not readings.may_have_stopped
    assert readings.add(b"D.", "") is None
    assert readings.may_have_stopped
    assert readings.finish("") is None
    assert readings.finish("END.") is not None  # nothing of a stop string comes out
    other = TextReadings(("END",), at_start=False)
    assert other.add(b"xE", "x") is None
    assert other.add(b"\xff", "") is not None  # no control token, and "E\ufffd" begins nothing
