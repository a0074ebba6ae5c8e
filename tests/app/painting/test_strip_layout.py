"""Rows of flowing text: laid out once, extended at the end, the same whatever the way there."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from app.fonts import code_font, ui_font
from app.painting.strip_layout import SMALL, StripLayout
from app.viewmodels.characters import decode_piece
from app.viewmodels.chips import make_chip
from app.viewmodels.refs import TokenRef

pytestmark = pytest.mark.usefixtures("qapp")


def chips_of(*pieces, fate="accepted"):
    chips, carry = [], b""
    for number, piece in enumerate(pieces):
        data = piece if isinstance(piece, bytes) else piece.encode()
        decoded = decode_piece(carry, data)
        ref = TokenRef(0, number)
        chips.append(make_chip(ref, fate, decoded, bool(carry), number % 5 == 0))
        carry = decoded.carry
    return chips


def layout(width=300.0, points=12.0):
    return StripLayout(ui_font(points / 9), code_font(points / 9 * SMALL), width)


def laid_out(chips, width=300.0):
    found = layout(width)
    found.update(chips, 0)
    return found


def texts(rows):
    return [[placed.text for placed in row] for row in rows]


def centre(found, chip):
    row, placed = found.parts_of(chip)[0]
    return (placed.left + placed.right) / 2, (row + 0.5) * found.row_height


PIECES = st.sampled_from(
    [
        *(" the", " quick", "ing", "ed", "-", ".", "\n", ".\n\n", "  ", "\t", "漢字", "שלום"),
        *("x" * 70, " y\n z", b"\xf0\x9f", b"\x98\x8a", b"\xff", " supercalifragilistic"),
        *(" a", "e\u0301"),
    ]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@example([*[" the"] * 9, "x" * 70], [(9, [])])  # the last word had wrapped for its neighbour's sake
@given(
    st.lists(PIECES, max_size=60),
    st.lists(st.tuples(st.integers(0, 60), st.lists(PIECES, max_size=4)), max_size=8),
)
def test_extended_layout_equals_one_made_at_once(pieces, edits):
    found = laid_out(chips_of(*pieces), 160.0)
    for keep, added in edits:
        pieces = [*pieces[:keep], *added]
        chips = chips_of(*pieces)
        found.update(chips, min(keep, len(chips)))
        fresh = laid_out(chips, 160.0)
        assert texts(found.rows) == texts(fresh.rows)
        for row, other in zip(found.rows, fresh.rows, strict=True):
            for placed, wanted in zip(row, other, strict=True):
                assert placed.chip == wanted.chip
                assert placed.left == pytest.approx(wanted.left)
                assert placed.end == pytest.approx(wanted.end)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PIECES, min_size=1, max_size=60))
def test_every_chip_is_found_where_it_stands(pieces):
    found = laid_out(chips_of(*pieces), 160.0)
    for chip in range(len(pieces)):
        for row, placed in found.parts_of(chip):
            x, y = (placed.left + placed.right) / 2, (row + 0.5) * found.row_height
            assert found.chip_at(x, y) == chip
        assert found.row_of(chip) == found.parts_of(chip)[0][0]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PIECES, min_size=1, max_size=40))
def test_nothing_stands_outside_the_width_nor_over_a_neighbour(pieces):
    found = laid_out(chips_of(*pieces), 160.0)
    for row in found.rows:
        for placed in row:
            assert placed.start >= -1e-6
            narrow = len(placed.text) == 1 or placed.kind == "newline"
            assert placed.right <= 160.0 or narrow
        for left, right in pairwise(row):
            assert right.left >= left.right - 1e-6


def test_adding_a_round_lays_out_a_few_chips_however_long_the_text():
    chips = chips_of(*[" token"] * 50_000)
    found = laid_out(chips, 600.0)
    found.laid_out = 0
    more = [*chips, *chips_of(" and", " more")]
    found.update(more, len(chips))
    assert found.count == 50_002
    assert found.laid_out < 60


def test_words_stay_whole_at_the_end_of_a_line():
    found = laid_out(chips_of(*[" accept", "able"] * 12), 200.0)
    for row in texts(found.rows):
        assert row[0] == "accept"
        assert row[-1] == "able"


def test_a_line_break_in_the_text_ends_a_row_and_an_indent_stays():
    found = laid_out(chips_of("if x:", "\n", "    return", "\n\n", "y"))
    assert texts(found.rows) == [["if x:", "↵"], ["return", "↵"], ["↵"], ["y"]]
    assert found.rows[1][0].left > 3 * found.space
    assert found.rows[3][0].left == 0.0


def test_a_line_break_that_was_not_kept_ends_no_row():
    assert len(laid_out(chips_of("a", "\n", "b", fate="rejected")).rows) == 1


def test_space_at_which_a_line_wraps_takes_no_room():
    found = laid_out(chips_of(*[" word"] * 40), 200.0)
    assert len(found.rows) > 2
    for row in found.rows[1:]:
        assert row[0].left == 0.0


@pytest.mark.case("B23")
def test_right_to_left_text_keeps_the_tokens_order():
    pieces = ["\u05e9\u05dc\u05d5\u05dd", " 123", " abc", "\t", "\u05e2\u05d5\u05dc\u05dd"]
    found = laid_out(chips_of(*pieces), 600.0)
    lefts = [found.parts_of(chip)[0][1].left for chip in range(len(pieces))]
    assert lefts == sorted(lefts)
    assert all(placed.right > placed.left for placed in found.rows[0])


@pytest.mark.case("B17")
@pytest.mark.parametrize("emoji", [1, 100])
def test_click_after_emoji_finds_the_right_token(emoji):
    found = laid_out(chips_of("a", *["\U0001f60a"] * emoji, "b"), 400.0)
    assert found.chip_at(*centre(found, emoji + 1)) == emoji + 1
    assert found.parts_of(emoji + 1)[0][1].text == "b"


@pytest.mark.case("B28")
def test_long_token_is_laid_out_elided():
    found = laid_out(chips_of("x" * 20_000, *[" word"] * 5_000), 600.0)
    assert sum(len(placed.text) for _, placed in found.parts_of(0)) < 200
    assert found.laid_out < 5_001  # what was asked for
    assert len({placed.chip for row in found.rows for placed in row}) == 5_001
    assert found.laid_out == 5_001  # each once


def test_token_wider_than_the_row_is_broken_without_tearing_a_letter():
    found = laid_out(chips_of("e\u0301" * 60), 100.0)
    assert len(found.rows) > 2
    for row in found.rows:
        assert not row[0].text.startswith("\u0301")
    assert "".join(row[0].text for row in found.rows) == "e\u0301" * 60


def test_new_width_lays_out_once_more_and_the_same_width_does_not():
    chips = chips_of(*[" word"] * 100)
    found = laid_out(chips)
    found.set_width(300.0)
    assert sum(map(len, found.rows)) == found.laid_out == 100
    found.set_width(150.0)
    assert texts(found.rows) == texts(laid_out(chips, 150.0).rows)
    assert found.laid_out == 200


def test_nearest_chip_is_found_beside_a_row():
    found = laid_out(chips_of("a", "\n", "b"))
    assert found.chip_at(500.0, 0.5 * found.row_height) is None
    assert found.chip_at(500.0, 0.5 * found.row_height, nearest=True) == 1
    assert found.chip_at(0.0, 1e6, nearest=True) == 2
    assert layout().chip_at(0.0, 0.0, nearest=True) is None
