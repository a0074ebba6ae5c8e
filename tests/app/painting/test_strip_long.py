"""Long lines and long tokens: laid out once for each append, elided, whole on demand."""

from __future__ import annotations

import pytest

from app.fonts import code_font, ui_font
from app.painting.strip_layout import SMALL, StripLayout
from app.viewmodels.characters import decode_piece
from app.viewmodels.chips import SHOWN_CHARACTERS, make_chip
from app.viewmodels.refs import TokenRef

pytestmark = pytest.mark.usefixtures("qapp")
WIDTH = 600.0
LENGTH = 20_000


def chip_of(piece, slot=0, *, whole=False):
    decoded = decode_piece(b"", piece)
    return make_chip(TokenRef(0, slot), "accepted", decoded, False, False, whole=whole)


def layout():
    return StripLayout(ui_font(1.4), code_font(1.4 * SMALL), WIDTH)


@pytest.mark.case("B28")
@pytest.mark.parametrize("piece", [b" word", b"word", "語".encode()])
def test_a_line_without_end_costs_the_same_at_each_append(piece):
    chips = [chip_of(b"x" * LENGTH)]
    found = layout()
    found.update(chips, 0)
    work = []
    for slot in range(1, 5_001):
        placed, measured = found.laid_out, found.measured
        chips.append(chip_of(piece, slot))
        found.update(chips, slot)
        work.append((found.laid_out - placed, found.measured - measured))
    assert found.count == 5_001
    assert max(w[0] for w in work[-500:]) <= max(w[0] for w in work[100:600]) + 2
    assert max(w[0] for w in work) < 3 * WIDTH / found.space  # the open rows, never the text
    assert sum(w[1] for w in work[600:]) <= 4 * len(chips)  # widths are known by then
    again = layout()
    again.update(chips, 0)
    assert [[p.text for p in row] for row in again.rows] == [
        [p.text for p in row] for row in found.rows
    ]
    assert again.laid_out == 5_001  # each once


@pytest.mark.case("B28")
def test_a_long_token_is_elided_and_keeps_its_text():
    chip = chip_of(b"x" * LENGTH)
    found = layout()
    found.update([chip], 0)
    drawn = "".join(placed.text for _, placed in found.parts_of(0))
    assert chip.elided
    assert len(drawn) == SHOWN_CHARACTERS + 1
    assert "…" in drawn
    assert len(chip.text) == LENGTH
    assert found.measured < 20 * SHOWN_CHARACTERS


@pytest.mark.case("B28")
@pytest.mark.parametrize("letter", ["x", "語", "e\u0301"])
def test_a_whole_long_token_is_broken_into_rows_in_linear_work(letter):
    text = letter * (LENGTH // len(letter))
    chip = chip_of(text.encode(), whole=True)
    assert not chip.elided
    found = layout()
    found.update([chip], 0)
    parts = [placed for _, placed in found.parts_of(0)]
    assert "".join(placed.text for placed in parts) == text
    assert all(placed.right <= WIDTH for placed in parts)
    assert found.measured < 20 * LENGTH
    for placed in parts[:-1]:  # no row is left half empty
        assert placed.right > WIDTH - 2 * found.em
