"""Of a long text what is in sight is laid out, and it stays where it is."""

from __future__ import annotations

import random

import pytest

from app.fonts import code_font, ui_font
from app.painting.strip_blocks import LEAST_CHIPS, MOST_CHIPS, block_ends
from app.painting.strip_layout import KEPT_BLOCKS, SMALL, WHOLE_CHIPS, StripLayout
from app.viewmodels.characters import decode_piece
from app.viewmodels.chips import make_chip
from app.viewmodels.refs import TokenRef

pytestmark = pytest.mark.usefixtures("qapp")
WORDS = [b" the", b" quick", b"ing", b" fox", b"-", b" jumped", b"."]
HEIGHT = 400.0


def chips_of(count, line=40, seed=0):
    """Chips of a text whose lines have about so many tokens; 0: one line."""
    pick = random.Random(seed)
    pieces = [
        b"\n" if line and pick.random() < 1 / line else pick.choice(WORDS) for _ in range(count)
    ]
    return [
        make_chip(TokenRef(0, i), "accepted", decode_piece(b"", piece), False, False)
        for i, piece in enumerate(pieces)
    ]


def layout(chips=(), width=500.0):
    found = StripLayout(ui_font(1.4), code_font(1.4 * SMALL), width)
    found.update(chips, 0)
    return found


@pytest.fixture(scope="module")
def long_text():
    return chips_of(20_000)


@pytest.mark.parametrize("line", [40, 400, 0])
def test_blocks_follow_one_another_and_are_neither_small_nor_large(line):
    chips = chips_of(6_000, line)
    begin, before = 0, False
    for end, goes_on in block_ends(chips, 0, 0):
        assert 0 < end - begin <= MOST_CHIPS
        assert end - begin >= LEAST_CHIPS or end == len(chips)
        if end < len(chips):
            assert goes_on != (chips[end - 1].fragments[-1].kind == "newline")
        begin, before = end, goes_on
    assert begin == len(chips)
    assert not before


def test_a_long_text_costs_what_is_seen_of_it(long_text):
    found = layout()
    found.update(long_text, 0)
    assert found.laid_out <= MOST_CHIPS
    for share in (0.0, 0.3, 0.9, 1.0):
        before = found.laid_out
        found.settle(share * found.height, HEIGHT)
        assert found.laid_out - before < 8 * LEAST_CHIPS


def test_nothing_is_guessed_of_a_short_text():
    chips = chips_of(WHOLE_CHIPS)
    found = layout(chips)
    for width in (500.0, 300.0, 700.0):
        found.set_width(width)
        found.settle(0.0, HEIGHT)
        height = found.height
        assert sum(1 for _ in found.rows) * found.row_height == height


def test_another_width_lays_out_what_is_seen_and_no_more(long_text):
    found = layout(long_text)
    before = found.laid_out
    for width in range(600, 300, -10):
        found.set_width(float(width))
        found.settle(found.height / 2, HEIGHT)
    assert found.laid_out - before < 31 * 8 * LEAST_CHIPS


def test_reading_on_finds_every_chip_once_and_the_height_that_was_guessed(long_text):
    found = layout(long_text)
    found.settle(0.0, HEIGHT)
    guessed = found.height
    seen = [placed.chip for row in found.rows for placed in row]
    assert sorted(set(seen)) == list(range(len(long_text)))
    assert found.laid_out < len(long_text) + 6 * MOST_CHIPS
    assert guessed == pytest.approx(found.height, rel=0.1)
    again = layout(long_text)
    list(again.rows)
    assert again.height == found.height


def in_sight(found, top):
    first = int(top // found.row_height)
    rows = range(max(0, first), min(len(found.rows), first + int(HEIGHT // found.row_height)))
    return [
        (placed.chip, row * found.row_height - top) for row in rows for placed in found.rows[row]
    ]


def test_what_is_in_sight_stays_there_while_one_scrolls_back(long_text):
    found = layout(long_text)
    top = found.settle(found.height - HEIGHT, HEIGHT)
    moved = 0
    while top > found.height / 2:
        before = dict(in_sight(found, top))
        wanted = top - HEIGHT / 2
        top = found.settle(wanted, HEIGHT)
        moved += top != wanted
        after = dict(in_sight(found, top))
        both = before.keys() & after.keys()
        assert both
        for chip in both:
            assert after[chip] == pytest.approx(before[chip] + HEIGHT / 2)
    assert moved  # a guess was wrong, and nobody saw it


def test_few_blocks_are_held_and_others_keep_their_number_of_rows(long_text):
    found = layout(long_text)
    list(found.rows)
    height = found.height
    assert len(found._laid) == KEPT_BLOCKS
    found.settle(0.0, HEIGHT)
    assert found.height == height


def test_more_blocks_in_sight_than_are_kept_are_each_laid_out_once():
    found = StripLayout(ui_font(0.6), code_font(0.6 * SMALL), 2000.0)
    found.update(chips_of(12_000, 130), 0)
    lay_out, calls = found.lay_out, 0

    def counted(number):
        nonlocal calls
        calls += 1
        assert calls < 1_000, "blocks in sight push one another out"
        return lay_out(number)

    found.lay_out = counted
    height = 120 * found.row_height
    found.settle(0.0, height)
    assert len(found._laid) > KEPT_BLOCKS
    laid_out = found.laid_out
    for row in range(120):  # as painting does
        assert found.rows[row]
    assert found.laid_out == laid_out
    found.settle(0.0, found.row_height)
    list(found.rows)
    assert len(found._laid) == KEPT_BLOCKS


def test_a_text_that_grew_and_shrank_is_laid_out_as_one_made_at_once():
    chips, found, pick = chips_of(3_000), layout(), random.Random(5)
    shown = 0
    while shown < len(chips):
        first = shown
        if pick.random() < 0.3:
            first = max(0, shown - pick.randrange(900))
        shown = min(len(chips), first + pick.randrange(1, 400))
        found.update(chips[:shown], first)
        found.settle(found.height - HEIGHT, HEIGHT)
    fresh = layout(chips)
    assert [[p.text for p in row] for row in found.rows] == [
        [p.text for p in row] for row in fresh.rows
    ]
    assert [[p.left for p in row] for row in found.rows] == [
        [p.left for p in row] for row in fresh.rows
    ]
