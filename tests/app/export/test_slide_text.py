"""Text that fits its box: smaller first, then shorter, never past it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import ImageFont

from app.assets import asset_path
from app.export.slide_text import (
    BODY,
    LEAST,
    Paragraph,
    Run,
    advance,
    clean,
    fit,
    height,
    lines,
    scaled,
    words,
)


def test_text_that_fits_stays_as_it_is() -> None:
    one = words("Short", 20.0)
    assert fit([one], 400.0, 40.0) == (one,)


def test_long_text_grows_smaller_before_it_is_cut() -> None:
    text = "word " * 60
    (shown,) = fit([words(text, 20.0)], 400.0, 120.0)
    assert shown.text == text
    assert BODY <= shown.runs[0].size < 20.0


def test_text_that_is_too_long_ends_in_an_ellipsis() -> None:
    (shown,) = fit([words("word " * 400, 20.0)], 400.0, 60.0)
    assert shown.text.endswith("…")
    assert shown.runs[0].size == BODY
    assert height([shown], 400.0) <= 60.0
    assert height([words(shown.text + " word word word word", BODY)], 400.0) > 0


@settings(max_examples=40)
@given(st.text(max_size=200), st.floats(40, 900), st.floats(20, 400), st.booleans())
def test_nothing_is_higher_than_its_box(text: str, width: float, most: float, code: bool) -> None:
    shown = fit([words(text, 18.0, code=code), words("and more", 14.0)], width, most)
    assert height(shown, width) <= max(most, LEAST * 1.45 * len(shown)) + 0.1
    assert all(run.size >= LEAST for one in shown for run in one.runs)


@given(st.text(st.characters(), max_size=80))
def test_what_is_written_is_allowed_in_xml(text: str) -> None:
    for character in clean(text):
        code = ord(character)
        assert (
            character in "\n" or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code > 0xFFFF
        )


def test_a_paragraph_that_begins_in_hebrew_runs_from_right_to_left() -> None:
    assert words("123 שלום and on").rtl
    assert not words("and שלום").rtl


def test_letters_are_never_made_tiny() -> None:
    assert scaled(Paragraph((Run("a", 12.0),)), 0.1).runs[0].size == LEAST


def test_line_ends_are_counted() -> None:
    assert lines(words("a\nb\n\nc"), 400.0) == 4


@pytest.mark.parametrize(
    "text", ["The quick brown fox jumps over the lazy dog.", "min(1, p_target / q_draft) = 0.43"]
)
def test_widths_are_close_to_a_real_faces(text: str) -> None:
    # Inter is a little wider than Arial: what is measured lies between 85 % of it and all of it.
    font = ImageFont.truetype(str(asset_path("fonts/Inter-Regular.otf")), 100)
    real = font.getlength(text) / 100
    assert 0.85 * real <= sum(advance(c) for c in text) <= 1.02 * real
