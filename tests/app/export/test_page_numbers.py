"""Tooltip and court tell the trace's numbers, and nothing before its time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from app.viewmodels.court import ONE_HOT_TARGET, RAW_LAW
from app.viewmodels.numbers import probability
from engine.trace.events import Fate
from tests.app.export.looking import chip, first_with_fate, text_at
from tests.traces import make_trace

if TYPE_CHECKING:
    from tests.app.export.looking import Open

pytestmark = pytest.mark.browser


def test_pointer_on_a_token_shows_its_numbers(replay: Open) -> None:
    events = make_trace(rounds=8, seed=7, temperature=1.0)
    one, slot = first_with_fate(events, Fate.REJECTED)
    token = one.drafted[slot]
    page = replay(events)
    page.key("End")
    page.hover(chip(one, slot))
    shown = dict(
        page.evaluate(
            "[...document.querySelectorAll('#tip dl div')].map((line) =>"
            "[line.children[0].textContent, line.children[1].textContent])"
        )
    )
    assert shown == {
        "q_draft": probability(token.q_draft),
        "p_target": probability(token.p_target),
        "min(1, p_target / q_draft)": probability(token.acceptance_probability),
        "u": probability(token.u),
        "token id": str(token.id),
    }
    assert text_at(page, "#tip .tip-fate") == "rejected"
    assert text_at(page, "#tip .tip-words").startswith("Rejected because u = ")
    page.hover("#header")
    assert page.evaluate("document.getElementById('tip').hidden")


def test_pending_token_tells_nothing_of_its_verdict(replay: Open) -> None:
    events = make_trace(rounds=8, seed=7, temperature=1.0)
    page = replay(events)
    page.key("ArrowDown")
    page.hover('#text [data-round="0"][data-slot="0"]')
    names = page.evaluate("[...document.querySelectorAll('#tip dt')].map((e) => e.textContent)")
    assert names == ["q_draft", "token id"]
    assert text_at(page, "#court-fate") == "pending, round 1"
    assert (
        page.evaluate(
            "document.querySelectorAll('#rows li:not([hidden]) .bar-target:not([hidden])').length"
        )
        == 0
    )
    assert page.evaluate("document.getElementById('line-box').hidden")


def test_click_pins_a_token_and_escape_follows_again(replay: Open) -> None:
    events = make_trace(rounds=8, seed=7, temperature=1.0)
    one, slot = first_with_fate(events, Fate.REJECTED)
    page = replay(events)
    page.key("End")
    page.click(chip(one, slot))
    pinned = f"rejected, round {one.index + 1}"
    assert text_at(page, "#court-fate") == pinned
    assert page.evaluate(f"document.querySelector('{chip(one, slot)}').ariaPressed") == "true"
    page.key("ArrowLeft")
    page.key("ArrowLeft")
    assert text_at(page, "#court-fate") == pinned
    page.key("Escape")
    assert text_at(page, "#court-fate") != pinned


def test_court_shows_both_laws_threshold_u_and_residual(replay: Open) -> None:
    events = make_trace(rounds=8, seed=7, temperature=1.0)
    one, slot = first_with_fate(events, Fate.REJECTED)
    token, closing = one.drafted[slot], one.closing
    assert closing is not None
    page = replay(events)
    page.key("End")
    page.click(chip(one, slot))
    own = page.evaluate(
        "[...document.querySelectorAll('#rows .own .value')].map((e) => e.textContent)"
    )
    assert own == [probability(token.q_draft), probability(token.p_target)]
    assert text_at(page, "#threshold-text") == (
        f"threshold {probability(token.acceptance_probability)}"
    )
    assert text_at(page, "#needle-text") == f"u {probability(token.u)}"
    assert page.evaluate("parseFloat(document.getElementById('needle').style.left)") == (
        pytest.approx(100 * (token.u or 0))
    )
    assert text_at(page, "#residual .drawn .value") == probability(closing.probability)
    assert text_at(page, "#rows .left-out .name") == "other tokens"


@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_bars_show_the_law_that_decides_and_on_request_the_raw_one(
    replay: Open, temperature: float
) -> None:
    events = make_trace(rounds=8, seed=7, temperature=temperature)
    one, slot = first_with_fate(events, Fate.REJECTED)
    token = one.drafted[slot]
    assert token.laws is not None
    at = token.laws.ids.index(token.id)
    page = replay(events)
    page.key("End")
    page.click(chip(one, slot))
    own = "#rows .own .bar-target .value"
    assert text_at(page, "#key-target") == "p_target"
    assert text_at(page, own) == probability(token.laws.p_target[at])
    assert (ONE_HOT_TARGET in text_at(page, "#court-note")) is (temperature == 0)
    page.click("#raw")
    assert text_at(page, "#key-target") == "p_raw"
    assert text_at(page, own) == probability(token.laws.p_raw[at])
    assert RAW_LAW in text_at(page, "#court-note")
    page.key("l")
    assert text_at(page, own) == probability(token.laws.p_target[at])
