"""Which marker the picture stands at, where playing pauses, and what is said meanwhile."""

from __future__ import annotations

import pytest

from app.viewmodels.document import Document
from app.viewmodels.markers import (
    marker_at,
    marker_shown,
    neighbour,
    new_marker,
    told,
    with_words,
)
from app.viewmodels.presentation import Cursor, Presentation
from app.viewmodels.refs import TokenRef
from app.viewmodels.timeline import TimelineModel
from engine.trace.markers import Marker
from tests.traces import make_trace

ROUNDS = 9


def marked(*markers: tuple[int, str, bool]) -> Document:
    events = make_trace(rounds=ROUNDS)
    run = events[0].run
    return Document(
        [
            *events,
            *(
                Marker(run=run, id=f"m{n}", round=index, phase=phase, title=f"T{n}", pause=pause)  # type: ignore[arg-type]  # a phase's word
                for n, (index, phase, pause) in enumerate(markers)
            ),
        ]
    )


def held_at(document: Document, *, speed: float | None = 4.0) -> list[tuple[int, str]]:
    """Play to the end and return where playing paused on the way."""
    presentation = Presentation(document, speed=speed)
    presentation.pauses_at_markers = True
    stops = []
    for _ in range(2000):
        presentation.advance(0.05)
        if not presentation.playing:
            stops.append((presentation.cursor.round, presentation.cursor.phase))
            presentation.playing = True
        elif presentation.at_end:
            break
    assert presentation.at_end
    return stops


def test_playing_pauses_at_each_marker_that_asks_for_it_once() -> None:
    held = [(-1, "done"), (1, "draft"), (2, "verify"), (5, "done"), (ROUNDS - 1, "done")]
    document = marked(*((index, phase, True) for index, phase in held), (4, "done", False))
    assert held_at(document) == held


def test_a_round_without_a_draft_is_paused_at_when_it_is_over() -> None:
    plain = next(one.index for one in marked().rounds if not one.drafted)
    assert held_at(marked((plain, "verify", True))) == [(plain, "done")]


def test_a_removed_marker_pauses_nothing() -> None:
    document = marked((3, "done", True))
    document.extend([Marker(run=document.run or "", id="m0", round=3, removed=True)])
    assert held_at(document) == []


def test_rounds_shown_as_they_come_wait_at_no_marker() -> None:
    assert held_at(marked((3, "done", True)), speed=None) == []


def test_pausing_can_be_switched_off() -> None:
    presentation = Presentation(marked((3, "done", True)), speed=8.0)
    while not presentation.at_end:
        presentation.advance(0.1)
        assert presentation.playing


def test_playing_from_a_marker_goes_on() -> None:
    presentation = Presentation(marked((3, "done", True)), speed=8.0)
    presentation.pauses_at_markers = True
    presentation.advance(0.0)
    presentation.seek(3)
    presentation.playing = True
    presentation.advance(3.0)
    assert presentation.cursor.round > 3


def test_a_marker_is_at_its_own_moment_alone() -> None:
    markers = marked((2, "verify", True)).markers
    assert marker_at(markers, Cursor(2, "verify", 4)) is markers[0]
    assert marker_at(markers, Cursor(2, "done", 4)) is None


@pytest.mark.parametrize(
    ("cursor", "shown"),
    [
        (Cursor(2, "verify", 3), False),  # a verdict is still to fall
        (Cursor(2, "verify", 4), True),
        (Cursor(3, "done", 4), True),
        (Cursor(4, "draft", 1), False),
        (Cursor(1, "done", 4), False),
    ],
)
def test_words_stand_from_the_moment_to_the_end_of_the_next_round(
    cursor: Cursor, shown: bool
) -> None:
    markers = marked((2, "verify", True)).markers
    assert (marker_shown(markers, cursor, 4) is not None) is shown


def test_neighbours_are_before_and_after_the_picture() -> None:
    markers = marked((-1, "done", True), (2, "verify", True), (5, "done", True)).markers
    here = Cursor(2, "verify", 4)
    following, before = neighbour(markers, here, 4, 1), neighbour(markers, here, 4, -1)
    assert (following, before) == (markers[2], markers[0])
    assert neighbour(markers, Cursor(2, "verify", 1), 4, 1) is markers[1]
    assert neighbour(markers, Cursor(-1, "done", 0), 0, -1) is None
    assert neighbour(markers, Cursor(8, "done", 4), 4, 1) is None


def test_a_new_marker_takes_the_pinned_token_of_its_own_round_and_a_free_id() -> None:
    document = marked((2, "done", True))
    document.extend([Marker(run=document.run or "", id="m1", round=2, removed=True)])
    made = new_marker(document, Cursor(3, "verify", 4), TokenRef(3, 1))
    assert (made.round, made.phase, made.slot) == (3, "verify", 1)
    assert made.id not in {one.id for one in document.known_markers}
    assert new_marker(document, Cursor(4, "done", 4), TokenRef(3, 1)).slot is None


def test_words_are_one_line_and_a_note_no_longer_than_a_trace_takes() -> None:
    marker = with_words(Marker(run="r", id="m1", round=0), "two\nlines ", "n" * 3000, pause=False)
    assert (marker.title, len(marker.note), marker.pause) == ("two lines", 2000, False)
    assert told(marker).startswith("round 1 · two lines: nnn")


def test_flags_stand_where_the_picture_stops() -> None:
    document = marked((-1, "done", True), (2, "verify", True), (5, "done", True))
    model = TimelineModel(document)
    at = [flag.at_ns for flag in model.flags]
    assert at[0] == 0.0
    start, end = model.round_bounds_ns(2)
    assert start < at[1] < end
    assert at[2] == model.round_bounds_ns(5)[1]
    document.extend([Marker(run=document.run or "", id="m1", round=2, removed=True)])
    model.update()
    assert [flag.marker.id for flag in model.flags] == ["m0", "m2"]
