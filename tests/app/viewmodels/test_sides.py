"""Target and drafter may have a temperature each: every text asks the side that it speaks of."""

from __future__ import annotations

import msgspec
import pytest

from app.export.replay import build_replay
from app.viewmodels.court import ONE_HOT_TARGET, CourtModel
from app.viewmodels.document import Document
from app.viewmodels.presentation import Presentation
from app.viewmodels.refs import CLOSING_SLOT, TokenRef
from app.viewmodels.sides import drafter_greedy, target_greedy
from engine.trace.events import Fate, Round, RunStarted, Settings
from tests.traces import make_trace

ONE_HOT_DRAFT = "q_draft is one-hot: at temperature 0 the drafter takes its own argmax."


@pytest.mark.parametrize(
    ("target", "own", "greedy"),
    [
        (0.0, None, (True, True)),
        (0.8, None, (False, False)),
        (0.0, 0.7, (True, False)),
        (0.8, 0.0, (False, True)),
    ],
)
def test_each_side_asks_its_own_temperature(target, own, greedy):
    settings = Settings(drafter="head", k=4, temperature=target, drafter_temperature=own)
    assert (target_greedy(settings), drafter_greedy(settings)) == greedy


def with_own(events, own, mass):
    """Give the drafter a temperature of its own, and its tokens this mass."""

    def change(event):
        if isinstance(event, RunStarted):
            settings = msgspec.structs.replace(event.settings, drafter_temperature=own)
            return msgspec.structs.replace(event, settings=settings)
        if isinstance(event, Round):
            drafted = tuple(msgspec.structs.replace(t, q_draft=mass) for t in event.drafted)
            return msgspec.structs.replace(event, drafted=drafted)
        return event

    return [change(event) for event in events]


def shown(events):
    document = Document(events)
    presentation = Presentation(document, speed=1.0)
    presentation.seek(10**6)
    return document, CourtModel(document, presentation)


def first(document, fate):
    return next(
        TokenRef(one.index, slot)
        for one in document.rounds
        for slot, token in enumerate(one.drafted)
        if token.fate is fate
    )


def test_a_soft_draft_under_a_greedy_target_is_not_called_one_hot():
    events = with_own(make_trace(rounds=9, temperature=0.0, settings_changes=False), 0.7, 0.4)
    document, model = shown(events)
    for fate, verdict in (
        (Fate.ACCEPTED, "Kept because it is"),
        (Fate.REJECTED, "Rejected because"),
    ):
        model.pinned = ref = first(document, fate)
        case = model.case()
        assert case.verdict.startswith(verdict)
        assert "argmax" in case.verdict
        assert not any("q_draft is one-hot" in note for note in case.notes)
        assert ONE_HOT_TARGET in case.notes
        assert "threshold" not in [reading.name for reading in case.readings]
        page = build_replay(events).rounds[ref.round].d[ref.slot]
        assert page.o == ""
        assert "argmax" in page.w


def test_a_greedy_drafter_under_a_sampling_target_is_called_one_hot_and_tested_by_u():
    events = with_own(make_trace(rounds=9, temperature=0.8, settings_changes=False), 0.0, 1.0)
    document, model = shown(events)
    for fate in (Fate.ACCEPTED, Fate.REJECTED):
        model.pinned = ref = first(document, fate)
        case = model.case()
        assert f"{ONE_HOT_DRAFT} So the threshold is p_target itself." in case.notes
        assert ONE_HOT_TARGET not in case.notes
        assert "u = " in case.verdict
        assert "threshold" in [reading.name for reading in case.readings]
        assert build_replay(events).rounds[ref.round].d[ref.slot].o in case.notes
    model.pinned = TokenRef(0, CLOSING_SLOT)
    assert "Drawn with u" in model.case().verdict


def test_both_greedy_speak_of_no_threshold():
    events = make_trace(rounds=9, temperature=0.0, settings_changes=False)
    document, model = shown(with_own(events, None, 1.0))
    model.pinned = first(document, Fate.ACCEPTED)
    assert ONE_HOT_DRAFT in model.case().notes


def test_the_definition_of_p_target_names_what_it_went_through():
    events = make_trace(rounds=9, temperature=0.8, settings_changes=False)
    settings = msgspec.structs.replace(
        events[0].settings, repetition_penalty=1.2, logit_bias=((3, 1.0),), min_p=0.05
    )
    events[0] = msgspec.structs.replace(events[0], settings=settings)
    document, model = shown(events)
    through = "after logit bias, repetition penalty 1.2, temperature 0.8, min-p 0.05"
    for ref in (first(document, Fate.ACCEPTED), TokenRef(0, CLOSING_SLOT)):
        model.pinned = ref
        case = model.case()
        assert case.target_law == through
        assert through in case.readings[0].definition
        assert any("in it; the raw law has not" in note for note in case.notes)


def test_nothing_that_is_off_is_named_in_a_definition():
    document, model = shown(make_trace(rounds=9, temperature=0.8, settings_changes=False))
    model.pinned = first(document, Fate.ACCEPTED)
    case = model.case()
    assert case.target_law == "after temperature 0.8"
    text = case.in_words() + case.readings[0].definition
    assert not any(word in text for word in ("penalty", "bias", "top-", "min-p"))
