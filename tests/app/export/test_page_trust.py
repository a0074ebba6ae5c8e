"""Where a page comes from: facts, definitions, what is withheld, what could not be read."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
from pypdf import PdfReader

from app.export.exporting import export
from app.export.formats import format_named
from app.export.html import render_page
from app.export.options import Options
from app.export.provenance import definitions, facts
from app.export.replay import replay_of, source_of
from app.export.source import open_source
from app.viewmodels.document import Document
from engine.trace import codec
from engine.trace.events import Baseline, FinishReason, Round
from engine.trace.markers import Marker, SessionNote
from tests.app.export.looking import READY, VIRTUAL_TIME, marked, pump, text_at, unpacked
from tests.traces import make_trace

if TYPE_CHECKING:
    from pathlib import Path

    from engine.trace.events import Event
    from tests.app.export.looking import Open
    from tests.chromium import Chromium

EVENTS = make_trace(rounds=8, seed=7, temperature=1.0)
TERMS = """(id) => [...document.querySelectorAll(id + ' div')].map((line) =>
    [line.children[0].textContent, line.children[1].textContent])"""


def written(path: Path, events: list[Event]) -> Path:
    path.write_bytes(b"".join(codec.encode(event) for event in events))
    return path


@pytest.mark.browser
def test_panel_tells_facts_definitions_and_the_race(replay: Open) -> None:
    source = source_of(Document(EVENTS), ["Something was left out."])
    page = replay(source)
    page.key("End")
    fits = "(e) => e.scrollHeight <= e.clientHeight + 1"
    assert page.evaluate(f"[document.getElementById('figures')].every({fits})")
    page.key("i")
    assert page.evaluate("document.activeElement.id") == "about-title"
    told = page.evaluate(f"({TERMS})('#about-facts')")
    assert told == [list(pair) for pair in facts(source)]
    names = [name for name, _ in definitions(source.document)]
    meanings = page.evaluate(f"({TERMS})('#about-definitions')")
    assert [name.split(" (")[0] for name, _ in meanings] == names
    assert [text for _, text in meanings] == [text for _, text in definitions(source.document)]
    assert "was fastest" in text_at(page, "#about-races")
    assert text_at(page, "#notices") == text_at(page, "#about-notices") == "Something was left out."


@pytest.mark.browser
def test_what_is_withheld_is_said_and_stands_nowhere(replay: Open, tmp_path: Path) -> None:
    prompt = "A secret question"
    first = codec.encode(EVENTS[0]).replace(b'"prompt":"', f'"prompt":"{prompt} '.encode(), 1)
    trace = tmp_path / "run.jsonl"
    trace.write_bytes(first + b"".join(codec.encode(event) for event in EVENTS[1:]))
    source = open_source(trace, withheld={"prompt", "machine"})
    held = str(unpacked(render_page(source, Options())))
    assert prompt in str(unpacked(render_page(open_source(trace), Options())))
    assert prompt not in held
    assert "simulated, 2 threads" not in held
    page = replay(source)
    assert text_at(page, "#prompt") == "Left out on request."
    assert "machine left out on request" in text_at(page, "#facts")
    told = dict(page.evaluate(f"({TERMS})('#about-facts')"))
    assert (told["prompt"], told["machine"]) == ("left out on request", "left out on request")


@pytest.mark.browser
def test_paper_has_the_whole_run_its_notes_and_where_it_comes_from(replay: Open) -> None:
    page = replay(
        marked(
            EVENTS,
            SessionNote(run="", title="On paper"),
            Marker(run="", id="m1", round=1, title="A moment", note="Said about it."),
        )
    )
    paper = "\n".join(one.extract_text() for one in PdfReader(io.BytesIO(page.pdf())).pages)
    flat = " ".join(paper.split())
    for words in ("On paper", "A moment", "Said about it.", "Where this comes from", "tiny-target"):
        assert words in flat
    assert "What the figures are" in flat
    assert "was fastest" in flat
    acceptance = page.evaluate("document.querySelector('.figure strong').textContent")
    page.key("End")
    whole = page.evaluate("document.querySelector('.figure strong').textContent")
    assert whole in flat
    assert acceptance == "–"
    assert not any(words in flat for words in ("Play on", "Back to the replay", "Show or hide"))


@pytest.mark.browser
@pytest.mark.parametrize(
    ("prelude", "words"),
    [
        ("delete window.DecompressionStream;", "This browser cannot unpack"),
        ("window.atob = () => 'no';", "The session in this page is damaged."),
    ],
)
def test_page_that_cannot_be_unpacked_says_so(
    browser: Chromium, tmp_path: Path, prelude: str, words: str
) -> None:
    path = tmp_path / "page.html"
    path.write_text(render_page(source_of(Document(EVENTS)), Options()), "utf-8")
    page = browser.open(path, prelude=prelude)
    page.wait("!document.getElementById('problem').hidden")
    assert text_at(page, "#problem").startswith(words)
    assert page.errors == []
    page.close()


def without_rounds() -> list[Event]:
    return [event for event in EVENTS if not isinstance(event, Round | Baseline)]


@pytest.mark.browser
@pytest.mark.parametrize(
    "events",
    [
        without_rounds(),
        make_trace(rounds=1, baseline=False, top_n=0),
        make_trace(rounds=3, seed=2, reason=FinishReason.CANCELLED, drafter="none", k=0),
        make_trace(rounds=3, seed=2, reason=FinishReason.ERROR),
        EVENTS[:1],
    ],
    ids=["no-round", "one-round", "cancelled", "failed", "begun"],
)
def test_a_run_that_hardly_was_is_shown_without_an_error(replay: Open, events: list[Event]) -> None:
    page = replay(events, address="?autoplay&predict&race#round=7&marker=m9", prelude=VIRTUAL_TIME)
    for key in (" ", "ArrowDown", "ArrowRight", "n", "m", "End", "PageUp", "g", "v", "i"):
        pump(page, 2)
        page.key(key)
    text = page.evaluate("document.body.innerText")
    assert not any(bad in text for bad in ("NaN", "undefined", "Infinity"))


def test_export_writes_the_chosen_run_up_to_its_limit_and_tells_how_far_it_is(
    tmp_path: Path,
) -> None:
    other = make_trace(rounds=6, seed=9, k=2)
    trace = written(tmp_path / "two.jsonl", [*EVENTS, *other])
    told: list[tuple[int, int, str]] = []
    options = Options(run=1, title="Second", most_rounds=4)
    page = tmp_path / "two.html"
    export(trace, page, format_named("html"), options, lambda *steps: told.append(steps))
    held = unpacked(page.read_text("utf-8"))
    assert held["chosen"] == 1
    assert held["header"]["title"] == "Second"
    assert len(held["rounds"]) == 4
    assert "the first 4," in held["notices"][0]
    assert len(held["runs"]) == 2
    assert page.read_text("utf-8").count("application/octet-stream") == 2
    assert [what for _, _, what in told] == ["Rounds of the page"] * 2 + ["Written"]


@pytest.mark.case("E15")
def test_progress_is_told_every_few_hundred_rounds() -> None:
    source = source_of(Document(make_trace(rounds=600, seed=1, top_n=0, settings_changes=False)))
    told: list[tuple[int, int, str]] = []
    replay_of(source, source.document, max_rounds=550, progress=lambda *steps: told.append(steps))
    assert [(done, total) for done, total, _ in told] == [(0, 550), (256, 550), (512, 550)]


@pytest.mark.browser
def test_page_is_hidden_until_it_is_ready_and_keeps_its_words_for_old_browsers(
    replay: Open,
) -> None:
    page = replay(EVENTS)
    assert page.evaluate(READY)
    assert page.evaluate("getComputedStyle(document.getElementById('page')).visibility") == (
        "visible"
    )
    assert "JavaScript" in page.evaluate("document.querySelector('noscript').textContent")
