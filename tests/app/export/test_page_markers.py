"""Marked moments: the page holds there, says what is to be said, and goes from one to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.trace.events import Fate
from engine.trace.markers import Marker, SessionNote
from tests.app.export.looking import (
    VIRTUAL_TIME,
    first_with_fate,
    marked,
    pump,
    shown,
    text_at,
)
from tests.traces import make_trace

if TYPE_CHECKING:
    from tests.app.export.looking import Open

pytestmark = pytest.mark.browser

EVENTS = make_trace(rounds=8, seed=7, temperature=1.0)
REJECTED = first_with_fate(EVENTS, Fate.REJECTED)
LIST = "[...document.querySelectorAll('#marker-list button')].map((b) => b.textContent)"


def talk() -> list[object]:
    one, slot = REJECTED
    return marked(
        EVENTS,
        SessionNote(run="", title="A talk {{title}}", note="What it is about."),
        Marker(run="", id="m1", round=0, phase="draft", title="Proposals", note="Not judged."),
        Marker(run="", id="m2", round=one.index, phase="verify", slot=slot, title="<b>No</b>"),
        Marker(run="", id="m3", round=4, title="Passing", pause=False),
        Marker(run="", id="m4", round=6, note="Nearly there."),
    )  # type: ignore[return-value]


def test_playing_holds_at_markers_says_them_and_goes_on(replay: Open) -> None:
    page = replay(talk(), prelude=VIRTUAL_TIME)
    assert text_at(page, "#title") == "A talk {{title}}"
    assert page.evaluate("document.title") == "A talk {{title}}"
    assert text_at(page, "#caption-note") == "What it is about."
    page.key(" ")
    pump(page, 60)
    assert text_at(page, "#caption-title") == "Proposals"
    assert text_at(page, "#caption-note") == "Not judged."
    assert text_at(page, "#status-phase") == "draft: 4 of 4 proposed"
    assert page.evaluate("document.querySelector('#play').ariaLabel") == "Play"
    page.key(" ")
    assert page.evaluate("document.querySelector('#play').ariaLabel") == "Pause"
    pump(page, 60)
    assert text_at(page, "#caption-title") == "<b>No</b>"
    assert text_at(page, "#court-fate") == f"rejected, round {REJECTED[0].index + 1}"
    assert page.evaluate("document.querySelector('.pinned') !== null")
    page.key("PageDown")  # a clicker plays on where playing came to hold
    pump(page, 60)
    assert text_at(page, "#status-round") == "Round 7 of 8"  # the marker without pause passed by
    assert text_at(page, "#caption-title") == "Round 7"
    page.click("#caption-more")
    pump(page, 60)
    assert text_at(page, "#status-round") == "Round 8 of 8"
    assert not shown(page, "#caption")


def test_markers_are_ticks_a_list_and_keys(replay: Open) -> None:
    page = replay(talk())
    ticks = page.evaluate("[...document.querySelectorAll('#ticks .mark')].map((t) => t.title)")
    assert ticks[0] == "Proposals (round 1, drafted)"
    assert len(ticks) == 4
    places = page.evaluate(
        "[...document.querySelectorAll('#ticks .mark')].map((t) => parseFloat(t.style.left))"
    )
    assert places == sorted(places)
    assert places[-1] == pytest.approx(100 * 7 / 8)
    page.key("n")
    assert text_at(page, "#caption-title") == "Proposals"
    page.key("n")
    page.key("n")
    assert text_at(page, "#caption-title") == "Passing"
    page.key("p")
    assert text_at(page, "#caption-title") == "<b>No</b>"
    assert page.evaluate("document.querySelectorAll('#caption b').length") == 0
    page.key("m")
    assert page.evaluate(LIST)[-1] == "Round 7round 7"
    assert page.evaluate("document.activeElement.className") == "entry-button"
    page.key("Tab")
    page.key("Enter")
    assert text_at(page, "#caption-title") == "<b>No</b>"
    page.click("#ticks .mark:nth-child(4)")
    assert text_at(page, "#status-round") == "Round 7 of 8"


def test_a_step_holds_at_a_marker_on_its_way(replay: Open) -> None:
    page = replay(talk())
    page.key("PageDown")
    assert text_at(page, "#status-phase") == "draft: 4 of 4 proposed"
    page.key("ArrowRight")
    assert text_at(page, "#status-phase").startswith("4 of 4 accepted")


def test_a_clicker_goes_from_what_is_said_to_what_is_said_next(replay: Open) -> None:
    start = Marker(run="", id="m0", round=-1, title="Beginning")
    end = Marker(run="", id="m9", round=7, title="End")
    page = replay(marked(talk(), start, end), prelude=VIRTUAL_TIME)  # type: ignore[arg-type]
    playing = "document.querySelector('#play').ariaLabel === 'Pause'"
    assert text_at(page, "#caption-title") == "Beginning"
    for title in ("Proposals", "<b>No</b>", "Round 7", "End"):
        page.key("PageDown")
        assert page.evaluate(playing)
        pump(page, 60)
        assert text_at(page, "#caption-title") == title
        assert not page.evaluate(playing)
    page.key("PageDown")  # it does not begin again
    assert text_at(page, "#caption-title") == "End"
    for title in ("Round 7", "<b>No</b>"):
        page.key("PageUp")
        assert text_at(page, "#caption-title") == title
    page.key("PageDown")
    pump(page, 0.1)
    page.key("PageDown")  # who does not wait is there at once
    assert text_at(page, "#caption-title") == "Round 7"
    assert not page.evaluate(playing)
    page.key("PageDown")
    pump(page, 1)
    page.key("PageUp")
    assert text_at(page, "#caption-title") == "Round 7"


def test_audience_predicts_and_the_score_is_kept(replay: Open) -> None:
    page = replay(EVENTS, prelude=VIRTUAL_TIME)
    first, second = (e for e in EVENTS if getattr(e, "index", None) in (0, 1))
    page.key("g")
    page.key(" ")
    pump(page, 30)
    assert text_at(page, "#predict-words") == "How many of these 4 will the target keep?"
    answers = page.evaluate(
        "[...document.querySelectorAll('.answer')].map((b) => [b.textContent, b.ariaLabel])"
    )
    assert answers == [[str(n), f"{n} of 4"] for n in range(5)]
    fates = (
        "[...document.querySelectorAll('#text .chip')].every((c) => /pending/.test(c.className))"
    )
    assert page.evaluate(fates)
    page.key(str(first.accepted))
    pump(page, 0.25)
    assert text_at(page, "#predict-score") == ""  # nothing is given away before the verdict
    pump(page, 30)
    assert text_at(page, "#status-round") == "Round 2 of 8"
    assert text_at(page, "#predict-score") == "1 of 1 right"
    wrong = second.accepted + 1
    page.click(f".answer:nth-child({wrong + 1})")
    pump(page, 30)
    assert text_at(page, "#predict-score") == "1 of 2 right"
    page.key("ArrowLeft")
    assert not shown(page, "#predict-box")  # nothing was drafted in the third round
    page.key("ArrowLeft")
    told = f"You said {wrong}: {second.accepted} of 4 accepted, then a correction."
    assert text_at(page, "#predict-words") == told


def test_a_clicker_reveals_without_an_answer(replay: Open) -> None:
    page = replay(EVENTS)
    page.click("#predict-toggle")
    page.key("PageDown")
    assert shown(page, "#predict-answers")
    assert text_at(page, "#status-phase") == "draft: 4 of 4 proposed"
    page.key("PageDown")
    assert not shown(page, "#predict-box")
    assert text_at(page, "#status-phase").startswith("4 of 4 accepted")
    page.key("PageDown")
    page.key("9")  # more than were drafted: no answer
    assert shown(page, "#predict-answers")
    second = next(e for e in EVENTS if getattr(e, "index", None) == 1)
    page.key(str(second.accepted))
    page.wait("document.getElementById('predict-score').textContent === '1 of 1 right'")
    assert text_at(page, "#predict-words").startswith(f"Right: {second.accepted} of 4 accepted")


def test_screen_goes_black_and_comes_back_where_it_was(replay: Open) -> None:
    page = replay(EVENTS)
    page.key("PageDown")
    for key in (".", "B"):
        page.key(key)
        assert shown(page, "#black")
        page.key("PageDown")
        assert not shown(page, "#black")
    assert text_at(page, "#status-round") == "Round 1 of 8"
