"""The address tells where and how the page begins, and follows the viewer; also inside a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from app.export.html import render_html, render_page
from app.export.options import Options
from app.export.replay import source_of
from app.theme import DARK, LIGHT, rgb
from app.viewmodels.document import Document
from engine.trace.markers import Marker
from tests.app.export.looking import (
    READY,
    SHOWN_CHIPS,
    VIRTUAL_TIME,
    chips_of_window,
    marked,
    pump,
    text_at,
    window,
)
from tests.traces import make_trace

if TYPE_CHECKING:
    from pathlib import Path

    from tests.app.export.looking import Open
    from tests.chromium import Chromium

pytestmark = pytest.mark.browser

EVENTS = marked(
    make_trace(rounds=9, seed=5, temperature=0.9),
    Marker(run="", id="m1", round=3, phase="verify", title="Here"),
)
BACKGROUND = "getComputedStyle(document.body).backgroundColor"


@pytest.mark.parametrize(
    ("address", "moment"),
    [
        ("#round=2", (1, "done")),
        ("#round=4&phase=verify", (3, "verify")),
        ("#round=4&phase=draft", (3, "draft")),
        ("#marker=m1", (3, "verify")),
        ("#round=99", (8, "done")),
        ("#round=0", (-1, "done")),
        ("#round=<b>&marker=none", (-1, "done")),
    ],
)
def test_address_opens_a_moment(replay: Open, address: str, moment: tuple[int, str]) -> None:
    page = replay(EVENTS, address=address)
    presentation, strip = window(EVENTS)
    presentation.seek(moment[0], moment[1])  # type: ignore[arg-type]
    assert page.evaluate(SHOWN_CHIPS) == chips_of_window(strip)


def test_address_follows_the_viewer_and_the_viewer_the_address(replay: Open) -> None:
    page = replay(EVENTS)
    page.key("ArrowRight")
    page.key("ArrowRight")
    page.wait("location.hash === '#round=2'")
    page.key("ArrowDown")
    page.wait("location.hash === '#round=3&phase=draft'")
    assert page.evaluate("history.length") <= 2  # back leaves the page at once
    page.evaluate("location.hash = '#round=5'")
    page.wait("document.getElementById('status-round').textContent === 'Round 5 of 9'")


def test_page_begins_as_the_address_says(replay: Open) -> None:
    page = replay(EVENTS, address="?autoplay&speed=2&theme=dark&predict", prelude=VIRTUAL_TIME)
    assert page.evaluate("document.querySelector('#play').ariaLabel") == "Pause"
    assert text_at(page, "#speed") == "2×"
    assert page.evaluate(BACKGROUND) == f"rgb{rgb(DARK.window)}"
    pump(page, 20)
    assert text_at(page, "#predict-words").startswith("How many of these")
    page.key("d")
    assert page.evaluate(BACKGROUND) == f"rgb{rgb(LIGHT.window)}"


def test_a_chosen_theme_holds_whatever_the_system_says(replay: Open) -> None:
    page = replay(source_of(Document(EVENTS)), Options(theme="dark"))
    page.media(prefers_color_scheme="light")
    assert page.evaluate(BACKGROUND) == f"rgb{rgb(DARK.window)}"
    followed = render_page(source_of(Document(EVENTS)), Options())
    assert "<html" in followed
    assert 'lang="en">' in followed


OUTER = """<!doctype html><title>Slides</title><input id="own" autofocus>
<iframe sandbox="allow-scripts" width="640" height="360" src="{}"></iframe>"""


def test_frame_in_a_slide_plays_and_takes_no_focus(browser: Chromium, tmp_path: Path) -> None:
    (tmp_path / "replay.html").write_text(render_html(EVENTS), "utf-8")
    outer = tmp_path / "slides.html"
    outer.write_text(OUTER.format("replay.html?autoplay&speed=16#round=2"), "utf-8")
    page = browser.open(outer, width=800, height=500)
    page.wait("document.activeElement.id === 'own'")
    inner = page.inner()
    inner.wait(READY)
    inner.wait("document.getElementById('caption-title').textContent === 'Here'")
    assert page.evaluate("document.activeElement.id") == "own"
    assert inner.evaluate("getComputedStyle(document.getElementById('full')).display") == "none"
    over = "document.documentElement.scrollWidth > innerWidth"
    assert not inner.evaluate(over)
    for one in (page, inner):
        assert one.errors == []
        assert [url for url in one.requests if not url.startswith("file:")] == []
    page.close()
