"""Events that waited together are taken in together, in order, and none is lost."""

from __future__ import annotations

from app.merging import merged
from app.messages import EventsArrived, JobEnded, Progressed
from tests.traces import make_trace

EVENTS = make_trace(rounds=6)


def test_neighbouring_events_of_a_job_come_as_one() -> None:
    (only,) = merged([EventsArrived(3, (event,)) for event in EVENTS])
    assert isinstance(only, EventsArrived)
    assert (only.job, only.events) == (3, tuple(EVENTS))


def test_what_stands_between_and_other_jobs_keep_their_places() -> None:
    first, second, third, *_ = EVENTS
    progress = Progressed(3, 1, 2, "loading")
    arrived = [
        EventsArrived(3, (first,)),
        progress,
        progress,
        EventsArrived(3, (second,)),
        EventsArrived(4, (first, second)),
        EventsArrived(4, (third,)),
        JobEnded(4),
    ]
    assert list(merged(arrived)) == [
        *arrived[:4],
        EventsArrived(4, (first, second, third)),
        JobEnded(4),
    ]


def test_nothing_gives_nothing() -> None:
    assert list(merged([])) == []
