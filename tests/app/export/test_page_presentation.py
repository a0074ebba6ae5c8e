"""The page plays, steps and scrubs like the window: clicked and typed at in headless Chromium."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from app.export.figures import readings
from engine.trace.statistics import statistics
from tests.app.export.looking import (
    FIGURES,
    SHOWN_CHIPS,
    chips_of_window,
    text_at,
    window,
)
from tests.traces import make_trace

if TYPE_CHECKING:
    from tests.app.export.looking import Open

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(("drafter", "k"), [("model:tiny", 4), ("ngram", 3), ("none", 0)])
def test_phases_show_the_same_chips_as_the_window(replay: Open, drafter: str, k: int) -> None:
    events = make_trace(rounds=10, seed=3, k=k, temperature=0.9, drafter=drafter)
    page = replay(events)
    presentation, strip = window(events)
    assert page.evaluate(SHOWN_CHIPS) == []
    while not presentation.at_end:
        presentation.step_phase()
        page.key("ArrowDown")
        assert page.evaluate(SHOWN_CHIPS) == chips_of_window(strip)


def test_rounds_forward_back_and_to_both_ends(replay: Open) -> None:
    events = make_trace(rounds=10, seed=5, temperature=0.9)
    page = replay(events)
    presentation, strip = window(events)
    for key, rounds in (
        ("ArrowRight", 1),
        ("PageDown", 2),
        ("ArrowRight", 3),
        ("ArrowLeft", 2),
        ("End", 10),
        ("PageUp", 9),
        ("Home", 0),
    ):
        page.key(key)
        presentation.seek(rounds - 1)
        assert page.evaluate(SHOWN_CHIPS) == chips_of_window(strip), key
        assert page.evaluate("Number(document.getElementById('scrub').value)") == rounds


def test_phase_back_undoes_phase_forward(replay: Open) -> None:
    page = replay(make_trace(rounds=3, seed=5, temperature=0.9, settings_changes=False))
    seen = [page.evaluate(SHOWN_CHIPS)]
    for _ in range(9):
        page.key("ArrowDown")
        seen.append(page.evaluate(SHOWN_CHIPS))
    for expected in reversed(seen[:-1]):
        page.key("ArrowUp")
        assert page.evaluate(SHOWN_CHIPS) == expected


def test_playing_goes_to_the_end_and_shows_the_statistics_of_the_trace(replay: Open) -> None:
    events = make_trace(rounds=6, seed=2, temperature=0.8)
    page = replay(events)
    for _ in range(8):
        page.key("]")
    assert text_at(page, "#speed") == "16×"
    page.click("#play")
    page.wait("document.querySelector('#play').getAttribute('aria-label') === 'Pause'")
    page.wait("document.querySelector('#play').getAttribute('aria-label') === 'Play'")
    shown = [[r.text, r.detail] for r in readings(statistics(events))]
    assert page.evaluate(FIGURES) == shown
    assert page.evaluate("!document.getElementById('ending').hidden")
    presentation, strip = window(events)
    presentation.seek(5)
    assert page.evaluate(SHOWN_CHIPS) == chips_of_window(strip)


def test_space_pauses_and_the_picture_stands_still(replay: Open) -> None:
    page = replay(make_trace(rounds=20, seed=2, temperature=0.8))
    page.key(" ")
    page.wait("document.querySelectorAll('#text .chip').length > 3")
    page.key(" ")
    assert page.evaluate("document.querySelector('#play').getAttribute('aria-label')") == "Play"
    before = page.evaluate(SHOWN_CHIPS)
    page.evaluate("new Promise((done) => setTimeout(done, 400))")
    assert page.evaluate(SHOWN_CHIPS) == before


def test_pending_tokens_appear_one_by_one_then_verdicts_fall_in_order(replay: Open) -> None:
    """Each picture that the page shows while it plays is one that the window's clock shows too."""
    events = make_trace(rounds=4, seed=2, temperature=0.8, settings_changes=False)
    presentation, strip = window(events)
    lawful = [chips_of_window(strip)]
    while presentation.advance(0.02) or not presentation.at_end:
        if (now := chips_of_window(strip)) != lawful[-1]:
            lawful.append(now)
    page = replay(events)
    page.evaluate(
        f"""(() => {{ window.seen = [];
        new MutationObserver(() => window.seen.push({SHOWN_CHIPS}))
            .observe(document.getElementById('text'),
                     {{ subtree: true, childList: true, attributes: true }}); }})()"""
    )
    page.key("]")
    page.key(" ")
    page.wait("!document.getElementById('ending').hidden")
    seen = page.evaluate("window.seen")
    assert all(picture in lawful for picture in seen)
    order = [lawful.index(picture) for picture in seen]
    assert order == sorted(order)
    assert seen[-1] == lawful[-1]


def test_scrubber_seeks(replay: Open) -> None:
    page = replay(make_trace(rounds=20, seed=2))
    x, y, width = page.evaluate(
        "(() => { const r = document.getElementById('scrub').getBoundingClientRect();"
        "return [r.left, r.top + r.height / 2, r.width]; })()"
    )
    page.click_at(x + width / 2, y)
    page.wait("document.querySelectorAll('#text .chip').length > 0")
    assert text_at(page, "#status-round") == "Round 10 of 20"
    page.click_at(x + width - 2, y)
    page.wait("document.getElementById('status-round').textContent === 'Round 20 of 20'")


def test_speed_keys_stop_at_both_ends(replay: Open) -> None:
    page = replay(make_trace(rounds=2))
    for _ in range(9):
        page.key("[")
    assert text_at(page, "#speed") == "0.25×"
    page.key("]")
    assert text_at(page, "#speed") == "0.5×"
