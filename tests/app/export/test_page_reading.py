"""Text on the page reads as in the window: its order, its directions, where it was cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from app.export.replay import build_replay
from engine.trace.text import text_of
from tests.app.export.looking import text_at
from tests.app.texts import MARKUP, run_of

if TYPE_CHECKING:
    from tests.app.export.looking import Open

HEBREW, ARABIC = "\u05e9\u05dc\u05d5\u05dd", "\u0627\u0644\u0633\u0644\u0627\u0645"
CHIPS = "[...document.querySelectorAll('#text .chip')]"
SELECTED = """(() => { getSelection().selectAllChildren(document.getElementById('text'));
    const found = getSelection().toString(); getSelection().removeAllRanges(); return found; })()"""


@pytest.mark.case("B22")
def test_a_page_holds_the_kept_part_of_a_token_and_what_lies_beyond() -> None:
    events = run_of(["A", " alpha beta"], [" gamma delta"], stops=["beta gamma"])
    replay = build_replay(events)
    tokens = [token for one in replay.rounds for token in (*one.d, one.c) if token]
    assert [(token.t, token.x, token.e) for token in tokens] == [
        ("A", "", False),
        (" alpha ", "beta", True),
        ("", " gamma delta", False),
    ]
    assert replay.text == text_of(events) == "A alpha "
    assert replay.ending.startswith("The run ended at the stop string “beta gamma”")


@pytest.mark.browser
@pytest.mark.case("B22")
def test_the_cut_is_seen_at_the_end_and_copied_text_stops_there(replay: Open) -> None:
    events = run_of(["A", " dog"], [" Wait", "...", " no", " x"], stops=[".."])
    page = replay(events)
    page.key("End")
    assert text_at(page, "#text .beyond.first") == "..."
    style = "getComputedStyle(document.querySelector('#text .beyond')).borderInlineStartStyle"
    assert page.evaluate(style) == "dashed"
    assert page.evaluate(SELECTED).strip() == "A dog Wait"
    page.key("Home")
    assert not page.evaluate("document.getElementById('text').classList.contains('ended')")


@pytest.mark.browser
@pytest.mark.case("B23")
def test_directions_leave_tokens_in_logical_order_and_whole(replay: Open) -> None:
    pieces = [HEBREW, "123", "abc", "\t", f"{HEBREW} 123 abc\t{ARABIC}", ARABIC, "end"]
    events = run_of(pieces[:3], pieces[3:])
    page = replay(events)
    page.key("End")
    assert page.evaluate(f"{CHIPS}.map((c) => c.textContent)") == pieces
    assert page.evaluate(f"{CHIPS}.every((c) => c.tagName === 'BDI')")
    lefts = page.evaluate(f"{CHIPS}.map((c) => c.getBoundingClientRect().left)")
    assert lefts == sorted(lefts)
    assert page.evaluate(SELECTED) == text_of(events) == "".join(pieces)
    cut_off = "(c) => c.scrollWidth > c.clientWidth + 1"
    assert not page.evaluate(f"[...document.querySelectorAll('#text, .paragraph')].some({cut_off})")
    inside = page.evaluate(
        f"""(() => {{ const box = document.getElementById('strip').getBoundingClientRect();
        return {CHIPS}.every((c) => {{ const own = c.getBoundingClientRect();
            return own.left >= box.left && own.right <= box.right && own.width > 0; }}); }})()"""
    )
    assert inside


@pytest.mark.browser
@pytest.mark.case("B25")
def test_markup_is_literal_in_text_table_and_tip(replay: Open) -> None:
    page = replay(run_of([*MARKUP, " x"], prompt=MARKUP))
    page.key("End")
    assert page.evaluate(f"{CHIPS}.map((c) => c.textContent)") == [*MARKUP, " x"]
    assert text_at(page, "#prompt") == "".join(MARKUP)
    for slot, token in enumerate(MARKUP):
        page.hover(f'#text [data-slot="{slot}"]')
        assert text_at(page, "#tip .ink") == token
    assert page.evaluate("document.querySelectorAll('#page b, #page img').length") == 0


@pytest.mark.browser
@pytest.mark.case("B27")
def test_a_page_of_a_run_that_ended_at_once_says_so(replay: Open) -> None:
    page = replay(run_of(["<|im_end|>"], end="<|im_end|>"))
    page.key("End")
    assert text_at(page, "#ending").startswith("The run ended at once")
    figures: list[str] = page.evaluate(
        "[...document.querySelectorAll('.figure')].map((f) => f.textContent)"
    )
    assert figures
    assert not any(bad in text for text in figures for bad in ("NaN", "Infinity", "undefined"))
