"""Recorded runs for the checks: real ones of tiny models, and ways to spoil them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from engine import RunRequest, Session, Settings
from engine.trace.events import ClosingToken, DraftedToken, Event, Fate, Laws, Round
from engine.uniforms import Purpose

if TYPE_CHECKING:
    from engine.check.trace import Report

replace = msgspec.structs.replace
Change = Callable[[Any], Any]


def recorded(session: Session, settings: Settings, **request: Any) -> list[Event]:
    """Run a prompt and return the events."""
    request.setdefault("prompt", "hello hello hello")
    return list(session.run(RunRequest(settings=settings, **request)))


def rounds_of(events: Sequence[Event]) -> list[Round]:
    return [event for event in events if isinstance(event, Round)]


def with_round(events: Sequence[Event], index: int, change: Change) -> list[Event]:
    """Return the events with one round changed."""
    return [
        change(event) if isinstance(event, Round) and event.index == index else event
        for event in events
    ]


def with_drafted(events: Sequence[Event], index: int, place: int, change: Change) -> list[Event]:
    """Return the events with one drafted token changed."""

    def changed(one: Round) -> Round:
        drafted = list(one.drafted)
        drafted[place] = change(drafted[place])
        return replace(one, drafted=tuple(drafted))

    return with_round(events, index, changed)


def with_closing(events: Sequence[Event], index: int, change: Change) -> list[Event]:
    """Return the events with the closing token of one round changed."""
    return with_round(events, index, lambda one: replace(one, closing=change(one.closing)))


def with_event(events: Sequence[Event], kind: type, change: Change) -> list[Event]:
    """Return the events with those of one type changed."""
    return [change(event) if isinstance(event, kind) else event for event in events]


def found(report: Report) -> list[tuple[str, int | None, int | str | None]]:
    """Kind and place of each finding."""
    return [(finding.kind.value, finding.round, finding.token) for finding in report.findings]


def recorded_uniforms(events: Sequence[Event]) -> Callable[[int, int, Purpose], float]:
    """Return a generator that gives the numbers which a simulated run recorded.

    Its draft draws are not recorded: each gets the middle of what draws its token, in their order.
    """
    table: dict[tuple[int, Purpose], float] = {}
    drafts: list[tuple[int, float]] = []
    for one in rounds_of(events):
        for place, token in enumerate(one.drafted):
            if token.u is not None:
                table[one.position + place, Purpose.TEST] = token.u
            if token.laws is not None:
                drafts.append((one.position + place, _middle(token.laws, token)))
        if one.closing is not None and one.closing.u is not None:
            place = one.position + one.accepted
            table[place, Purpose(one.closing.kind.value)] = one.closing.u

    def given(seed: int, position: int, purpose: Purpose) -> float:
        if purpose is not Purpose.DRAFT:
            return table[position, purpose]
        at, number = drafts.pop(0)
        assert at == position
        return number

    return given


def _middle(laws: Laws, token: DraftedToken | ClosingToken) -> float:
    masses = dict(zip(laws.ids, laws.q_draft, strict=True))
    below = sum(mass for other, mass in masses.items() if other < token.id)
    return below + masses[token.id] / 2


def find(
    events: Sequence[Event], fate: Fate, *, also: Callable[[DraftedToken], bool] = lambda _: True
) -> tuple[int, int]:
    """Return round and place of the first drafted token with this fate."""
    return next(
        (one.index, place)
        for one in rounds_of(events)
        for place, token in enumerate(one.drafted)
        if token.fate is fate and also(token)
    )
