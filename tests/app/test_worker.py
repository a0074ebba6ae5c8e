"""A lane performs jobs in order, survives any fault, and ends when told to."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from app.inbox import Inbox
from app.messages import JobEnded, LoadModels, Progressed, Reply
from app.worker import Lane
from engine.errors import DraftscopeError
from tests.app.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from PySide6.QtWidgets import QApplication

    from app.messages import Job
    from app.worker import Perform, Post


class Bench:
    """A lane under test with its inbox."""

    def __init__(self, perform: Perform) -> None:
        self.inbox: Inbox[Reply] = Inbox()
        self.lane = Lane("test", perform, self.inbox)
        self.replies: list[Reply] = []

    def send(self) -> LoadModels:
        job = LoadModels(target="t", drafter="none")
        self.lane.submit(job)
        return job

    def ends(self, count: int = 1) -> list[JobEnded]:
        def arrived() -> bool:
            self.replies += self.inbox.drain()
            return sum(isinstance(reply, JobEnded) for reply in self.replies) >= count

        wait_until(arrived)
        return [reply for reply in self.replies if isinstance(reply, JobEnded)]


@pytest.fixture
def bench(qapp: QApplication) -> Iterator[Callable[[Perform], Bench]]:
    made: list[Bench] = []

    def build(perform: Perform) -> Bench:
        made.append(Bench(perform))
        return made[-1]

    yield build
    for one in made:
        assert one.lane.close()


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (DraftscopeError("The file is torn. Fetch it again."), "The file is torn."),
        (RuntimeError("two\nlines"), "Something unexpected went wrong: two lines"),
        (RuntimeError(), "Something unexpected went wrong: RuntimeError"),
        (MemoryError(), "There is not enough memory"),
        (RuntimeError("x" * 900), "…"),
    ],
)
def test_any_fault_ends_the_job_with_one_sentence(
    bench: Callable[[Perform], Bench], fault: Exception, sentence: str
) -> None:
    def perform(job: Job, post: Post) -> str:
        raise fault

    one = bench(perform)
    one.send()
    (end,) = one.ends()
    assert sentence in end.error
    assert "\n" not in end.error
    assert len(end.error) < 300
    one.send()
    assert len(one.ends(2)) == 2  # the lane goes on


def test_jobs_are_performed_in_order_off_the_window_thread(
    bench: Callable[[Perform], Bench],
) -> None:
    threads: list[int] = []

    def perform(job: Job, post: Post) -> str:
        threads.append(threading.get_ident())
        post(Progressed(job.number, 2491081031, 2**63 + 5, "bytes"))
        return "a notice"

    one = bench(perform)
    sent = [one.send().number for _ in range(5)]
    ends = one.ends(5)
    assert [end.job for end in ends] == sent
    assert {end.notice for end in ends} == {"a notice"}
    assert len(set(threads)) == 1
    assert threads[0] != threading.get_ident()
    progress = [reply for reply in one.replies if isinstance(reply, Progressed)]
    assert {(reply.done, reply.total) for reply in progress} == {(2491081031, 2**63 + 5)}


def test_cancelled_job_that_waits_never_begins(bench: Callable[[Perform], Bench]) -> None:
    begun: list[int] = []
    gate = threading.Event()

    def perform(job: Job, post: Post) -> str:
        begun.append(job.number)
        gate.wait(10)
        return ""

    one = bench(perform)
    first, second = one.send(), one.send()
    wait_until(lambda: bool(begun))
    one.lane.cancel()
    gate.set()
    ends = one.ends(2)
    assert begun == [first.number]
    assert [(end.job, end.cancelled, end.error) for end in ends] == [
        (first.number, True, ""),
        (second.number, True, ""),
    ]


def test_reader_is_woken_once_a_drain(bench: Callable[[Perform], Bench]) -> None:
    def perform(job: Job, post: Post) -> str:
        for done in range(100):
            post(Progressed(job.number, done, 100, ""))
        return ""

    one = bench(perform)
    woken: list[int] = []
    one.lane.inbox_filled.connect(lambda: woken.append(1))
    one.send()
    wait_until(lambda: len(one.inbox) == 101)
    wait_until(lambda: bool(woken))
    assert len(woken) == 1


def test_lane_that_never_worked_closes(bench: Callable[[Perform], Bench]) -> None:
    assert bench(lambda job, post: "").lane.close()
