"""What a film shows and for how long, against the clock's own constants."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.export.moments import Moment, last_moment, parse_moment
from app.export.schedule import (
    END_S,
    LEAST_HOLD_S,
    MOST_HOLD_S,
    STAND_S,
    TITLE_S,
    Schedule,
    reading_s,
)
from app.viewmodels.document import Document
from app.viewmodels.presentation import (
    CLOSING_S,
    PENDING_S,
    REST_S,
    START,
    VERDICT_S,
    Cursor,
    Presentation,
)
from app.viewmodels.refs import TokenRef
from engine.errors import DraftscopeError
from engine.trace.events import Fate
from engine.trace.markers import Marker
from tests.traces import make_trace

EVENTS = make_trace(rounds=10, k=3, temperature=0.9)
RUN = EVENTS[0].run
NOTE = "Twenty words or so, which take a while to be read by whoever sees them in a hall for once."


def marker(number: int, index: int, **more: object) -> Marker:
    return Marker(run=RUN, id=f"m{number}", round=index, title=f"Marker {number}", **more)  # type: ignore[arg-type]


def whole(document: Document, **options: object) -> Schedule:
    return Schedule(document, Moment(-1), last_moment(document), **options)  # type: ignore[arg-type]


def clock_s(document: Document) -> float:
    """Return how long the session takes at speed 1, from the rounds themselves."""
    seconds = 0.0
    for one in document.rounds:
        tested = sum(token.fate in (Fate.ACCEPTED, Fate.REJECTED) for token in one.drafted)
        verdicts = max(tested, bool(one.drafted))
        seconds += len(one.drafted) * PENDING_S + verdicts * VERDICT_S + CLOSING_S
    return seconds + (len(document.rounds) - 1) * REST_S


def moves(document: Document) -> list[Cursor]:
    """Return every state of the picture, from the prompt to the end."""
    presentation, found = Presentation(document, speed=1.0), [START]
    while (coming := presentation.coming()) is not None:
        presentation.show(coming[0])
        found.append(coming[0])
    return found


@pytest.mark.parametrize("speed", [0.5, 1.0, 7.0])
def test_a_film_takes_what_the_clock_gives_its_steps(speed: float) -> None:
    document = Document(EVENTS)
    schedule = whole(document, speed=speed)
    segments = list(schedule)
    expected = TITLE_S + 2 * STAND_S + clock_s(document) / speed + END_S
    assert schedule.seconds == pytest.approx(expected)
    assert sum(one.seconds for one in segments) == schedule.seconds
    assert all(one.seconds > 0 for one in segments)


def test_every_step_is_shown_once_and_in_order() -> None:
    document = Document(EVENTS)
    title, begin, *steps, stands, end = list(whole(document))
    assert title.cursor is None
    assert begin.cursor == START
    assert [step.cursor for step in steps] == moves(document)[:-1]
    assert stands.cursor == end.cursor == moves(document)[-1]
    assert (stands.last, end.last) == (False, True)
    assert not any(step.last for step in steps)
    without = whole(document, title_card=False)
    assert next(one.cursor for one in without) == START
    assert without.seconds == pytest.approx(whole(document).seconds - TITLE_S)


@pytest.mark.parametrize(
    ("begin", "end"), [("start", "3"), ("3", "3"), ("2:draft", "4:verify"), ("9:verify", "")]
)
def test_a_part_begins_and_ends_where_it_is_told(begin: str, end: str) -> None:
    document = Document(EVENTS)
    moments = parse_moment(begin, document), parse_moment(end, document)
    segments = list(Schedule(document, *moments, title_card=False))
    cursors = [Presentation(document) for _ in moments]
    for presentation, moment in zip(cursors, moments, strict=True):
        moment.show(presentation)
    assert segments[0].cursor == cursors[0].cursor
    assert segments[-1].cursor == cursors[1].cursor
    every = moves(document)
    shown = [one.cursor for one in segments[1:-1]]
    first, last = (every.index(presentation.cursor) for presentation in cursors)
    assert shown == every[first : last + 1]


def test_a_film_that_ends_before_it_begins_is_refused() -> None:
    document = Document(EVENTS)
    with pytest.raises(DraftscopeError, match="--from"):
        Schedule(document, parse_moment("3:done", document), parse_moment("3:draft", document))


@pytest.mark.parametrize("speed", [1.0, 4.0])
def test_a_marker_holds_the_picture_while_its_words_are_read(speed: float) -> None:
    held = marker(1, 5, phase="draft", slot=1, note=NOTE)
    document = Document([*EVENTS, held])
    schedule = whole(document, speed=speed)
    (told,) = [one for one in schedule if one.marker is not None]
    assert told.seconds == reading_s(held.title, held.note) > LEAST_HOLD_S
    assert (told.cursor, told.pinned) == (Cursor(5, "draft", 3), TokenRef(5, 1))
    assert schedule.seconds == pytest.approx(
        whole(Document(EVENTS), speed=speed).seconds + told.seconds
    )


def test_without_captions_a_marker_holds_for_a_look() -> None:
    document = Document([*EVENTS, marker(1, 3, note=NOTE)])
    held = [one.seconds for one in whole(document, captions=False) if one.marker is not None]
    assert held == [LEAST_HOLD_S]


def test_words_of_a_marker_that_does_not_pause_stay_until_they_are_read() -> None:
    passing = marker(1, 3, pause=False, note=NOTE)
    document = Document([*EVENTS, passing])
    schedule = whole(document)
    assert schedule.seconds == pytest.approx(whole(Document(EVENTS)).seconds)
    told = [one for one in schedule if one.marker is not None]
    assert sum(one.seconds for one in told) == pytest.approx(reading_s(passing.title, NOTE))
    assert len({one.cursor for one in told}) > 1
    shown = dict.fromkeys(one.cursor for one in schedule if one.cursor is not None)
    assert list(shown) == moves(document)


def test_of_markers_at_one_moment_each_is_read() -> None:
    here = [marker(number, 4, pause=False, note=NOTE) for number in (1, 2)]
    segments = list(whole(Document([*EVENTS, *here])))
    for one in here:
        told_s = sum(part.seconds for part in segments if part.marker == one)
        assert told_s == pytest.approx(reading_s(one.title, one.note))


def test_words_at_the_end_and_at_the_prompt_are_read() -> None:
    ends = [marker(1, -1, note=NOTE), marker(2, 9, pause=False, note=NOTE)]
    segments = list(whole(Document([*EVENTS, *ends])))
    assert [one.marker for one in segments if one.marker is not None] == ends
    assert segments[1].cursor == segments[2].cursor == START
    assert segments[-3].marker == ends[1]
    assert segments[-1].last


@given(
    places=st.lists(st.tuples(st.integers(-1, 12), st.sampled_from(("draft", "verify", "done")))),
    speed=st.sampled_from((0.5, 3.0)),
)
def test_markers_that_pause_add_their_holds_and_nothing_else(
    places: list[tuple[int, str]], speed: float
) -> None:
    markers = [
        marker(number, index, phase=phase, note=NOTE)
        for number, (index, phase) in enumerate(places)
    ]
    document = Document([*EVENTS, *markers])
    schedule = whole(document, speed=speed)
    there = [one for one in markers if one.round < 10]
    assert sorted(one.marker.id for one in schedule if one.marker) == sorted(m.id for m in there)
    holds = sum(reading_s(one.title, one.note) for one in there)
    assert schedule.seconds == pytest.approx(whole(Document(EVENTS), speed=speed).seconds + holds)


def test_reading_takes_longer_for_more_words_within_bounds() -> None:
    assert reading_s("", "") == LEAST_HOLD_S
    assert reading_s("Six words stand in this title") == 1 + 6 / 3
    assert reading_s("word " * 1000) == MOST_HOLD_S
    assert reading_s("天空为什么是蓝色的因为大气散射") > reading_s("a b")


def test_a_session_without_rounds_is_its_title_and_its_prompt() -> None:
    document = Document(EVENTS[:1])
    segments = list(whole(document))
    assert [one.cursor for one in segments] == [None, START, START, START]
    assert segments[-1].last


def test_a_film_that_would_be_too_long_is_refused_with_what_to_do() -> None:
    document = Document(EVENTS)
    seconds = whole(document).seconds
    assert whole(document, most_s=seconds).seconds == seconds
    with pytest.raises(DraftscopeError, match=r"longer than 0\.3 minutes.*--from.*--speed"):
        whole(document, most_s=18.0)
