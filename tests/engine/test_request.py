"""A request's observation: off, it is never made, and nothing else changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import engine
from engine import Observation, RunRequest, Settings
from engine.observation import Observer
from engine.session import Session
from engine.trace.events import Round, RunStarted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine.loading import LoadedModel
    from engine.trace.events import Laws

SETTINGS = Settings(drafter="ngram", k=3, temperature=0.8)


@pytest.fixture
def observed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Rows of each law that an observer was made for."""
    made: list[int] = []
    honest = Observer.__init__

    def noting(self: Observer, top_n: int, *others: object) -> None:
        made.append(top_n)
        honest(self, top_n, *others)  # type: ignore[arg-type]  # passed on as it came

    monkeypatch.setattr(Observer, "__init__", noting)
    return made


def laws_of(rounds: Iterable[Round]) -> list[Laws | None]:
    return [
        token.laws
        for one in rounds
        for token in (*one.drafted, *([] if one.closing is None else [one.closing]))
    ]


def decisions(rounds: list[Round]) -> list[tuple[object, ...]]:
    return [
        (one.emitted_ids, one.texts, [(token.fate, token.u) for token in one.drafted])
        for one in rounds
    ]


def test_off_means_that_no_observer_is_made_and_nothing_else_changes(
    tiny_target: LoadedModel, observed: list[int]
) -> None:
    session = Session(tiny_target)
    runs = {}
    for top_n in (Observation.off, Observation.usual):
        request = RunRequest(
            prompt="abc abc",
            settings=SETTINGS,
            seed=3,
            max_new_tokens=30,
            probes=False,
            top_n=top_n,
        )
        started, *events = session.run(request)
        assert isinstance(started, RunStarted)
        assert started.top_n == top_n
        assert type(started.top_n) is int  # a trace holds plain values
        runs[top_n] = [event for event in events if isinstance(event, Round)]
    assert observed == [Observation.usual]
    assert set(laws_of(runs[Observation.off])) == {None}
    assert None not in laws_of(runs[Observation.usual])
    assert decisions(runs[Observation.off]) == decisions(runs[Observation.usual])
    assert sum(one.accepted for one in runs[Observation.off]) > 0


def test_those_who_only_want_text_switch_it_off(
    tiny_target: LoadedModel, observed: list[int]
) -> None:
    silent = list(
        engine.generate(
            tiny_target, "ngram", "abc abc", max_new_tokens=12, top_n=engine.Observation.off
        )
    )
    assert observed == []
    assert set(laws_of(silent)) == {None}
    usual = list(engine.generate(tiny_target, "ngram", "abc abc", max_new_tokens=12))
    assert observed == [Observation.usual]
    assert decisions(usual) == decisions(silent)


def test_a_request_observes_what_the_window_shows() -> None:
    assert RunRequest(prompt="x", settings=SETTINGS).top_n == Observation.usual == 8
