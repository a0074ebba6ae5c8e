"""Lawful traces follow from their own numbers: real runs, simulated ones, the recorded session."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine import Session, Settings
from engine.check import rounds as rounds_module
from engine.check.findings import Kind
from engine.check.trace import Report, RunsChecker, check_trace
from engine.control import Control
from engine.request import RunRequest
from engine.trace import codec
from engine.trace.events import (
    ClosingKind,
    DraftEnd,
    Event,
    Fate,
    FinishReason,
    Round,
    RunFinished,
    RunStarted,
    SettingsChanged,
)
from engine.trace.reader import TraceReader
from tests.engine.check.runs import found, recorded, recorded_uniforms, replace, rounds_of
from tests.tiny_laws import VOCABULARY, fits, pending_bytes
from tests.traces import make_trace

if TYPE_CHECKING:
    from engine.loading import LoadedModel

ROOT = Path(__file__).parents[3]


def follows(events: list[Event]) -> Report:
    """Check a trace as a file would hold it, and assert that all of it follows."""
    report = check_trace([codec.decode(codec.encode(event)) for event in events])
    assert report.findings == ()
    assert report.rounds == len(rounds_of(events))
    return report


SETTINGS = [
    Settings(drafter="model:near", k=4, temperature=0.0),
    Settings(drafter="model:near", k=4, temperature=1.0),
    Settings(drafter="model:near", k=3, temperature=0.6, top_k=20, top_p=0.9),
    Settings(drafter="model:near", k=3, temperature=1.5, min_p=0.05),
    Settings(drafter="ngram", k=4, temperature=0.0),
    Settings(drafter="ngram", k=4, temperature=0.8),
    Settings(drafter="none", k=0, temperature=1.0),
    Settings(drafter="early:1", k=3, temperature=0.9),
    Settings(drafter="model:near", k=4, temperature=0.0, drafter_temperature=1.0),
    Settings(drafter="model:near", k=4, temperature=1.0, drafter_temperature=0.5),
    Settings(drafter="model:near", k=4, temperature=1.0, drafter_temperature=0.0),
    Settings(drafter="model:near", k=6, temperature=1.0, confidence=0.6, k_min=1),
    Settings(
        drafter="model:near",
        k=3,
        temperature=0.9,
        presence_penalty=0.7,
        frequency_penalty=0.4,
        logit_bias=((65, 2.0), (66, -1.5)),
    ),
    Settings(drafter="model:near", k=3, temperature=0.0, repetition_penalty=1.4),
    Settings(drafter="model:near", k=3, temperature=0.0, frequency_penalty=0.5),
]


@pytest.mark.parametrize("settings", SETTINGS, ids=repr)
@pytest.mark.parametrize("seed", [0, 2**40 + 7])
def test_real_runs_follow_from_their_own_numbers(
    session: Session, settings: Settings, seed: int
) -> None:
    events = recorded(session, settings, seed=seed, max_new_tokens=40, baseline=True)
    report = follows(events)
    rounds = rounds_of(events)
    tested = [t for one in rounds for t in one.drafted if t.fate in (Fate.ACCEPTED, Fate.REJECTED)]
    assert report.looked_at["verdict"] == len(tested)
    assert report.emitted == sum(one.emitted for one in rounds)
    assert report.finished
    if settings.temperature > 0:
        drafted = sum(len(one.drafted) for one in rounds)
        greedy = settings.drafter in ("ngram", "none") or settings.drafter_temperature == 0.0
        closings = sum(one.closing is not None for one in rounds)
        assert report.looked_at["draw"] == (0 if greedy else drafted) + closings
    else:
        assert report.looked_at["comparison"] > 0


def test_what_the_settings_bring_about_was_looked_at(session: Session) -> None:
    kinds, ends, fates = set(), set(), set()
    for settings in SETTINGS:
        for one in rounds_of(recorded(session, settings, seed=3, max_new_tokens=40)):
            kinds |= {one.closing.kind} if one.closing is not None else set()
            fates |= {token.fate for token in one.drafted}
            ends.add(one.draft_end)
    assert kinds == set(ClosingKind)
    assert fates >= {Fate.ACCEPTED, Fate.REJECTED, Fate.DISCARDED}
    assert ends >= {None, DraftEnd.LIMIT, DraftEnd.UNSURE, DraftEnd.NO_MATCH}


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_runs_that_a_stop_or_an_end_token_cuts_follow(
    tiny_target: LoadedModel, near_folder: Path, temperature: float
) -> None:
    plain = Session(tiny_target)
    settings = Settings(drafter=f"model:{near_folder}", k=5, temperature=temperature)
    whole = rounds_of(recorded(plain, settings, max_new_tokens=60))
    text = "".join(part for one in whole for part in one.texts)
    reasons, cuts = set(), 0
    stops = {text[at : at + 2] for at in range(4, 30, 3)} - {""}
    for stop in sorted(stops):
        events = recorded(plain, settings, max_new_tokens=60, stop_strings=(stop, "never"))
        follows(events)
        reasons.add(events[-1].reason if isinstance(events[-1], RunFinished) else None)
        cuts += any(t.fate is Fate.CUT for one in rounds_of(events) for t in one.drafted)
    ids = [token for one in whole for token in one.emitted_ids]
    for end in sorted(set(ids[2:20])):
        ending = Session(replace_ends(tiny_target, end))
        events = recorded(ending, settings, max_new_tokens=60, baseline=True)
        follows(events)
        finished = next(event for event in events if isinstance(event, RunFinished))
        reasons.add(finished.reason)
        cuts += any(t.fate is Fate.CUT for one in rounds_of(events) for t in one.drafted)
    assert reasons == {FinishReason.STOP_STRING, FinishReason.END_TOKEN}
    assert cuts > 0


def replace_ends(target: LoadedModel, end: int) -> LoadedModel:
    from dataclasses import replace as changed

    return changed(target, end_tokens=frozenset({end}))


def test_a_run_whose_settings_change_follows(session: Session) -> None:
    control = Control()
    first = Settings(drafter="model:near", k=4, temperature=1.0)
    request = RunRequest(prompt="hello hello", settings=first, max_new_tokens=60)
    others = iter(
        [
            replace(first, temperature=0.4, k=2),
            replace(first, drafter="ngram", temperature=0.0),
            replace(first, drafter="none"),
            first,
        ]
    )
    events: list[Event] = []
    for event in session.run(request, control):
        events.append(event)
        if isinstance(event, Round) and event.index % 4 == 2:
            control.change_settings(next(others, first))
    assert sum(isinstance(event, SettingsChanged) for event in events) == 4
    follows(events)


@pytest.mark.parametrize("cut", [1, 2, 7])
def test_a_run_that_breaks_off_follows_as_far_as_it_goes(session: Session, cut: int) -> None:
    settings = Settings(drafter="model:near", k=3, temperature=1.0)
    report = follows(recorded(session, settings, max_new_tokens=30)[:cut])
    assert not report.finished


def test_the_recorded_session_follows() -> None:
    paths = sorted((ROOT / "assets" / "demos").glob("*.jsonl.zst"))
    assert paths
    for path in paths:
        checker = RunsChecker()
        for event in TraceReader(path):
            checker.add(event)
        for report in checker.reports():
            assert report.findings == ()
            assert report.finished
            assert report.looked_at["verdict"] > 20


def _repaired(events: list[Event]) -> list[Event]:
    """Give a simulated run that ends at the context a target whose context ends there."""
    started, finished = events[0], next(e for e in events if isinstance(e, RunFinished))
    assert isinstance(started, RunStarted)
    if finished.reason is not FinishReason.CONTEXT:
        return events
    length = len(started.prompt_tokens) + started.max_new_tokens
    target = replace(started.target, context_length=length)
    return [replace(started, target=target, max_new_tokens=length + 9), *events[1:]]


@pytest.mark.parametrize("drafter", ["model:tiny-drafter", "ngram", "none"])
@pytest.mark.parametrize("temperature", [0.0, 0.7, 1.0])
@pytest.mark.parametrize("reason", list(FinishReason))
def test_simulated_runs_follow(
    drafter: str, temperature: float, reason: FinishReason, monkeypatch: pytest.MonkeyPatch
) -> None:
    # where a stop ends a simulated run, its half characters would be lost
    stops = reason in (FinishReason.END_TOKEN, FinishReason.STOP_STRING)
    vocabulary = [piece for piece in VOCABULARY if not stops or fits(b"", piece)]
    vocabulary = [piece for piece in vocabulary if not stops or not pending_bytes(piece)]
    for k in (0, 1, 4):
        events = make_trace(
            rounds=9,
            seed=k,
            k=k,
            temperature=temperature,
            vocabulary=vocabulary,
            reason=reason,
            drafter=drafter,
            top_n=99,
        )
        with monkeypatch.context() as patch:
            # a simulated run draws from another generator: take its own numbers for granted
            patch.setattr(rounds_module, "uniform", recorded_uniforms(events))
            follows(_repaired(events))


def test_numbers_of_another_generator_are_told_from_the_seeds() -> None:
    events = make_trace(rounds=20, temperature=1.0, top_n=0)
    drawn = [token.u for one in rounds_of(events) for token in one.drafted if token.u is not None]
    drawn += [one.closing.u for one in rounds_of(events) if one.closing is not None]
    kinds = [kind for kind, _, _ in found(check_trace(events))]
    assert kinds == [Kind.UNIFORM] * len(drawn)


def test_no_event_is_no_trace() -> None:
    assert check_trace([]).rounds == 0
    assert found(check_trace(make_trace()[1:2])) == [("order", None, None)]


def test_a_trace_is_checked_without_torch() -> None:
    code = (
        "import sys; from engine.check.trace import check_trace; "
        "print(sorted({'torch', 'scipy', 'numpy', 'PySide6'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.strip() == "[]", done.stderr
