"""The page plays, steps and scrubs like the window: clicked and typed at in headless Chromium."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from app.export.figures import readings
from engine.trace.statistics import statistics
from tests.app.export.looking import (
    FIGURES,
    SHOWN_CHIPS,
    VIRTUAL_TIME,
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


@pytest.mark.parametrize("drafter", ["model:tiny", "ngram"])
def test_each_frame_shows_what_the_window_shows(replay: Open, drafter: str) -> None:
    """Pending tokens appear one by one, then verdicts fall one by one, at the same moments."""
    events = make_trace(rounds=8, seed=2, temperature=0.9, drafter=drafter)
    presentation, strip = window(events)
    page = replay(events, prelude=VIRTUAL_TIME)
    page.key(" ")
    pictures = 0
    while not presentation.at_end:
        changed = presentation.advance(1 / 32)  # exact in both clocks
        page.evaluate("pump(1000 / 32)")
        if changed:
            pictures += 1
            assert page.evaluate(SHOWN_CHIPS) == chips_of_window(strip)
    assert pictures > 3 * 8 / 2
    assert page.evaluate(SHOWN_CHIPS) == chips_of_window(strip)


def test_space_pauses_and_the_picture_stands_still(replay: Open) -> None:
    page = replay(make_trace(rounds=20, seed=2, temperature=0.8), prelude=VIRTUAL_TIME)
    page.key(" ")
    page.evaluate("[pump(200), pump(200)] && 0")
    before = page.evaluate(SHOWN_CHIPS)
    assert len(before) == 2
    page.key(" ")
    assert page.evaluate("document.querySelector('#play').getAttribute('aria-label')") == "Play"
    page.evaluate("[pump(200), pump(200)] && 0")
    assert page.evaluate(SHOWN_CHIPS) == before


def test_hidden_tab_does_not_catch_up(replay: Open) -> None:
    page = replay(make_trace(rounds=20, seed=2, temperature=0.8), prelude=VIRTUAL_TIME)
    page.key(" ")
    page.evaluate("pump(60000)")
    assert len(page.evaluate(SHOWN_CHIPS)) == 1


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
