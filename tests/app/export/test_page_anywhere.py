"""The page on a phone, in a small frame, under a screen reader; and any token in its court."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from app.export.page_tokens import GIVEN
from engine.trace.events import ClosingKind, Fate, Round, RunStarted
from engine.trace.markers import Marker, SessionNote
from tests.app.export.looking import chip, marked, shown, text_at
from tests.app.texts import run_of
from tests.traces import make_trace

if TYPE_CHECKING:
    from tests.app.export.looking import Open

pytestmark = pytest.mark.browser

EVENTS = marked(
    make_trace(rounds=14, seed=7, temperature=1.0, vocabulary=[b" a", b" longerword", b".", b"\n"]),
    SessionNote(
        run="", title="A title that is longer than a phone is wide, by far", note="Note " * 20
    ),
    Marker(run="", id="m1", round=3, title="W" * 60, note="x" * 90),
    Marker(run="", id="m2", round=13, title="At the very end of the track"),
)
WIDE = "document.documentElement.scrollWidth > innerWidth"
SMALL = """[...document.querySelectorAll('button, select, input')].filter((e) =>
    e.getClientRects().length).map((e) => [e.id || e.className, e.getBoundingClientRect()])
    .filter(([, r]) => r.width < 39.5 || r.height < 39.5).map(([name]) => name)"""
SIZES = """(ids) => ids.map((id) => parseFloat(
    getComputedStyle(document.getElementById(id)).fontSize))"""


def test_a_phone_shows_everything_in_its_width_and_for_thumbs(replay: Open) -> None:
    page = replay(EVENTS, width=360, height=740)
    for key in ("Home", "n", "g", "End"):
        page.key(key)
        assert not page.evaluate(WIDE), key
        assert page.evaluate(SMALL) == [], key
    page.key("m")
    assert not page.evaluate(WIDE)
    assert page.evaluate(SMALL) == []
    page.click("#marker-dialog form button")
    page.key("i")
    assert not page.evaluate(WIDE)
    page.click("#about form button")
    page.key("v")
    assert not page.evaluate(WIDE)
    assert page.evaluate(SMALL) == []


@pytest.mark.parametrize(("width", "height"), [(640, 360), (480, 270)])
def test_a_small_frame_keeps_the_text_readable(replay: Open, width: int, height: int) -> None:
    page = replay(EVENTS, width=width, height=height)
    for key in ("Home", "n", "End"):
        page.key(key)
        assert not page.evaluate(WIDE)
        assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
        text = page.evaluate("document.getElementById('strip').clientHeight")
        assert text >= height / 6
    assert min(page.evaluate(f"({SIZES})(['text', 'status', 'caption-note'])")) >= 9
    assert page.evaluate(f"({SIZES})(['text'])")[0] >= 13


@pytest.mark.parametrize(("width", "height"), [(960, 700), (800, 600), (1000, 600), (1280, 720)])
def test_what_is_said_is_seen_with_the_text_in_a_frame(
    replay: Open, width: int, height: int
) -> None:
    note = "What a speaker says at a marker is a sentence or two, and sometimes three. " * 2
    talk = marked(EVENTS, Marker(run="", id="m1", round=3, title="T", note=note))
    page = replay(talk, width=width, height=height)
    for key in ("n", "n"):
        page.key(key)
        assert shown(page, "#caption")
        edges = page.evaluate(
            "['strip', 'caption', 'transport'].map((id) =>"
            " document.getElementById(id).getBoundingClientRect()).map((r) => [r.top, r.bottom])"
        )
        (_, text_end), (begin, end), (controls, _) = edges
        assert text_end <= begin < end <= controls
        assert text_end - edges[0][0] >= height / 4


def test_stepping_is_spoken_and_playing_is_not(replay: Open) -> None:
    page = replay(make_trace(rounds=8, seed=7, temperature=1.0))
    assert page.evaluate("document.getElementById('spoken').role") == "status"
    assert text_at(page, "#spoken") == ""
    page.key("ArrowRight")
    spoken = text_at(page, "#spoken")
    assert spoken.startswith("Round 1 of 8. 4 of 4 accepted, then a bonus. Drawn with u = ")
    page.key(" ")
    page.wait("document.getElementById('status-round').textContent === 'Round 2 of 8'")
    assert text_at(page, "#spoken") == spoken


def test_every_fate_and_the_prompt_come_before_the_court(replay: Open) -> None:
    events = make_trace(rounds=14, seed=7, temperature=1.0)
    rounds = [event for event in events if isinstance(event, Round)]
    wanted: dict[str, tuple[Round, int]] = {}
    for one in rounds:
        for slot, token in enumerate(one.drafted):
            wanted.setdefault(str(token.fate), (one, slot))
        if one.closing is not None:
            wanted.setdefault(str(one.closing.kind), (one, -1))
    assert set(wanted) == {*map(str, Fate), *map(str, ClosingKind)}
    page = replay(events)
    page.key("End")
    for fate, (one, slot) in wanted.items():
        page.evaluate(f"document.querySelector('{chip(one, slot)}').click()")
        assert text_at(page, "#court-fate") == f"{fate}, round {one.index + 1}"
        assert text_at(page, "#court-words")
    page.evaluate("document.getElementById('given-toggle').click()")
    started = events[0]
    assert isinstance(started, RunStarted)
    given = "document.querySelectorAll('#given .chip')"
    assert page.evaluate(f"{given}.length") == len(started.prompt_tokens)
    page.evaluate(f"{given}[0].click()")
    assert text_at(page, "#court-fate") == "prompt, token 1"
    assert text_at(page, "#court-words") == GIVEN
    assert page.evaluate("getComputedStyle(document.querySelector('.bars')).visibility") == "hidden"
    assert not shown(page, "#line-box")


def test_arrow_ties_a_copied_draft_to_its_source(replay: Open) -> None:
    words = [b" the", b" sky", b" is", b" blue", b".", b" light"]
    events = make_trace(
        rounds=40, seed=5, temperature=0.3, drafter="ngram", vocabulary=words, baseline=False
    )
    rounds = [event for event in events if isinstance(event, Round)]
    start = len(events[0].prompt_tokens)  # type: ignore[union-attr]  # the run's start
    one = next(r for r in rounds if r.match is not None and r.match.start >= start + 8)
    match = one.match
    assert match is not None
    page = replay(events, address=f"#round={one.index + 1}&phase=draft")
    marks = "[...document.querySelectorAll('.source')].map((c) => c.getAttribute('aria-label'))"
    sources = page.evaluate(marks)
    drafted = [token.piece.decode() for token in one.drafted]
    assert [label.split(",")[0].replace("␣", " ") for label in sources] == drafted
    assert page.evaluate("getComputedStyle(document.querySelector('.arrow')).display") != "none"
    tip = page.evaluate("""(() => { const head = document.querySelector('.arrow .point')
        .getBoundingClientRect(); return [head.x + head.width / 2, head.bottom]; })()""")
    ink = page.evaluate(f"""(() => {{ const r = document.querySelector('{chip(one, 0)} .ink')
        .getBoundingClientRect(); return [r.left, r.right, r.top]; }})()""")
    assert ink[0] <= tip[0] <= ink[1]
    assert tip[1] == pytest.approx(ink[2], abs=1)
    page.key("Home")
    assert page.evaluate(marks) == []
    assert page.evaluate("getComputedStyle(document.querySelector('.arrow')).display") == "none"


def test_strange_tokens_are_named_and_never_break_the_page(replay: Open) -> None:
    pieces = [b"\x00", b"\xed\xa0\x80", b"\xff\xfe", "👩‍🚀".encode(), "שלום".encode(), b"</script>"]
    page = replay(run_of([*pieces, b" x"], prompt=pieces))
    page.key("End")
    page.key("v")
    page.key("v")
    page.evaluate("document.getElementById('given-toggle').click()")
    for where in ("#text", "#given"):
        texts = page.evaluate(
            f"[...document.querySelectorAll('{where} .chip')].map((c) => c.textContent)"
        )
        assert texts[0] == "⟨00⟩"
        assert texts[1].startswith("⟨ED")
        assert texts[2] == "⟨FF FE⟩"
        assert texts[3:6] == ["👩‍🚀", "שלום", "</script>"]
    assert page.evaluate("document.querySelectorAll('script').length") == 2
