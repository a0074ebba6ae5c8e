"""A page tells every setting that held, why drafts were short, and each side's own law."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec
import pytest

from app.export.replay import build_replay
from engine.trace.events import (
    ClosingKind,
    DraftEnd,
    Event,
    Fate,
    ModelInfo,
    Round,
    RunStarted,
    SettingsChanged,
)
from tests.app.export.looking import chip, first_with_fate, text_at
from tests.app.further import FULL_MORE
from tests.traces import make_trace

if TYPE_CHECKING:
    from tests.app.export.looking import Open


DETAILS = "[...document.querySelectorAll('.figure .detail')]"


def with_settings(events: list[Event], **fields: object) -> list[Event]:
    first = events[0]
    assert isinstance(first, RunStarted)
    settings = msgspec.structs.replace(first.settings, **fields)
    return [msgspec.structs.replace(first, settings=settings), *events[1:]]


def test_every_setting_that_is_on_stands_in_the_header() -> None:
    events = make_trace(rounds=4, temperature=0.8)
    settings = FULL_MORE.put_into(events[0].settings)  # type: ignore[union-attr]  # the run's start
    fields = {name: getattr(settings, name) for name in settings.__struct_fields__}
    assert build_replay(with_settings(events, **fields)).settings == (
        "k 4, at least 2, confidence 0.4, temperature 0.8, min-p 0.05, repetition penalty 1.1, "
        "presence penalty -0.5, frequency penalty 0.25, drafter temperature 0.5, 2 logit biases",
    )


def test_a_round_says_why_its_draft_was_short() -> None:
    events = make_trace(rounds=40, temperature=0.9, settings_changes=False)
    ends = iter([DraftEnd.UNSURE, DraftEnd.NO_MATCH, DraftEnd.CONTEXT])
    seen: dict[int, DraftEnd] = {}
    for at, event in enumerate(events):
        kind = getattr(getattr(event, "closing", None), "kind", None)
        if isinstance(event, Round) and kind is ClosingKind.BONUS and len(seen) < 3:
            seen[event.index] = next(ends)
            events[at] = msgspec.structs.replace(event, k=8, draft_end=seen[event.index])
    assert len(seen) == 3
    labels = {
        DraftEnd.UNSURE: "unsure",
        DraftEnd.NO_MATCH: "no match",
        DraftEnd.CONTEXT: "the drafter's context ends",
    }
    for index, one in enumerate(build_replay(events).rounds):
        if index in seen:
            assert one.w.endswith(f"then a bonus (4 of 8 drafted: {labels[seen[index]]})")
            assert one.c is not None
            assert "4 of 8 drafted: " in one.c.w
        else:
            assert "drafted: " not in one.w


@pytest.mark.browser
@pytest.mark.parametrize(("own", "mass", "shown"), [(0.7, 0.4, True), (None, 1.0, False)])
def test_the_overlap_is_shown_unless_both_laws_are_one_hot(
    replay: Open, own: float | None, mass: float, shown: bool
) -> None:
    events = with_settings(make_trace(rounds=6, temperature=0.0), drafter_temperature=own)
    for at, event in enumerate(events):
        if isinstance(event, Round):
            drafted = tuple(msgspec.structs.replace(t, q_draft=mass) for t in event.drafted)
            events[at] = msgspec.structs.replace(event, drafted=drafted)
    page = replay(events)
    page.key("End")
    one, slot = first_with_fate(events, Fate.REJECTED)
    page.evaluate(f"document.querySelector({json.dumps(chip(one, slot))}).click()")
    note = text_at(page, "#court-note")
    assert ("Overlap of both laws" in note) is shown
    assert ("q_draft is one-hot" in note) is not shown
    assert "At temperature 0 p_target is one-hot" in note


@pytest.mark.browser
@pytest.mark.parametrize("size", [(1400, 900), (1100, 700)])
def test_neither_a_setting_nor_a_verdict_on_speed_is_cut_off(
    replay: Open, size: tuple[int, int]
) -> None:
    fields = {name: getattr(FULL_MORE, name) for name in FULL_MORE.__dataclass_fields__}
    events = make_trace(rounds=60, temperature=0.8, baseline=False, settings_changes=False)
    events = with_settings(events, **fields)
    for at, event in enumerate(events):
        if isinstance(event, Round):
            times = msgspec.structs.replace(event.times, draft=987_654_321)
            events[at] = msgspec.structs.replace(event, times=times)
    page = replay(events, width=size[0], height=size[1])
    page.key("End")
    details: list[str] = page.evaluate(f"{DETAILS}.map((d) => d.textContent)")
    assert any("slower than plain" in one for one in details)
    assert "logit biases" in text_at(page, "#facts")
    cut_off = "(e) => e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1"
    assert not page.evaluate(f"[document.getElementById('facts'), ...{DETAILS}].some({cut_off})")
    fits = "document.getElementById('figures')"
    assert page.evaluate(f"{fits}.scrollHeight <= {fits}.clientHeight + 1")


@pytest.mark.browser
def test_the_header_names_whoever_drafts_in_the_round_on_show(replay: Open) -> None:
    events = make_trace(rounds=9, k=4)
    plain, again = (at for at, one in enumerate(events) if isinstance(one, SettingsChanged))
    nobody = events[plain]
    back = events[again]
    assert isinstance(nobody, SettingsChanged)
    assert isinstance(back, SettingsChanged)
    none = msgspec.structs.replace(nobody.settings, drafter="none")
    other = msgspec.structs.replace(back.settings, drafter="head")
    head = ModelInfo(name="A head", kind="head")
    events[plain] = msgspec.structs.replace(nobody, settings=none, drafter=None)
    events[again] = msgspec.structs.replace(back, settings=other, drafter=head)
    page = replay(events)

    def told() -> tuple[str, str]:
        drafter = f"{text_at(page, '#versus')} {text_at(page, '#drafter-name')}".strip()
        return drafter, text_at(page, "#status-note")

    assert told()[0] == "drafted by tiny-drafter"
    for _ in range(nobody.before_round + 1):
        page.key("ArrowRight")
    assert told()[0] == "alone, no drafter"
    assert told()[1] == "settings changed: no drafter, k 0, greedy"
    page.key("ArrowRight")
    assert told()[0] == "drafted by A head"
    assert told()[1] == "settings changed: A head, k 4, greedy"
    page.key("Home")
    assert told()[0] == "drafted by tiny-drafter"
