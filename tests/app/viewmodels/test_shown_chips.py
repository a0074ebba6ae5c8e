"""Chips of a long text are made where they are looked at, and are the same wherever one begins."""

from __future__ import annotations

import pytest

from app.painting.strip_rows import ends_line
from app.viewmodels.document import Document
from app.viewmodels.presentation import Presentation
from app.viewmodels.shown_chips import KEPT_ROUNDS
from app.viewmodels.strip import StripModel
from tests.traces import make_trace

PIECES = (b" the", b"\n", b".\n\n", b" quick", b"\xf0\x9f", b"\x98\x8a", b"ing")


def shown(rounds, seek, *, show=True, phase="done", **keywords):
    document = Document(make_trace(rounds, temperature=1.0, top_n=0, vocabulary=PIECES, **keywords))
    presentation = Presentation(document)
    presentation.seek(seek, phase)
    model = StripModel(document, presentation)
    model.show_drafts = show
    model.refresh()
    return document, presentation, model


@pytest.mark.parametrize("show", [True, False])
@pytest.mark.parametrize("phase", ["done", "verify"])
def test_any_part_of_the_chips_is_that_part_of_all_of_them(show, phase):
    _, _, model = shown(60, 40, show=show, phase=phase)
    chips = list(model.chips)
    assert len(model.chips) == len(chips)
    assert [model.chips[i] for i in range(-len(chips), len(chips))] == chips * 2
    for first in range(0, len(chips), 7):
        for last in (first, first + 1, first + 30, len(chips) + 5):
            assert model.chips[first:last] == chips[first:last]
    assert model.chips[::-3] == chips[::-3]
    with pytest.raises(IndexError):
        model.chips[len(chips)]


@pytest.mark.parametrize("show", [True, False])
def test_line_ends_are_those_of_the_chips(show):
    _, _, model = shown(60, 59, show=show)
    chips = list(model.chips)
    ends = [i + 1 for i, chip in enumerate(chips) if ends_line(chip)]
    assert len(ends) > 10
    assert list(model.chips.line_ends(0, len(chips))) == ends
    for first in range(0, len(chips), 5):
        for last in (first + 1, first + 40, len(chips)):
            wanted = [end for end in ends if first < end <= last]
            assert list(model.chips.line_ends(first, last)) == wanted


def test_the_round_that_moves_ends_no_line_yet():
    _, presentation, model = shown(60, 40)
    for index in range(41, 60):
        presentation.seek(index, "verify")
        model.refresh()
        settled = model.chips.start_of(index)
        assert all(end <= settled for end in model.chips.line_ends(0, len(model.chips)))


def test_looking_at_the_end_of_a_long_text_puts_few_tokens_together():
    document, presentation, model = shown(3_000, -1)
    made = document.tokens.rows_made
    presentation.seek(2_999)
    assert model.refresh() == len(document.started.prompt_tokens)
    assert len(model.chips) > 10_000
    assert len(model.chips[-100:]) == 100
    assert document.tokens.rows_made - made < 120
    presentation.seek(10)
    model.refresh()
    assert document.tokens.rows_made - made < 130


def test_chips_that_were_looked_at_are_held_for_few_rounds():
    _, _, model = shown(1_200, 1_199)
    list(model.chips)
    assert len(model.chips._made) == KEPT_ROUNDS
