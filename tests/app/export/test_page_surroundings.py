"""The page under a keyboard, on a projector, without motion and on paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.app.export.looking import SHOWN_CHIPS, text_at
from tests.traces import make_trace

if TYPE_CHECKING:
    from tests.app.export.looking import Open

pytestmark = pytest.mark.browser


def test_tokens_are_reached_and_pinned_from_the_keyboard(replay: Open) -> None:
    page = replay(make_trace(rounds=6, seed=7, temperature=1.0))
    page.key("End")
    page.evaluate("document.getElementById('text').focus()")
    page.key("ArrowRight")
    page.key("ArrowRight")
    label = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert label.endswith(", accepted")
    assert page.evaluate("document.activeElement.getAttribute('aria-describedby')") == "tip"
    assert page.evaluate("document.activeElement.matches(':focus-visible')")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.key("Enter")
    assert page.evaluate("document.activeElement.ariaPressed") == "true"
    assert text_at(page, "#status-round") == "Round 6 of 6"  # the arrows moved no round


def test_tab_reaches_every_control_and_each_has_a_name(replay: Open) -> None:
    page = replay(make_trace(rounds=3))
    seen: list[str] = []
    for _ in range(30):
        page.key("Tab")
        seen.append(page.evaluate("document.activeElement.id"))
    wanted = page.evaluate(
        "[...document.querySelectorAll('#page button, #page input, #text')]"
        ".filter((e) => e.getClientRects().length).map((e) => e.id)"
    )
    assert set(wanted) <= set(seen)
    unnamed = page.evaluate(
        "[...document.querySelectorAll('button, input, [role], section, aside')].filter((e) =>"
        "!e.hidden && !e.getAttribute('aria-label') && !e.textContent.trim()"
        " && !['tip', 'unpin', 'spoken'].includes(e.id)).map((e) => e.outerHTML)"
    )
    assert unnamed == []


def test_help_opens_and_closes(replay: Open) -> None:
    page = replay(make_trace(rounds=2))
    page.key("?")
    assert page.evaluate("document.getElementById('keys').open")
    page.key("ArrowRight")
    assert page.evaluate(SHOWN_CHIPS) == []  # keys belong to the dialog now
    page.click("#keys button")
    assert not page.evaluate("document.getElementById('keys').open")


@pytest.mark.parametrize(
    ("width", "height", "scale"), [(1280, 720, 1), (1920, 1080, 2), (3840, 2160, 1)]
)
def test_page_fits_a_projector(replay: Open, width: int, height: int, scale: float) -> None:
    page = replay(
        make_trace(rounds=30, seed=8, paced=True), width=width, height=height, scale=scale
    )
    page.key("End")
    assert page.evaluate("[innerWidth, innerHeight]") == [width, height]
    outside = page.evaluate(
        "[...document.querySelectorAll('#page button, .figure, .figure .detail, #court, #status,"
        " #rows li:not([hidden]), #residual li:not([hidden])')]"
        ".filter((e) => e.getClientRects().length && !e.closest('#strip')).filter((e) => {"
        " const r = e.getBoundingClientRect(); const box = e.closest('#court, #figures, #page')"
        ".getBoundingClientRect(); return r.left < 0 || r.top < 0 || r.right > innerWidth + 1"
        " || r.bottom > Math.min(innerHeight, box.bottom) + 1; }).map((e) => e.outerHTML)"
    )
    assert outside == []
    size = page.evaluate("parseFloat(getComputedStyle(document.getElementById('text')).fontSize)")
    assert size >= height / 30  # a line of text is seen from the back of a room


def test_text_grows_and_shrinks_with_plus_and_minus(replay: Open) -> None:
    page = replay(make_trace(rounds=2))
    size = "parseFloat(getComputedStyle(document.getElementById('text')).fontSize)"
    usual = page.evaluate(size)
    page.key("+")
    assert page.evaluate(size) > usual
    page.key("-")
    page.key("-")
    assert page.evaluate(size) < usual
    page.key("0")
    assert page.evaluate(size) == usual


@pytest.mark.parametrize("rounds", [80, 700])
def test_newest_line_stays_in_view(replay: Open, rounds: int) -> None:
    page = replay(make_trace(rounds=rounds, seed=8, temperature=0.9))
    page.key("End")
    page.key("ArrowLeft")
    page.key("ArrowDown")
    inside = page.evaluate(
        "(() => { const chip = [...document.querySelectorAll('#text .chip')].at(-1)"
        ".getBoundingClientRect(); const box = document.getElementById('strip')"
        ".getBoundingClientRect(); return chip.bottom <= box.bottom && chip.top >= box.top; })()"
    )
    assert inside


def test_reduced_motion_animates_nothing(replay: Open) -> None:
    page = replay(make_trace(rounds=4, seed=2, temperature=0.8))
    # what began is counted, since an animation may be over before anybody looks
    page.evaluate("""window.begun = 0; window.frames_seen = 0;
        for (const kind of ['animationstart', 'transitionrun'])
            addEventListener(kind, () => { window.begun += 1; });""")
    page.key("ArrowDown")
    page.wait("window.begun > 0")
    page.media(prefers_reduced_motion="reduce")
    settled = """window.frames_seen = 0; { const next = () => {
        window.frames_seen += 1; requestAnimationFrame(next); }; next(); }"""
    page.evaluate(settled)
    page.wait("window.frames_seen > 3")  # events of what began before have arrived
    page.evaluate("window.begun = 0")
    page.key("ArrowDown")
    page.key("ArrowRight")
    page.evaluate("window.frames_seen = 0")
    page.wait("window.frames_seen > 3")
    assert page.evaluate("window.begun") == 0


def test_paper_shows_the_whole_run_and_the_screen_comes_back(replay: Open) -> None:
    page = replay(make_trace(rounds=12, seed=2, temperature=0.8))
    page.key("ArrowRight")
    before = page.evaluate(SHOWN_CHIPS)
    page.evaluate(
        f"addEventListener('beforeprint', () => {{ window.printed = {SHOWN_CHIPS}.length; }})"
    )
    assert page.pdf().startswith(b"%PDF-")
    page.key("End")
    assert page.evaluate("window.printed") == page.evaluate(f"{SHOWN_CHIPS}.length")
    page.key("Home")
    page.key("ArrowRight")
    assert page.evaluate(SHOWN_CHIPS) == before
