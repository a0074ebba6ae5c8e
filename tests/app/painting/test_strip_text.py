"""What the strip paints of texts that go wrong elsewhere: shared characters, directions, cuts."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter

from app.fonts import code_font, ui_font
from app.painting.strip import Highlights, paint_strip
from app.painting.strip_layout import FULL_SIZE, SMALL, StripLayout
from app.theme import DARK, LIGHT
from app.viewmodels.characters import decode_piece
from app.viewmodels.chips import Cut, make_chip
from app.viewmodels.refs import TokenRef
from app.views.strip_area import OVERHANG

pytestmark = pytest.mark.usefixtures("qapp")
WIDTH, HEIGHT, MARGIN = 600, 120, 10
HEBREW = "\u05e9\u05dc\u05d5\u05dd"
POINTED = "\u05d0\u05b8\u05d1\u05bc\u05b4\u05d2"  # marks below and inside


def chips_of(*pieces, fate="accepted", cut=None):
    chips, carry = [], b""
    for slot, piece in enumerate(pieces):
        data = piece if isinstance(piece, bytes) else piece.encode()
        decoded = decode_piece(carry, data)
        own = cut if slot == len(pieces) - 1 else None
        ref = TokenRef(0, slot)
        chips.append(make_chip(ref, fate, decoded, bool(carry), False, cut=own))
        carry = decoded.carry
    return chips


def laid_out(chips, width=WIDTH - 2.0 * MARGIN, scale=1.6):
    layout = StripLayout(ui_font(scale), code_font(scale * SMALL), width)
    layout.update(chips, 0)
    return layout


def picture(chips, layout, theme=LIGHT, *, ratio=1.0, right=0.0, size=(WIDTH, HEIGHT), **how):
    image = QImage(round(size[0] * ratio), round(size[1] * ratio), QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    image.fill(QColor(theme.base))
    painter = QPainter(image)
    painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # as on a widget
    rect = QRectF(MARGIN, MARGIN, size[0] - 2.0 * MARGIN + right, size[1] - 2.0 * MARGIN)
    paint_strip(painter, rect, layout, chips, theme, **how)
    painter.end()
    return image


def differing(first, second):
    """The rectangle of the pixels in which two pictures differ."""
    places = [
        (x, y)
        for y in range(first.height())
        for x in range(first.width())
        if first.pixel(x, y) != second.pixel(x, y)
    ]
    assert places, "the pictures are the same"
    xs, ys = [x for x, _ in places], [y for _, y in places]
    return QRect(min(xs), min(ys), max(xs) - min(xs) + 1, max(ys) - min(ys) + 1)


@pytest.mark.case("B06")
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
@pytest.mark.parametrize("fate", ["prompt", "plain", "accepted", "rejected", "correction"])
def test_a_shared_character_is_marked_over_both_tokens(theme, fate):
    chips = chips_of(b"\xe5", b"\xae\xa2\xe5\x8d\x95", b"\xe4\xbb\xb7", fate=fate)
    assert [(c.shares_before, c.shares_after) for c in chips] == [
        *((False, True), (True, False), (False, False)),
    ]
    layout = laid_out(chips)
    tied = picture(chips, layout, theme)
    for sharing, field in ((0, "shares_after"), (1, "shares_before")):
        bare = list(chips)
        bare[sharing] = chips[sharing]._replace(**{field: False})
        mark = differing(tied, picture(bare, layout, theme))
        _, placed = layout.parts_of(sharing)[0]
        seam = (placed.left, placed.right)[sharing == 0] + MARGIN
        assert abs((mark.left(), mark.right())[sharing == 0] - seam) <= 2
        assert mark.width() >= 4
        inside = (
            placed.left - 1 <= mark.left() - MARGIN and mark.right() - MARGIN <= placed.right + 1
        )
        assert inside
        assert mark.bottom() - MARGIN <= layout.box(0, placed).top() + 2  # over it, not in the text
        assert mark.top() >= MARGIN  # in its own row


@pytest.mark.parametrize("scale", [0.9, 1.6, 8.0])
def test_the_mark_of_a_shared_character_stays_near_its_row_at_every_size(scale):
    chips = chips_of("a\n", b"\xe5", b"\xae\xa2")
    layout = laid_out(chips, scale=scale)
    bare = [one._replace(shares_before=False, shares_after=False) for one in chips]
    size = (WIDTH, 600)
    mark = differing(picture(chips, layout, size=size), picture(bare, layout, size=size))
    assert mark.top() > MARGIN + layout.row_height - OVERHANG  # what a view paints of it again


@pytest.mark.case("B17")
@pytest.mark.parametrize("emoji", [1, 100])
@pytest.mark.parametrize("joined", [False, True])
def test_a_highlight_after_emoji_stands_around_its_own_token(emoji, joined):
    middle = ["\U0001f60a" * emoji] if joined else ["\U0001f60a"] * emoji
    chips = chips_of("a", *middle, "b", fate="plain")
    last = len(chips) - 1
    layout = laid_out(chips)
    row, placed = layout.parts_of(last)[0]
    assert placed.text == "b"
    scroll = max(0.0, (row - 1) * layout.row_height)
    plain, ringed = (
        picture(chips, layout, scroll=scroll, highlights=Highlights(hovered=which))
        for which in (None, last)
    )
    box = layout.box(row, placed).translated(MARGIN, MARGIN - scroll)
    assert box.adjusted(-3, -3, 3, 3).contains(QRectF(differing(plain, ringed)))


@pytest.mark.case("B23")
@pytest.mark.parametrize("ratio", [1.0, 2.0])
def test_mixed_directions_are_painted_whole_and_in_their_order(ratio):
    pieces = [
        HEBREW,
        " 123",
        " abc",
        "\t",
        POINTED,
        f"{HEBREW} 123 abc\t{POINTED}",
        "\u0627\u0644\u0644\u0647",
    ]
    chips = chips_of(*pieces, fate="correction")
    layout = laid_out(chips)
    lefts = [layout.parts_of(chip)[0][1].left for chip in range(len(pieces))]
    assert lefts == sorted(lefts)
    assert len(layout.rows) == 1
    for placed in layout.rows[0]:
        ink = _ink(placed.text, placed.kind, layout).translated(placed.pen, layout.baseline)
        assert ink.left() >= placed.left - 1
        assert ink.right() <= placed.right + 1
        assert ink.top() >= 0
        assert ink.bottom() <= layout.row_height
    alone = picture(chips, layout, ratio=ratio)
    assert alone == picture(chips, layout, ratio=ratio, right=300.0)  # nothing lies beyond the edge


def _ink(text, kind, layout):
    return QFontMetricsF(layout.font if kind in FULL_SIZE else layout.small_font).tightBoundingRect(
        text
    )


@pytest.mark.case("B23")
def test_a_token_takes_its_direction_from_its_own_letters_and_from_no_neighbour():
    mixed = f"{HEBREW} abc"
    alone = _token(chips_of(mixed), 0)
    assert alone == _token(chips_of("abc ", mixed, " def"), 1)
    assert alone == _token(chips_of(HEBREW, mixed, HEBREW), 1)
    swapped = _token(chips_of(f"abc {HEBREW}"), 0)
    assert alone == swapped  # from the right: the Hebrew word, then abc; from the left the same


def _token(chips, chip):
    """The picture of one token, cut out of the strip."""
    layout = laid_out(chips)
    row, placed = layout.parts_of(chip)[0]
    assert row == 0
    layout.rows[0][:] = [
        one._replace(
            start=0.0,
            end=one.right - one.left,
            left=0.0,
            right=one.right - one.left,
            pen=one.pen - one.left,
        )
        for one in layout.rows[0]
        if one is placed
    ]
    return picture(chips, layout)


@pytest.mark.case("B22")
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
@pytest.mark.parametrize("ratio", [1.0, 2.0])
def test_the_cut_is_a_line_and_what_lies_beyond_is_quiet(theme, ratio):
    whole = chips_of("Wait", "go...", fate="plain")
    cut = chips_of("Wait", "go...", fate="plain", cut=Cut(2, True))
    layout = laid_out(cut)
    kept, beyond = (placed for _, placed in layout.parts_of(1))
    assert (kept.text, beyond.text) == ("go", "...")
    image, before = (
        picture(cut, layout, theme, ratio=ratio),
        picture(whole, laid_out(whole), theme, ratio=ratio),
    )
    changed = differing(image, before)
    assert changed.left() >= (kept.right + MARGIN - 2) * ratio
    baseline = MARGIN + layout.baseline
    colours = {
        image.pixelColor(round(x * ratio), round((baseline - 1) * ratio)).name()
        for x in range(int(beyond.left + MARGIN) + 2, int(beyond.right + MARGIN))
    }
    assert theme.text not in colours
    later = [one._replace(cut=one.cut and one.cut._replace(first=False)) for one in cut]
    line = differing(image, picture(later, layout, theme, ratio=ratio))
    assert abs(line.center().x() / ratio - MARGIN - beyond.left) <= 1.5
    assert line.height() / ratio >= layout.box(0, beyond).height()
