"""Streams release whole characters, lose nothing, and stop where a stop string begins."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import decoders

from engine.errors import DraftscopeError
from engine.models.text.streaming import TextStream
from engine.models.text.tokenizer import Tokenizer
from tests.engine.models.formats.model_files import (
    SENTENCE_PIECES,
    byte_level_backend,
    sentence_piece_backend,
)

LONGER = (
    *(
        b"\xf0\x9f",
        b"\x98\x8a",
        b" \xf0\x9f",
        b"\xe7\xb0",
        b"\xae\xa2\xe5\x8d\x95",
        b"\xe4\xbb\xb7",
    ),
    *(b"alpha beta", b" gamma delta", b"hello", b"..."),
)
BYTE_LEVEL = Tokenizer(byte_level_backend(LONGER))
DECODERS = [None, decoders.Metaspace(), decoders.Metaspace(prepend_scheme="never")]
SENTENCE_PIECE, METASPACE, CONTINUED = (
    Tokenizer(sentence_piece_backend(decoder)) for decoder in DECODERS
)
ALL = {"byte-level": BYTE_LEVEL, "Llama 2": SENTENCE_PIECE, "Metaspace": METASPACE}


class OneByteEach:
    """A vocabulary of bytes that counts what a stream asks of it."""

    def __init__(self) -> None:
        self.asked = 0

    def piece(self, token: int) -> bytes:
        self.asked += 1
        return bytes([token])

    def first_piece(self, token: int) -> bytes:
        return self.piece(token)

    def is_special(self, token: int) -> bool:
        return False


def tokens(*pieces: bytes | str) -> list[int]:
    """Return the ids of byte-level entries with exactly these bytes."""
    wanted = [piece.encode() if isinstance(piece, str) else piece for piece in pieces]
    ids = {BYTE_LEVEL.piece(token): token for token in range(BYTE_LEVEL.vocabulary)}
    return [token for piece in wanted for token in (_split(piece, ids))]


def _split(piece: bytes, ids: dict[bytes, int]) -> list[int]:
    return [ids[piece]] if piece in ids else [ids[bytes([byte])] for byte in piece]


def released(ids: list[int], *stops: str) -> list[str]:
    stream = BYTE_LEVEL.stream(stops)
    return [*(stream.push(token) for token in ids), stream.flush()]


@pytest.mark.case("B01")
def test_an_emoji_is_released_with_its_last_byte() -> None:
    assert released(tokens(b"\xf0\x9f", b"\x98\x8a")) == ["", "😊", ""]


@pytest.mark.case("B02")
def test_three_bytes_over_two_tokens_raise_nothing() -> None:
    assert released(tokens(b"\xe7\xb0", b"\xa8")) == ["", "\u7c28", ""]


@pytest.mark.case("B04")
def test_a_space_before_half_a_character_is_kept() -> None:
    assert released(tokens(b" \xf0\x9f", b"\x98\x8a")) == [" ", "😊", ""]


@pytest.mark.case("B06")
def test_a_token_with_the_tail_of_one_character_and_a_whole_next_one() -> None:
    ids = tokens(b"\xe5", b"\xae\xa2\xe5\x8d\x95", b"\xe4\xbb\xb7")
    assert len(ids) == 3
    assert released(ids) == ["", "客单", "价", ""]


def test_half_a_character_at_the_end_is_flushed_once() -> None:
    stream = BYTE_LEVEL.stream()
    assert [stream.push(token) for token in tokens(b"\xf0\x9f")] == [""]
    assert (stream.flush(), stream.flush()) == ("�", "")


def test_bytes_that_can_be_no_character_are_shown_at_once() -> None:
    assert released(tokens(b"\xff", "a")) == ["�", "a", ""]


@pytest.mark.case("B08")
def test_byte_fallback_releases_a_character_once() -> None:
    stream = SENTENCE_PIECE.stream()
    ids = [3 + byte for byte in "中".encode()]
    assert [stream.push(token) for token in ids] == ["", "", "中"]


@pytest.mark.case("B13")
@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (("▁I", "▁am"), "I am"),
        (("</s>", "▁I", "▁am"), "I am"),
        (("▁I", "</s>", "▁am"), "I am"),
        (("▁I", "▁", "▁am"), "I  am"),
        (("x", "▁", "!", "=", "▁x"), "x != x"),
    ],
)
def test_marked_spaces_are_kept_between_words(pieces: tuple[str, ...], text: str) -> None:
    ids = [_sentence_piece(piece) for piece in pieces]
    stream = SENTENCE_PIECE.stream()
    assert "".join([*map(stream.push, ids), stream.flush()]) == text
    assert SENTENCE_PIECE.decode(ids) == text


def _sentence_piece(piece: str) -> int:
    return 2 if piece == "</s>" else 3 + 256 + SENTENCE_PIECES.index(piece)


@pytest.mark.case("B09")
def test_spaces_before_a_full_stop_are_not_cleaned_up() -> None:
    ids = [_sentence_piece("▁▁▁▁"), _sentence_piece(".")]
    assert [*map(CONTINUED.stream().push, ids)] == ["    ", "."]
    assert CONTINUED.decode(ids) == sentence_piece_backend(DECODERS[2]).decode(ids) == "    ."
    assert SENTENCE_PIECE.decode(ids, at_start=False) == "    ."


def test_a_continuation_keeps_the_space_of_its_first_word() -> None:
    stream = SENTENCE_PIECE.stream(at_start=False)
    assert stream.push(_sentence_piece("▁am")) == " am"


@given(st.lists(st.integers(0, BYTE_LEVEL.vocabulary + 3)), st.booleans())
def test_byte_level_text_is_the_packages_own(ids: list[int], skip: bool) -> None:
    package = byte_level_backend(LONGER)
    assert BYTE_LEVEL.decode(ids, skip) == package.decode(ids, skip_special_tokens=skip)


@given(
    st.lists(st.sampled_from([1, 2, *range(3 + 256, SENTENCE_PIECE.vocabulary + 3)])),
    st.booleans(),
    st.sampled_from(DECODERS),
)
def test_sentence_piece_text_is_the_packages_own(
    ids: list[int], skip: bool, decoder: decoders.Decoder | None
) -> None:
    package = sentence_piece_backend(decoder)
    assert Tokenizer(package).decode(ids, skip) == package.decode(ids, skip_special_tokens=skip)


@given(st.text())
def test_byte_fallback_of_whole_characters_is_the_packages_own(text: str) -> None:
    ids = [3 + byte for byte in text.encode()]
    assert SENTENCE_PIECE.decode(ids, at_start=False) == text
    assert SENTENCE_PIECE.decode(ids) == sentence_piece_backend().decode(ids)


@pytest.mark.parametrize("name", ALL)
@given(data=st.data())
def test_a_stream_put_together_is_all_ids_decoded(name: str, data: st.DataObject) -> None:
    tokenizer = ALL[name]
    ids = data.draw(st.lists(st.integers(0, tokenizer.vocabulary - 1), max_size=40))
    skip, at_start = data.draw(st.booleans()), data.draw(st.booleans())
    stream = tokenizer.stream(skip_special=skip, at_start=at_start)
    chunks = [stream.push(token) for token in ids]
    assert "".join([*chunks, stream.flush()]) == tokenizer.decode(ids, skip, at_start=at_start)


@given(st.text(alphabet=st.characters(codec="utf-8")), st.data())
def test_no_replacement_character_is_shown_for_half_a_character(
    text: str, data: st.DataObject
) -> None:
    stream = TextStream(OneByteEach())
    shown = ""
    for count, byte in enumerate(text.encode(), start=1):
        shown += stream.push(byte)
        assert shown == text.encode()[:count].decode(errors="ignore")


class CountedStop(str):
    """A stop string that counts the characters that are searched for its beginnings."""

    def __init__(self, _: str) -> None:
        self.compared = 0

    def startswith(self, beginning: str) -> bool:  # type: ignore[override]  # the stream's own use
        self.compared += len(beginning)
        return super().startswith(beginning)


@pytest.mark.case("B08")
def test_every_token_costs_the_same() -> None:
    pieces, stop = OneByteEach(), CountedStop("中中never comes")
    stream = TextStream(pieces, [stop])
    shown, costs = [], []
    for token in "中".encode() * 667:  # 2001 tokens
        asked, compared = pieces.asked, stop.compared
        shown.append(stream.push(token))
        costs.append((pieces.asked - asked, stop.compared - compared))
        assert len(stream.withheld) + len(stream.begun) <= 4
    shown.append(stream.flush())
    assert "".join(shown) == "中" * 667
    assert max(costs[100:200]) == max(costs[-100:]) <= (1, 12)


@pytest.mark.case("B19")
def test_a_stop_string_across_tokens_ends_the_text_there() -> None:
    stream = BYTE_LEVEL.stream(["beta gamma"])
    ids = tokens("alpha beta", " gamma delta", "hello")
    assert len(ids) == 3
    assert [stream.push(token) for token in ids] == ["alpha ", "", ""]
    assert (stream.stop_string, stream.flush(), stream.withheld) == ("beta gamma", "", "")
    by_letter = BYTE_LEVEL.stream(["beta gamma"])
    assert "".join(map(by_letter.push, tokens(*"alpha beta gamma delta"))) == "alpha "


@pytest.mark.case("B21")
def test_only_a_proper_prefix_of_a_stop_string_is_withheld() -> None:
    stream = BYTE_LEVEL.stream(["<|sep|>"])
    assert [stream.push(token) for token in tokens("hello", "<", "|", "x")] == [
        *("hello", "", "", "<|x"),
    ]
    stream = TextStream(OneByteEach(), ["<|sep|>"])
    assert [stream.push(byte) for byte in b"hello"] == list("hello")
    assert [stream.push(byte) for byte in b"a<|b"] == ["a", "", "", "<|b"]
    assert [stream.push(byte) for byte in b"<|se"] == [""] * 4
    assert (stream.withheld, stream.flush(), stream.stopped) == ("<|se", "<|se", False)


@pytest.mark.case("B22")
def test_text_is_cut_at_a_stop_inside_a_token() -> None:
    stream = BYTE_LEVEL.stream([".."])
    assert [stream.push(token) for token in tokens("a", "...")] == ["a", ""]
    assert stream.stop_string == ".."


def test_half_a_character_can_complete_a_stop_string_at_the_end() -> None:
    stream = TextStream(OneByteEach(), ["�"])
    assert [stream.push(byte) for byte in b"a\xf0"] == ["a", ""]
    assert (stream.flush(), stream.stopped) == ("", True)


def test_an_empty_stop_string_is_refused() -> None:
    with pytest.raises(DraftscopeError, match="empty"):
        BYTE_LEVEL.stream(["a", ""])


class Chunks:
    """A vocabulary of given pieces of text."""

    def __init__(self, pieces: list[str]) -> None:
        self._pieces = pieces

    def piece(self, token: int) -> bytes:
        return self._pieces[token].encode()

    first_piece = piece

    def is_special(self, token: int) -> bool:
        return False


@given(
    st.lists(st.text("abc", max_size=5), max_size=12),
    st.lists(st.text("abc", min_size=1, max_size=4), max_size=3),
)
def test_where_a_text_stops_does_not_depend_on_its_tokens(
    pieces: list[str], stops: list[str]
) -> None:
    text = "".join(pieces)
    stream = TextStream(Chunks(pieces), stops)
    shown = ""
    for token in range(len(pieces)):
        shown += stream.push(token)
        assert text.startswith(shown)
    shown += stream.flush()
    ends = [text.index(stop) + len(stop) for stop in stops if stop in text]
    if not ends:
        assert (shown, stream.stopped) == (text, False)
        return
    first = text[: min(ends)]
    longest = max((stop for stop in stops if first.endswith(stop)), key=len)
    assert (shown, stream.stop_string) == (first.removesuffix(longest), longest)
