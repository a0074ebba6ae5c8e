"""One session with a drafter near its target, and recorded runs of it: lawful ones to spoil."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine import Session, Settings
from engine.check.trace import check_trace
from tests.engine.check.runs import found, recorded

if TYPE_CHECKING:
    from pathlib import Path

    from engine.loading import LoadedModel
    from engine.trace.events import Event


@pytest.fixture(scope="package")
def session(tiny_target: LoadedModel, near_folder: Path) -> Session:
    session = Session(tiny_target)
    session.add_drafter("model:near", session.drafter(f"model:{near_folder}"))
    return session


@pytest.fixture(scope="package")
def sampled(session: Session) -> list[Event]:
    """A sampled run with laws, 60 tokens long."""
    settings = Settings(drafter="model:near", k=4, temperature=1.0)
    events = recorded(session, settings, seed=5, max_new_tokens=60, baseline=True)
    assert found(check_trace(events)) == []
    return events


@pytest.fixture(scope="package")
def bare(session: Session) -> list[Event]:
    """The same run without laws."""
    settings = Settings(drafter="model:near", k=4, temperature=1.0)
    events = recorded(session, settings, seed=5, max_new_tokens=60, top_n=0)
    assert found(check_trace(events)) == []
    return events


@pytest.fixture(scope="package")
def greedy(session: Session) -> list[Event]:
    """A greedy run with a baseline and a comparison."""
    settings = Settings(drafter="model:near", k=4, temperature=0.0)
    events = recorded(session, settings, max_new_tokens=60, baseline=True)
    assert found(check_trace(events)) == []
    return events
