"""Reading a prompt: in chunks, with a word of how far, and a stop between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine import RunRequest, Session, Settings
from engine.control import Control
from engine.trace.events import FinishReason, PrefillFinished, Round, RunFinished

if TYPE_CHECKING:
    from engine.loading import LoadedModel

GREEDY = Settings(drafter="ngram", k=3, temperature=0.0)


@pytest.fixture
def session(exact_target: LoadedModel) -> Session:
    return Session(exact_target)


def request(prompt: str) -> RunRequest:
    return RunRequest(prompt=prompt, settings=GREEDY, raw=True, max_new_tokens=2, probes=False)


def test_a_long_prompt_says_how_far_it_is_read_and_stops_between_chunks(session: Session) -> None:
    long = request("x" * 300)
    said: list[tuple[int, int, str]] = []
    events = list(session.run(long, progress=lambda *step: said.append(step)))
    assert isinstance(events[1], PrefillFinished)
    assert events[1].tokens == 299
    assert said == [(begin, 299, "Reading the prompt") for begin in (0, 128, 256)]

    control = Control()

    def stop(done: int, total: int, what: str) -> None:
        said.append((done, total, what))
        if done == 128:
            control.stop()

    said.clear()
    events = list(session.run(long, control, progress=stop))
    assert [step[0] for step in said] == [0, 128]  # the chunk under way is the last one
    assert isinstance(events[-1], RunFinished)
    assert events[-1].reason is FinishReason.CANCELLED
    assert not any(isinstance(event, Round) for event in events)


def test_a_short_prompt_is_read_without_a_word(session: Session) -> None:
    said: list[int] = []
    list(session.run(request("hello"), progress=lambda done, *_: said.append(done)))
    assert said == []
