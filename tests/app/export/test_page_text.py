"""Tokens on the page: text and never markup, each fate with its colour and its mark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from app.theme import DARK, LIGHT, rgb
from engine.trace.events import FinishReason, RunStarted
from engine.trace.text import text_of
from tests.app.export.looking import text_at
from tests.app.export.test_html import hostile_trace
from tests.traces import make_trace

if TYPE_CHECKING:
    from tests.app.export.looking import Open

pytestmark = pytest.mark.browser


@pytest.mark.case("B25")
def test_tokens_never_become_markup(replay: Open) -> None:
    events = hostile_trace()
    page = replay(events)
    page.key("End")
    page.hover("#text .chip")
    assert page.evaluate("document.querySelectorAll('script').length") == 2
    assert page.evaluate("document.querySelectorAll('img, b, title:not(head > title)').length") == 0
    tags = page.evaluate(
        "[...new Set([...document.querySelectorAll('#text *')].map((e) => e.tagName))].sort()"
    )
    assert tags == ["BDI", "DIV", "SPAN"]
    started = events[0]
    assert isinstance(started, RunStarted)
    assert text_at(page, "#prompt") == started.prompt
    assert text_at(page, "#target-name") == "{{data}}</title><b>"
    assert "{{title}}" in text_at(page, "#text")


def test_text_on_the_page_is_the_targets_text(replay: Open) -> None:
    events = make_trace(rounds=30, seed=9, temperature=0.9, reason=FinishReason.CANCELLED)
    page = replay(events)
    page.key("End")
    shown: str = page.evaluate(
        "[...document.querySelectorAll('#text .chip')]"
        ".filter((c) => !/rejected|discarded|cut/.test(c.className)).map((c) => {"
        "const copy = c.cloneNode(true);"
        "for (const bytes of copy.querySelectorAll('.bytes')) bytes.remove();"
        "return copy.textContent; }).join('')"
    )
    text = text_of(events)
    assert text.startswith(shown)
    assert set(text[len(shown) :]) <= {"\ufffd"}


def test_drafts_that_were_not_kept_can_be_hidden(replay: Open) -> None:
    page = replay(make_trace(rounds=10, seed=7, temperature=1.0))
    seen = (
        "[...document.querySelectorAll('#text .chip')].filter((c) => c.getClientRects().length)"
        ".map((c) => /rejected|discarded|cut/.test(c.className))"
    )
    page.key("End")
    assert any(page.evaluate(seen))
    page.key("r")
    assert not any(page.evaluate(seen))
    assert page.evaluate("document.getElementById('drafts').ariaPressed") == "false"
    page.key("r")
    assert any(page.evaluate(seen))


def test_each_fate_has_the_themes_colour_and_mark_in_both_themes(replay: Open) -> None:
    page = replay(make_trace(rounds=10, seed=7, temperature=1.0))
    style = """Object.fromEntries([...document.querySelectorAll('#legend .ink')].map((e) => {
        const s = getComputedStyle(e);
        return [e.textContent, [s.color, s.backgroundColor, s.textDecorationLine,
                s.textDecorationStyle, s.borderTopStyle, s.borderTopColor]]; }))"""
    lines = {
        "underline": "underline solid",
        "strike": "line-through solid",
        "faint_strike": "line-through solid",
        "dashed_underline": "underline dashed",
        "dotted_underline": "underline dotted",
        "overline": "overline solid",
    }
    for theme in (LIGHT, DARK):
        page.media(prefers_color_scheme=theme.name)
        shown: dict[str, list[str]] = page.evaluate(style)
        assert {"accepted", "rejected", "discarded", "correction", "bonus"} <= set(shown)
        for name, (colour, fill, line, kind, border, edge) in shown.items():
            fate = theme.fates[name]
            assert colour == f"rgb{rgb(fate.colour)}"
            assert fill == f"rgb{rgb(fate.fill)}"
            if fate.mark in lines:
                assert f"{line} {kind}" == lines[fate.mark]
            else:
                assert (border, edge) == (fate.mark.removesuffix("_box"), colour)


def test_theme_switch_turns_the_page_over(replay: Open) -> None:
    page = replay(make_trace(rounds=2))
    background = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(background) == f"rgb{rgb(LIGHT.window)}"
    page.click("#theme")
    assert page.evaluate(background) == f"rgb{rgb(DARK.window)}"
    page.key("d")
    assert page.evaluate(background) == f"rgb{rgb(LIGHT.window)}"
