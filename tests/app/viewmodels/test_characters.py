"""A character may be spread over tokens: none is lost, none is shown as half, none as a box."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.viewmodels.characters import decode_piece, written
from app.viewmodels.chips import SHOWN_CHARACTERS, Chip, make_chip
from app.viewmodels.refs import TokenRef


def chips_of(*pieces: bytes) -> list[Chip]:
    chips, carry = [], b""
    for number, piece in enumerate(pieces):
        decoded = decode_piece(carry, piece)
        ref = TokenRef(0, number)
        chips.append(make_chip(ref, "accepted", decoded, bool(carry), number == 0))
        carry = decoded.carry
    return chips


def drawn(chip: Chip) -> str:
    return "".join(fragment.text for fragment in chip.fragments)


@pytest.mark.case("B01")
def test_emoji_over_two_tokens_is_shown_by_the_second():
    first, second = chips_of(b"\xf0\x9f", b"\x98\x8a")
    assert first.text == ""
    assert drawn(first) == "⟨F0 9F⟩"
    assert first.fragments[0].kind == "bytes"
    assert drawn(second) == second.text == "\U0001f60a"
    assert first.shares_after
    assert second.shares_before
    assert not second.shares_after


@pytest.mark.case("B02")
def test_three_byte_character_over_two_tokens():
    assert [chip.text for chip in chips_of(b"\xe7\xb0", b"\xa8")] == ["", "\u7c28"]


@pytest.mark.case("B04")
def test_space_before_a_begun_character_is_kept():
    first, second = chips_of(b" \xf0\x9f", b"\x98\x8a")
    assert first.text == " "
    assert drawn(first) == " ⟨F0 9F⟩"
    assert second.text == "\U0001f60a"


@pytest.mark.case("B06")
def test_token_with_the_tail_of_one_character_and_whole_others():
    text = "\u5ba2\u5355\u4ef7"
    data = text.encode()
    chips = chips_of(data[:1], data[1:6], data[6:])
    assert "".join(chip.text for chip in chips) == text
    assert [chip.shares_before for chip in chips] == [False, True, False]
    assert [chip.shares_after for chip in chips] == [True, False, False]


@pytest.mark.case("B08")
def test_character_over_three_tokens_is_emitted_once():
    chips = chips_of(b"\xe4", b"\xb8", b"\xad")
    assert [chip.text for chip in chips] == ["", "", "\u4e2d"]
    assert [chip.shares_before for chip in chips] == [False, True, True]
    assert [drawn(chip) for chip in chips] == ["⟨E4⟩", "⟨B8⟩", "\u4e2d"]


def test_bytes_that_are_no_character_are_hex():
    begun, after = chips_of(b"\xe4\xb8", b"a")
    assert drawn(begun) == "⟨E4 B8⟩"
    assert drawn(after) == "a"
    assert not after.shares_before
    (stray,) = chips_of(b"x\xff\xfey")
    assert drawn(stray) == "x⟨FF FE⟩y"
    assert stray.text == "xy"


def test_brackets_of_the_text_itself_stay_text():
    (chip,) = chips_of("a⟨b⟩".encode())
    assert [fragment.kind for fragment in chip.fragments] == ["text"]


@given(st.text(), st.randoms(use_true_random=False))
def test_joined_chips_are_the_text_wherever_tokens_end(text, random):
    data = text.encode()
    cuts = sorted(random.randrange(len(data) + 1) for _ in range(random.randrange(8)))
    pieces = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    chips = chips_of(*pieces)
    assert "".join(chip.text for chip in chips) == text
    assert not any("\ufffd" in drawn(chip) for chip in chips if "\ufffd" not in text)


@given(st.lists(st.binary(max_size=6)))
def test_no_bytes_make_a_lone_surrogate_or_nothing(pieces):
    for chip in chips_of(*pieces):
        chip.text.encode()
        assert drawn(chip).encode()


@pytest.mark.case("B23")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\u202e", "⟨U+202E⟩"),
        ("a\u2066b", "a⟨U+2066⟩b"),
        ("\x1b[0m", "⟨1B⟩[0m"),
        ("\u0301", "⟨U+0301⟩"),
        ("e\u0301", "e\u0301"),
        ("\u200d", "⟨U+200D⟩"),
        ("\U0001f469\u200d\U0001f4bb", "\U0001f469\u200d\U0001f4bb"),
        ("\u2028", "⟨U+2028⟩"),
        ("\r", "⟨0D⟩"),
    ],
)
def test_characters_that_would_not_be_seen_are_named(text, shown):
    assert written(text) == shown


def test_white_space_alone_is_visible_and_lines_end():
    assert [f.kind for f in chips_of(b"  ")[0].fragments] == ["space"]
    assert drawn(chips_of(b"  ")[0]) == "··"
    assert drawn(chips_of(b"\t")[0]) == "⇥"
    (chip,) = chips_of(b".\n\n")
    assert [(f.text, f.kind) for f in chip.fragments] == [
        (".", "text"),
        ("↵", "newline"),
        ("↵", "newline"),
    ]
    assert [f.kind for f in chips_of(b"\r\n")[0].fragments] == ["newline"]
    assert drawn(chips_of(b" word")[0]) == " word"


def test_empty_piece_still_has_a_chip():
    assert drawn(chips_of(b"")[0]) == "⟨⟩"


@pytest.mark.case("B28")
def test_long_token_is_elided_and_keeps_its_text():
    (chip,) = chips_of(b"x" * 20_000)
    assert chip.elided
    assert len(drawn(chip)) <= SHOWN_CHARACTERS + 1
    assert "…" in drawn(chip)
    assert len(chip.text) == 20_000
    (lines,) = chips_of(b"\n" * 20_000)
    assert len(lines.fragments) <= SHOWN_CHARACTERS + 1


@pytest.mark.case("B08")
def test_cost_of_a_token_does_not_grow_with_the_text():
    carry, longest = b"", 0
    for piece in (b"\xe4", b"\xb8", b"\xad") * 700:
        decoded = decode_piece(carry, piece)
        carry = decoded.carry
        longest = max(longest, len(carry) + len(decoded.text))
    assert longest <= 4
