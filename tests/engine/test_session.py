"""A session's events: order, ends, changes between rounds, probes, the plain run."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from engine import DraftscopeError, RunRequest, Session, Settings, generate, plain
from engine.control import Control
from engine.plain import PROBE_SHARE, Prober
from engine.sampling import Sampling, draw, greedy_ids
from engine.sequence import Sequence
from engine.trace.codec import encode
from engine.trace.events import (
    Baseline,
    Comparison,
    FinishReason,
    PrefillFinished,
    Probe,
    Round,
    RunFinished,
    RunStarted,
    SettingsChanged,
)
from tests.lawful import assert_lawful

if TYPE_CHECKING:
    from pathlib import Path

    from engine.loading import LoadedModel
    from engine.trace.events import Event

GREEDY = Settings(drafter="ngram", k=3, temperature=0.0)


@pytest.fixture
def session(exact_target: LoadedModel) -> Session:
    return Session(exact_target)


def request(**changes: object) -> RunRequest:
    values: dict[str, object] = {"prompt": "hello hello", "settings": GREEDY, "max_new_tokens": 24}
    return RunRequest(**{**values, **changes})  # type: ignore[arg-type]  # tests vary any field


def rounds_of(events: list[Event]) -> list[Round]:
    return [event for event in events if isinstance(event, Round)]


def ids_of(events: list[Event]) -> list[int]:
    return [token for one in rounds_of(events) for token in one.emitted_ids]


def test_a_run_is_a_lawful_trace(session: Session) -> None:
    for temperature in (0.0, 1.0):
        settings = Settings(drafter="ngram", k=3, temperature=temperature)
        events = list(session.run(request(settings=settings, baseline=True)))
        assert_lawful(events)
        kinds = [type(event) for event in events if not isinstance(event, Round | Probe)]
        expected = [RunStarted, PrefillFinished, RunFinished, Baseline]
        assert kinds == expected + ([Comparison] if temperature == 0.0 else [])


def test_greedy_text_is_compared_with_the_plain_run(session: Session) -> None:
    events = list(session.run(request(baseline=True)))
    baseline, comparison = events[-2:]
    assert isinstance(baseline, Baseline)
    assert isinstance(comparison, Comparison)
    assert comparison.identical
    assert list(baseline.token_ids) == ids_of(events)
    assert len(baseline.round_ns) == len(baseline.token_ids)


def test_a_stop_ends_the_run_within_one_round(session: Session) -> None:
    control = Control()
    events: list[Event] = []
    for event in session.run(request(max_new_tokens=200), control):
        events.append(event)
        if isinstance(event, Round) and event.index == 3:
            control.stop()
    assert len(rounds_of(events)) == 4
    finished = events[-1]
    assert isinstance(finished, RunFinished)
    assert finished.reason is FinishReason.CANCELLED
    assert_lawful(events)
    assert session.pool.pages_held == 0


def test_a_stop_during_prefill_ends_the_run(session: Session) -> None:
    control = Control()
    control.stop()
    events = list(session.run(request(baseline=True), control))
    assert [type(event) for event in events] == [RunStarted, RunFinished]
    assert session.pool.pages_held == 0


def test_closing_the_iterator_gives_every_page_back(session: Session) -> None:
    events = session.run(request())
    for event in events:
        if isinstance(event, Round):
            break
    assert session.pool.pages_held > 0
    events.close()
    assert session.pool.pages_held == 0


def test_a_trace_does_not_say_where_a_drafters_file_lies(
    session: Session, near_folder: Path
) -> None:
    settings = Settings(drafter=f"model:{near_folder}", k=2, temperature=0.0)
    control = Control()
    events: list[Event] = []
    for event in session.run(request(settings=settings, max_new_tokens=8), control):
        events.append(event)
        if isinstance(event, Round) and event.index == 1:
            control.change_settings(Settings(drafter=settings.drafter, k=1, temperature=0.0))
    assert any(isinstance(event, SettingsChanged) for event in events)
    assert {one.drafter for one in rounds_of(events)} == {"model:near"}
    written = b"".join(map(encode, events))
    assert str(near_folder.parent).encode() not in written


def test_changed_settings_hold_from_the_next_round_on_and_are_recorded(session: Session) -> None:
    control = Control()
    changed = Settings(drafter="none", k=0, temperature=1.0)
    events: list[Event] = []
    for event in session.run(request(), control):
        events.append(event)
        if isinstance(event, Round) and event.index == 1:
            control.change_settings(changed)
    records = [event for event in events if isinstance(event, SettingsChanged)]
    assert [(record.before_round, record.settings) for record in records] == [(2, changed)]
    assert {one.drafter for one in rounds_of(events)[:2]} == {"ngram"}
    assert {one.drafter for one in rounds_of(events)[2:]} == {"none"}
    assert_lawful(events)


def test_a_changed_length_and_temperature_are_those_of_the_next_round(session: Session) -> None:
    control = Control()
    events: list[Event] = []
    for event in session.run(request(ignore_end_tokens=True), control):
        events.append(event)
        if isinstance(event, Round) and event.index == 1:
            control.change_settings(Settings(drafter="ngram", k=1, temperature=2.0))
    rounds = rounds_of(events)
    assert [one.k for one in rounds[:3]] == [3, 3, 1]
    assert all(len(one.drafted) <= 1 for one in rounds[2:])
    drawn = [one.closing.u is not None for one in rounds if one.closing]
    assert drawn == [False, False] + [True] * (len(rounds) - 2)


def test_a_stop_during_the_plain_run_leaves_it_incomplete_and_uncompared(session: Session) -> None:
    control = Control()
    events: list[Event] = []
    for event in session.run(request(baseline=True), control):
        events.append(event)
        if isinstance(event, RunFinished):
            control.stop()
    assert isinstance(events[-1], Baseline)
    assert not events[-1].complete
    with pytest.MonkeyPatch.context() as patch:
        asked = iter([False] * 3)  # the prompt, and two of its rounds
        stopped = property(lambda _: next(asked, True))
        control, events = Control(), []
        for event in session.run(request(baseline=True), control):
            events.append(event)
            if isinstance(event, RunFinished):
                patch.setattr(Control, "stopped", stopped)
    assert isinstance(events[-1], Baseline)
    assert not events[-1].complete
    assert len(events[-1].token_ids) == len(events[-1].round_ns) == 3
    assert session.pool.pages_held == 0


def test_a_fault_in_changed_settings_is_an_error_event(session: Session) -> None:
    control = Control()
    events: list[Event] = []
    for event in session.run(request(), control):
        events.append(event)
        if isinstance(event, Round) and event.index == 1:
            control.change_settings(Settings(drafter="ngram", k=-1, temperature=0.0))
    finished = events[-1]
    assert isinstance(finished, RunFinished)
    assert finished.reason is FinishReason.ERROR
    assert finished.message == "k is -1; choose a number from 0 to 32."


def test_an_engine_fault_leaves_a_last_event_and_is_raised(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[Event] = []

    def collect() -> None:
        for event in session.run(request()):
            events.append(event)
            if isinstance(event, Round) and event.index == 2:
                monkeypatch.setattr(Sequence, "commit", lambda *_: 1 // 0)

    with pytest.raises(ZeroDivisionError):
        collect()
    finished = events[-1]
    assert isinstance(finished, RunFinished)
    assert finished.reason is FinishReason.ERROR
    assert "ZeroDivisionError" in finished.message
    assert session.pool.pages_held == 0


def test_rounds_beside_a_training_say_so(session: Session) -> None:
    found: list[bool] = []
    control = Control(disturbed=lambda: len(found) in (2, 3))
    for event in session.run(request(), control):
        if isinstance(event, Round):
            found.append(event.disturbed)
    assert len(found) > 4
    assert [index for index, one in enumerate(found) if one] == [2, 3]


def test_paced_the_engine_stays_at_most_one_round_ahead_of_the_picture(session: Session) -> None:
    # invariant 7
    control = Control(paced=True)
    arrived: list[int] = []
    changed = threading.Condition()

    def pump() -> None:
        for event in session.run(request(), control):
            if isinstance(event, Round):
                assert event.paced
                with changed:
                    arrived.append(event.index)
                    changed.notify_all()

    thread = threading.Thread(target=pump)
    thread.start()
    try:
        for presented in range(4):
            with changed:
                assert changed.wait_for(lambda: len(arrived) >= presented + 2, timeout=60)  # noqa: B023  # called at once
                changed.wait(timeout=0.05)  # room for a round that must not come
                assert len(arrived) == presented + 2
            control.presented(presented)
    finally:
        control.stop()
        thread.join(timeout=60)
    assert not thread.is_alive()
    assert len(arrived) <= 7


def test_probes_stay_within_their_share_and_draw_nothing(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(drafter="ngram", k=3, temperature=1.0)
    without = list(session.run(request(settings=settings, probes=False, max_new_tokens=120)))
    with monkeypatch.context() as patch:
        patch.setattr("engine.plain.PROBE_SHARE", 1.0)  # due whatever the machine's times are
        events = list(session.run(request(settings=settings, max_new_tokens=120)))
    probes = [event for event in events if isinstance(event, Probe)]
    assert len(probes) > 5
    assert not any(isinstance(event, Probe) for event in without)
    assert ids_of(events) == ids_of(without)
    # by the prober's own bookkeeping: with every probe as long as a pass, one in twenty rounds
    prober = Prober()
    due = []
    for _ in range(200):
        prober.round_took(100, 100)
        due.append(prober.due())
    assert due.index(True) + 1 == pytest.approx(1 / PROBE_SHARE - 1, abs=1)
    slow_start = Prober()
    slow_start.round_took(10_000, 10_000)
    for _ in range(20):
        slow_start.round_took(100, 100)
    assert slow_start.due()  # one slow pass is not what a probe is expected to take


def test_a_probe_is_a_whole_plain_round_without_its_commit(
    exact_target: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = exact_target.transformer
    sequence = Sequence(model, model.new_pool(), [104, 101, 108, 108, 111])
    sequence.prefill()
    work: list[str] = []
    forward, logits = model.forward, model.logits
    monkeypatch.setattr(model, "forward", lambda *a: work.append("pass") or forward(*a))
    monkeypatch.setattr(model, "logits", lambda *a: work.append("logits") or logits(*a))
    monkeypatch.setattr(plain, "draw", lambda *a: work.append("draw") or draw(*a))
    monkeypatch.setattr(plain, "greedy_ids", lambda *a: work.append("argmax") or greedy_ids(*a))
    for temperature, last in ((1.0, "draw"), (0.0, "argmax")):
        work.clear()
        Prober().probe(sequence, Sampling(temperature), "run", 3)
        assert work == ["pass", "logits", last]
        assert sequence.cache.length == len(sequence.tokens) - 1


def test_the_same_seed_gives_the_same_run_and_another_seed_another(session: Session) -> None:
    settings = Settings(drafter="ngram", k=3, temperature=1.0)
    first = ids_of(list(session.run(request(settings=settings, seed=2**32 + 5))))
    list(session.run(request(settings=settings, seed=1)))
    again = ids_of(list(session.run(request(settings=settings, seed=2**32 + 5))))
    other = ids_of(list(session.run(request(settings=settings, seed=6))))
    assert first == again != other


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"prompt": "  "}, "empty"),
        ({"max_new_tokens": 0}, "at least 1"),
        ({"settings": Settings(drafter="ngram", k=99, temperature=0.0)}, "k is 99"),
        ({"settings": Settings(drafter="ngram", k=1, temperature=-1.0)}, "temperature"),
        ({"prompt": "x" * 600}, "600|shorten"),
    ],
)
def test_a_request_that_cannot_be_run_is_refused_before_the_first_event(
    session: Session, changes: dict[str, object], word: str
) -> None:
    with pytest.raises(DraftscopeError, match=word):
        session.run(request(**changes))


def test_an_unknown_drafter_is_refused_in_a_sentence(session: Session) -> None:
    settings = Settings(drafter="oracle", k=1, temperature=0.0)
    with pytest.raises(DraftscopeError, match="no drafter called 'oracle'"):
        list(session.run(request(settings=settings)))


def test_the_context_length_ends_a_run_by_name(session: Session) -> None:
    prompt = "x" * (512 - 30)
    events = list(session.run(request(prompt=prompt, raw=True, max_new_tokens=100)))
    finished = events[-1]
    assert isinstance(finished, RunFinished)
    assert finished.reason is FinishReason.CONTEXT
    assert len(ids_of(events)) == 30


def test_generate_yields_the_rounds_of_a_run(exact_target: LoadedModel, session: Session) -> None:
    rounds = list(generate(exact_target, "ngram", "hello hello", k=3, max_new_tokens=24))
    expected = rounds_of(list(session.run(request())))
    assert [one.emitted_ids for one in rounds] == [one.emitted_ids for one in expected]
