"""A stop string cuts the text, the tokens are kept, and what lies beyond the cut is told."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.viewmodels.document import Document
from app.viewmodels.presentation import Presentation
from app.viewmodels.refs import TokenRef
from app.viewmodels.stop_cut import stop_cut
from app.viewmodels.strip import StripModel
from app.viewmodels.token_note import token_note
from engine.models.text.streaming import TextStream
from engine.trace.events import FinishReason, RunFinished
from engine.trace.text import text_of
from tests.app.texts import Vocabulary, run_of


def shown(events):
    document = Document(events)
    presentation = Presentation(document, speed=1.0)
    presentation.seek(10**6)
    model = StripModel(document, presentation)
    model.refresh()
    return document, presentation, model


def drawn(chip, *, beyond):
    return "".join(one.text for one in chip.fragments if (one.kind == "beyond") == beyond)


@pytest.mark.case("B22")
def test_a_token_that_holds_the_stop_string_is_shown_whole_and_the_text_is_cut():
    events = run_of(["A", " dog"], [" Wait", "...", " no", " x"], stops=[".."])
    document, _, model = shown(events)
    assert model.text() == text_of(events) == "A dog Wait"
    assert document.rounds[1].drafted[1].piece == b"..."
    assert document.rounds[1].emitted_ids == (2, 3)
    chips = {chip.ref: chip for chip in model.chips}
    token = chips[TokenRef(1, 1)]
    assert token.text == "..."
    assert (drawn(token, beyond=False), drawn(token, beyond=True)) == ("", "...")
    assert (token.cut.kept, token.cut.first) == (0, True)
    assert chips[TokenRef(1, 2)].fate == "cut"
    assert model.notice == "The run ended at the stop string “..”: the text is cut there."
    assert "A stop string cut all of it from the text." in token_note(document, token)


@pytest.mark.case("B19", "B22")
def test_a_stop_string_over_two_rounds_cuts_inside_a_token_of_the_first():
    events = run_of(["A", " alpha beta"], [" gamma delta"], stops=["beta gamma"])
    document, _, model = shown(events)
    assert model.text() == text_of(events) == "A alpha "
    first, second = model.chips[1:]
    assert (drawn(first, beyond=False), drawn(first, beyond=True)) == (" alpha ", "beta")
    assert (drawn(second, beyond=False), drawn(second, beyond=True)) == ("", " gamma delta")
    assert (first.cut.first, second.cut.first) == (True, False)
    told = "A stop string cut the text after 7 of its 11 characters."
    assert told in token_note(document, first)


def test_the_cut_is_shown_where_the_end_is_and_nowhere_before():
    events = run_of(["A", " alpha beta"], [" gamma delta"], stops=["beta gamma"])
    document, presentation, model = shown(events[:-1])
    assert all(chip.cut is None for chip in model.chips)
    document.extend(events[-1:])
    assert model.refresh() == 1
    assert [chip.cut is not None for chip in model.chips] == [False, True, True]
    presentation.seek(0)
    assert model.refresh() == 1
    assert [chip.cut for chip in model.chips] == [None, None]
    presentation.seek(1)
    assert model.refresh() == 1
    assert model.chips == shown(events)[2].chips


def test_a_stop_string_may_begin_with_half_a_character():
    events = run_of(["a", b"\xf0\x9f"], [b"\x98\x8a!"], stops=["😊"])
    _, _, model = shown(events)
    assert model.text() == "a"
    assert [drawn(chip, beyond=True) for chip in model.chips] == ["", "⟨F0 9F⟩", "😊!"]
    assert [drawn(chip, beyond=False) for chip in model.chips] == ["a", "", ""]


def test_line_ends_and_spaces_beyond_the_cut_are_visible_and_end_no_line():
    _, _, model = shown(run_of(["a", "STOP\n\n\tb"], stops=["STOP"]))
    assert [one.kind for one in model.chips[1].fragments] == ["beyond"]
    assert drawn(model.chips[1], beyond=True) == "STOP↵↵⇥b"
    _, _, model = shown(run_of(["a", "\n  "], stops=["\n"]))
    assert drawn(model.chips[1], beyond=True) == "↵··"


@pytest.mark.parametrize("reason", [one for one in FinishReason if one != "stop_string"])
def test_nothing_else_cuts_a_text(reason):
    document, _, model = shown(run_of(["a..", ".b"], stops=["...."], reason=reason))
    assert stop_cut(document) is None
    assert all(chip.cut is None for chip in model.chips)


def test_a_stop_string_that_is_not_found_leaves_the_plain_sentence():
    events = run_of(["a"], stops=["never"])[:-1]
    events.append(RunFinished(run=events[0].run, reason=FinishReason.STOP_STRING))
    _, _, model = shown(events)
    assert model.notice == "The run ended at a stop string: the text is cut there."


PIECES = st.lists(st.sampled_from(["a", "b", "ab", "ba", "\n", " ", b"\xf0\x9f", b"\x98\x8a", "é"]))


@settings(max_examples=200)
@given(PIECES, st.lists(st.text("ab \né😊", min_size=1, max_size=3), max_size=3), st.data())
def test_what_is_kept_of_the_tokens_joins_to_the_text(pieces, stops, data):
    coded = [piece.encode() if isinstance(piece, str) else piece for piece in pieces]
    stream = TextStream(Vocabulary(coded, ()), stops)
    for count in range(len(coded)):
        stream.push(count)
        if stream.stopped:
            pieces = pieces[: count + 1]
            break
    ends = sorted({*data.draw(st.sets(st.integers(0, len(pieces)))), len(pieces)})
    rounds = [pieces[a:b] for a, b in zip([0, *ends], ends, strict=False) if pieces[a:b]]
    events = run_of(*rounds, stops=stops)
    _, _, model = shown(events)
    kept = "".join(c.text if c.cut is None else c.text[: c.cut.kept] for c in model.chips)
    assert text_of(events).replace("\ufffd", "") == kept
    firsts = [chip for chip in model.chips if chip.cut is not None and chip.cut.first]
    assert len(firsts) == stream.stopped
