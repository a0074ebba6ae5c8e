"""Moments as people write them: rounds count from 1, markers by their names."""

from __future__ import annotations

import pytest

from app.export.moments import Moment, last_moment, moment_of, parse_moment
from app.viewmodels.document import Document
from app.viewmodels.presentation import Presentation
from app.viewmodels.refs import TokenRef
from engine.errors import DraftscopeError
from engine.trace.markers import Marker
from tests.traces import make_trace


@pytest.fixture
def document() -> Document:
    events = make_trace(rounds=12, k=3)
    run = events[0].run
    marks = [
        Marker(run=run, id="m1", round=4, phase="verify", slot=1, title="The turn"),
        Marker(run=run, id="m2", round=-1, title="7"),
    ]
    return Document([*events, *marks])


def test_rounds_phases_and_tokens_count_from_one(document: Document) -> None:
    assert parse_moment("1", document) == Moment(0)
    assert parse_moment("12:verify", document) == Moment(11, "verify")
    assert parse_moment("2:done:closing", document) == Moment(1, "done", TokenRef(1, -1))
    assert parse_moment(" 2:1 ", document) == Moment(1, "done", TokenRef(1, 0))
    for text in ("", "end"):
        assert parse_moment(text, document) == last_moment(document) == Moment(11)
    for text in ("start", "0"):
        assert parse_moment(text, document) == Moment(-1)


def test_a_marker_is_found_by_its_id_and_by_its_title(document: Document) -> None:
    expected = Moment(4, "verify", TokenRef(4, 1))
    assert parse_moment("m1", document) == parse_moment("The turn", document) == expected
    assert parse_moment("7", document) == Moment(-1)  # a title goes before a number
    assert moment_of(document.markers[1]) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("13", "Round 13 is not in this run, which has 12 rounds"),
        ("soon", '"soon" names no moment: write ROUND'),
        ("3:later", "names no moment"),
        ("3:9", "has . drafted tokens, and no token 9"),
        ("3:0", "and no token 0"),
        ("0:verify", '"0:verify" is before the first round, where nothing is drafted: write start'),
        ("0:9999", "is before the first round"),
        ("0:closing", "is before the first round"),
        ("9" * 5000, "names no moment"),
    ],
)
def test_what_is_no_moment_is_said_in_a_sentence(document: Document, text: str, said: str) -> None:
    with pytest.raises(DraftscopeError, match=said):
        parse_moment(text, document)


def test_a_marker_past_the_last_round_is_no_moment_of_the_run() -> None:
    events = make_trace(rounds=3)
    past = Marker(run=events[0].run, id="m1", round=3, title="Gone")
    with pytest.raises(DraftscopeError, match="Round 4 is not in this run, which has 3 rounds"):
        parse_moment("Gone", Document([*events, past]))


def test_one_of_a_thing_is_one() -> None:
    alone = Document(make_trace(rounds=1, k=1))
    with pytest.raises(DraftscopeError, match="Round 2 is not in this run, which has 1 round\\."):
        parse_moment("2", alone)
    with pytest.raises(DraftscopeError, match="Round 1 has 1 drafted token, and no token 9"):
        parse_moment("1:9", alone)


def test_a_moment_moves_a_presentation(document: Document) -> None:
    presentation = Presentation(document)
    Moment(2, "draft").show(presentation)
    assert (presentation.cursor.round, presentation.cursor.phase) == (2, "draft")
    Moment(-1).show(presentation)
    assert presentation.visible_rounds() == 0
