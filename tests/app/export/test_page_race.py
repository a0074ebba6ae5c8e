"""Races: every time, text and rate of a lane is the trace's own, in Python and on the page."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from app.export.options import Options
from app.export.plain_texts import texts_of
from app.export.race import PUT_TOGETHER, TEXT_AT_END, baseline_race, runs_race
from app.export.replay import build_replay
from app.export.source import Source
from app.viewmodels.document import Document
from app.viewmodels.readings import number
from engine.trace.events import Baseline, Event, Round, SettingsChanged
from engine.trace.markers import SessionNote
from engine.trace.text import text_of
from tests.app.export.looking import (
    SHOWN_CHIPS,
    VIRTUAL_TIME,
    chips_of_window,
    marked,
    pump,
    shown,
    text_at,
    window,
)
from tests.traces import make_trace

if TYPE_CHECKING:
    from app.export.race import Lane
    from tests.app.export.looking import Open

EVENTS = make_trace(rounds=12, seed=3, temperature=0.7)
PIECES = {0: b"a", 1: b" b", 2: b"\xe4\xb8", 3: b"\xad", 4: b"ab"}


def baseline_of(events: list[Event]) -> Baseline:
    return next(event for event in events if isinstance(event, Baseline))


def lanes_of(events: list[Event]) -> tuple[Lane, ...]:
    race = build_replay(events).race
    assert race is not None
    return race.lanes


def test_lanes_have_the_times_of_their_rounds_and_the_texts_of_their_tokens() -> None:
    run, plain = lanes_of(EVENTS)
    rounds = [event for event in EVENTS if isinstance(event, Round)]
    baseline = baseline_of(EVENTS)
    assert run.us == tuple(round(ns / 1e3) for ns in accumulate(r.times.round for r in rounds))
    assert run.tokens == tuple(accumulate(r.emitted for r in rounds))
    assert "".join(run.texts) == "".join(text for one in rounds for text in one.texts)
    assert plain.us == tuple(round(ns / 1e3) for ns in accumulate(baseline.round_ns))
    assert "".join(plain.texts) == baseline.text
    replay = build_replay(EVENTS)
    assert [run.rates[-1]] == [replay.readings[-1][2][0]]
    assert replay.final.baseline is not None
    assert plain.rates[-1] == number(replay.final.baseline.tokens_per_second)


def test_recorded_texts_of_the_plain_run_are_taken_as_they_are() -> None:
    baseline = baseline_of(EVENTS)
    texts = tuple(f"<{i}>" for i in range(len(baseline.token_ids)))
    told = [msgspec.structs.replace(e, texts=texts) if e is baseline else e for e in EVENTS]
    plain = lanes_of(told)[1]
    assert plain.texts == texts
    assert plain.notes == ()


def test_unknown_text_is_shown_at_the_end_and_said() -> None:
    baseline = baseline_of(EVENTS)
    told = [msgspec.structs.replace(e, text="else") if e is baseline else e for e in EVENTS]
    plain = lanes_of(told)[1]
    assert (plain.texts, plain.whole, plain.notes) == ((), "else", (TEXT_AT_END,))
    assert PUT_TOGETHER in lanes_of(EVENTS)[1].notes


@pytest.mark.parametrize(
    ("ids", "text", "texts"),
    [
        ((0, 1), "a b", ("a", " b")),
        ((0, 9, 1), "a xyz b", ("a", " xyz", " b")),  # one place is left for the unknown token
        ((9, 8, 1), "xyz b", ("", "xyz", " b")),  # two unknown ones: told with the next boundary
        ((2, 3, 0), "中a", ("", "中", "a")),
        ((9, 0, 9), "aaa", ("a", "a", "a")),
        ((9, 4, 9), "xababab", ("", "", "xababab")),  # two places: not guessed
        ((0, 7), "a", ("a", "")),  # an end token
        ((0, 1), "a c", None),
        ((), "", ()),
    ],
)
def test_plain_texts_are_derived_and_never_guessed(
    ids: tuple[int, ...], text: str, texts: tuple[str, ...] | None
) -> None:
    assert texts_of(ids, text, PIECES, ends=(7,)) == texts


def test_no_race_without_a_plain_run_or_without_a_round() -> None:
    assert build_replay(make_trace(rounds=3, baseline=False)).race is None
    nothing = [event for event in EVENTS if not isinstance(event, Round)]
    assert build_replay(nothing).race is None


def test_paced_and_cancelled_lanes_say_so() -> None:
    events = make_trace(rounds=4, paced=True)
    baseline = baseline_of(events)
    told = [msgspec.structs.replace(e, complete=False) if e is baseline else e for e in events]
    run, plain = lanes_of(told)
    assert any("paced" in note for note in run.notes)
    assert any("cancelled" in note for note in plain.notes)


def test_a_long_run_races_over_the_rounds_that_are_shown() -> None:
    document = Document(EVENTS)
    race = baseline_race(document, 5, {})
    assert race is not None
    run, plain = race.lanes
    assert len(run.us) == 5
    assert "the first 5 of 12 rounds" in run.notes
    assert len(plain.us) == run.tokens[-1]


def session() -> Source:
    """Two runs in one session."""
    other = make_trace(rounds=5, seed=9, k=2, temperature=0.7)
    documents = (
        Document(marked(EVENTS, SessionNote(run="", title="First"))),
        Document(other),
    )
    return Source(Path(), documents)


def test_runs_of_a_session_race_and_the_fastest_is_named() -> None:
    source = session()
    race = runs_race(source.runs, 100)
    assert race is not None
    assert [lane.name for lane in race.lanes] == ["First", "tiny-drafter"]
    rates = {lane.name: lane.rate or 0 for lane in race.lanes}
    best = max(rates, key=lambda name: rates[name])
    assert race.outcome.startswith(f"{best[0].upper()}{best[1:]} was fastest")
    ratio = max(rates.values()) / min(rates.values())
    assert f"{number(ratio)} times the {number(min(rates.values()))} of" in race.outcome
    assert runs_race(source.runs[:1], 100) is None


LANES = """[...document.querySelectorAll('.lane')].map((lane) => [
    lane.querySelector('.lane-text').textContent, lane.querySelector('strong').textContent])"""


def test_a_run_that_changed_its_drafter_is_not_named_by_the_first() -> None:
    def name(events: list[Event]) -> str:
        race = baseline_race(Document(events), 9, PIECES)
        assert race is not None
        return race.lanes[0].name

    events = make_trace(rounds=9)
    assert name(events) == "tiny-drafter"
    for at, event in enumerate(events):
        if isinstance(event, SettingsChanged):
            settings = msgspec.structs.replace(event.settings, drafter="none")
            events[at] = msgspec.structs.replace(event, settings=settings)
    assert name(events) == "the run with changing drafters"


@pytest.mark.browser
def test_lanes_run_on_one_clock_and_the_winner_is_told(replay: Open) -> None:
    page = replay(EVENTS, prelude=VIRTUAL_TIME)
    run, plain = lanes_of(EVENTS)
    page.click("#race-toggle")
    assert shown(page, "#race")
    assert not shown(page, "#stage")
    while text_at(page, "#race-pace") != "real time":
        page.key("]")
    page.key(" ")
    pump(page, 0.25)
    texts = [
        "".join(text for text, us in zip(lane.texts, lane.us, strict=True) if us <= 250_000)
        for lane in (run, plain)
    ]
    rates = [
        [r for r, us in zip(x.rates, x.us, strict=True) if us <= 250_000][-1] for x in (run, plain)
    ]
    assert page.evaluate(LANES) == [list(pair) for pair in zip(texts, rates, strict=True)]
    assert text_at(page, "#race-time") == "0.250 s"
    assert not page.evaluate("document.getElementById('race').classList.contains('over')")
    pump(page, 60)
    assert page.evaluate(LANES) == [["".join(lane.texts), lane.rates[-1]] for lane in (run, plain)]
    assert page.evaluate("document.querySelectorAll('.lane.won').length") == 1
    outcome = text_at(page, "#race-outcome")
    assert outcome == build_replay(EVENTS).race.outcome  # type: ignore[union-attr]
    page.key("PageDown")
    assert shown(page, "#stage")


@pytest.mark.browser
def test_viewer_chooses_which_run_is_shown(replay: Open) -> None:
    source = session()
    page = replay(source, Options(title="Two runs"), address="#run=2&round=3")
    second = list(source.runs[1].events)
    presentation, strip = window(second)
    presentation.seek(2)
    assert page.evaluate(SHOWN_CHIPS) == chips_of_window(strip)
    assert page.evaluate("[...document.getElementById('runs').options].map((o) => o.text)") == [
        "1: First",
        "2: tiny-drafter",
    ]
    page.key("v")
    page.evaluate("""(() => { const list = document.getElementById('race-which'); list.value = 1;
        list.dispatchEvent(new Event('change')); })()""")
    assert page.evaluate("document.querySelectorAll('.lane').length") == 2
    assert text_at(page, "#race-outcome").count("was fastest") == 1
    page.evaluate("""(() => { const list = document.getElementById('runs'); list.value = 0;
        list.dispatchEvent(new Event('change')); })()""")
    page.wait("document.getElementById('status-round').textContent === '12 rounds'")
    assert text_at(page, "#title") == "Two runs"
    page.key("End")
    chips = page.evaluate("document.querySelectorAll('#text .chip').length")
    assert chips == sum(len(r.drafted) + (r.closing is not None) for r in source.runs[0].rounds)
    assert text_of(source.runs[0].events).startswith(
        page.evaluate(
            "document.querySelector('#text .chip:not(.rejected)').textContent.slice(0, 1)"
        )
    )
