"""Runs through the real engine on a thread of its own: events, stops, faults, changed settings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QTimer

from app.desk import Desk
from app.jobs import available_cores
from app.messages import EventsArrived
from app.viewmodels.prompt import PromptState
from engine.trace.events import FinishReason, SettingsChanged
from engine.trace.journal import journals_folder, unfinished_journals
from engine.trace.reader import read_trace
from tests.app.waiting import wait_until
from tests.traces import make_trace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from PySide6.QtWidgets import QApplication

PROMPT = PromptState(
    prompt="a b c a b c a b c", raw=True, limit=24, drafter="ngram", k=4, temperature=0
)
LONG = replace(PROMPT, limit=100_000, baseline=False)


def rounds(desk: Desk) -> int:
    return len(desk.document.rounds)


def idle(desk: Desk) -> bool:
    return not desk.state.busy


def journal_of(desk: Desk) -> list[object]:
    assert desk.source is not None
    return list(read_trace(desk.source))


@pytest.fixture
def errors(desk: Desk) -> Iterator[list[str]]:
    found: list[str] = []
    desk.failed.connect(found.append)
    return found


def test_run_is_shown_journaled_and_ends(desk: Desk, errors: list[str], tiny_model: Path) -> None:
    desk.run(str(tiny_model), PROMPT.request)
    assert desk.state.running
    wait_until(lambda: idle(desk))
    assert errors == []
    assert desk.document.finished is not None
    assert desk.document.finished.reason is FinishReason.LIMIT
    assert desk.document.comparison is not None
    assert desk.document.comparison.identical
    assert journal_of(desk) == desk.document.events
    assert unfinished_journals() == []


@pytest.mark.parametrize("head", ["head", "ngram+head"])
def test_a_head_for_another_target_gives_way_to_ngram(
    desk: Desk, errors: list[str], tiny_model: Path, head: str
) -> None:
    used: list[str] = []
    desk.drafter_replaced.connect(used.append)
    desk.run(str(tiny_model), replace(PROMPT, drafter=head).request)
    wait_until(lambda: idle(desk))
    assert errors == []
    assert used == ["ngram"]
    assert desk.document.started is not None
    assert desk.document.started.settings.drafter == "ngram"
    assert {one.drafter for one in desk.document.rounds} == {"ngram"}


def test_one_core_is_left_to_the_window_and_the_trace_says_so(desk: Desk, tiny_model: Path) -> None:
    desk.run(str(tiny_model), PROMPT.request)
    wait_until(lambda: idle(desk))
    assert desk.document.started is not None
    cores = max(1, available_cores() - 1)
    assert f" {cores} thread{'s' * (cores > 1)}," in desk.document.started.machine


def test_tick_stops_when_nothing_moves(desk: Desk, tiny_model: Path) -> None:
    desk.run(str(tiny_model), PROMPT.request)
    wait_until(lambda: idle(desk) and desk.presentation.at_end)
    wait_until(lambda: not desk.ticking)
    desk.pause()
    wait_until(lambda: not desk.ticking)


def test_stop_ends_the_run_and_the_next_one_works(desk: Desk, tiny_model: Path) -> None:
    desk.run(str(tiny_model), LONG.request)
    wait_until(lambda: rounds(desk) >= 3)
    desk.stop()
    wait_until(lambda: idle(desk))
    assert desk.document.finished is not None
    assert desk.document.finished.reason is FinishReason.CANCELLED
    assert journal_of(desk) == desk.document.events
    desk.run(str(tiny_model), PROMPT.request)
    wait_until(lambda: idle(desk))
    assert desk.document.finished.reason is FinishReason.LIMIT


def test_stop_while_loading_is_no_error(desk: Desk, errors: list[str], tiny_model: Path) -> None:
    desk.run(str(tiny_model), LONG.request)
    desk.stop()
    wait_until(lambda: idle(desk))
    assert errors == []
    assert rounds(desk) <= 1


def test_rounds_say_that_something_else_computes_from_when_it_does(
    desk: Desk, tiny_model: Path
) -> None:
    desk.run(str(tiny_model), LONG.request, first="round")
    wait_until(lambda: rounds(desk) == 3)
    desk.disturbed = True
    desk.step_round()
    wait_until(lambda: rounds(desk) == 4)
    desk.stop()
    wait_until(lambda: idle(desk))
    assert [one.disturbed for one in desk.document.rounds] == [False, False, False, True]
    desk.run(str(tiny_model), PROMPT.request)
    wait_until(lambda: idle(desk))
    assert all(one.disturbed for one in desk.document.rounds)


def test_paused_engine_stays_one_round_ahead(desk: Desk, tiny_model: Path) -> None:
    desk.run(str(tiny_model), LONG.request, first="round")
    for shown in (1, 2, 3):
        if shown > 1:
            desk.step_round()
        wait_until(lambda shown=shown: desk.presentation.visible_rounds() == shown)  # type: ignore[misc]  # bound
        wait_until(lambda shown=shown: rounds(desk) == shown + 2)  # type: ignore[misc]  # bound
    assert rounds(desk) == 5
    assert desk.document.rounds[4].paced
    desk.stop()
    wait_until(lambda: idle(desk))


def test_changed_settings_take_effect_in_the_next_round(desk: Desk, tiny_model: Path) -> None:
    desk.run(str(tiny_model), LONG.request, first="round")
    wait_until(lambda: rounds(desk) == 3)
    changed = replace(LONG, k=2, temperature=0.7)
    desk.change_settings(changed.settings)
    desk.step_round()
    wait_until(lambda: rounds(desk) == 4)
    assert desk.document.rounds[2].k == 4
    assert desk.document.rounds[3].k == 2
    recorded = [event for event in desk.document.events if isinstance(event, SettingsChanged)]
    assert [(event.before_round, event.settings) for event in recorded] == [(3, changed.settings)]
    desk.stop()
    wait_until(lambda: idle(desk))


def test_changed_drafter_is_loaded_between_rounds(
    desk: Desk, tiny_model: Path, tiny_drafter: Path
) -> None:
    desk.run(str(tiny_model), LONG.request)
    wait_until(lambda: rounds(desk) >= 2)
    spec = f"model:{tiny_drafter}"
    desk.change_settings(replace(LONG, drafter=spec).settings)
    traced = f"model:{tiny_drafter.stem}"  # a trace names the model, not its folder
    wait_until(lambda: any(one.drafter == traced for one in desk.document.rounds))
    desk.stop()
    wait_until(lambda: idle(desk))


def test_drafter_that_is_not_there_leaves_the_run_as_it_was(
    desk: Desk, errors: list[str], tiny_model: Path, tmp_path: Path
) -> None:
    desk.run(str(tiny_model), LONG.request)
    wait_until(lambda: rounds(desk) >= 2)
    desk.change_settings(replace(LONG, drafter=f"model:{tmp_path / 'gone.gguf'}").settings)
    wait_until(lambda: bool(errors))
    before = rounds(desk)
    wait_until(lambda: rounds(desk) > before + 2)
    assert desk.state.running
    desk.stop()
    wait_until(lambda: idle(desk))


def test_engine_raising_mid_run_is_one_sentence_and_a_whole_trace(
    desk: Desk, errors: list[str], tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.decoder import Decoder

    through = Decoder.rounds

    def failing(self: Decoder, *args: object, **kwargs: object) -> Iterator[object]:
        for one in through(self, *args, **kwargs):  # type: ignore[arg-type]  # passed on
            if one.index == 7:
                raise RuntimeError("kernel\nfault")
            yield one

    monkeypatch.setattr(Decoder, "rounds", failing)
    desk.run(str(tiny_model), LONG.request)
    wait_until(lambda: idle(desk))
    assert len(errors) == 1
    assert "kernel fault" in errors[0]
    assert "\n" not in errors[0]
    assert rounds(desk) == 7
    assert desk.document.finished is not None
    assert desk.document.finished.reason is FinishReason.ERROR
    assert journal_of(desk) == desk.document.events
    monkeypatch.undo()
    desk.run(str(tiny_model), PROMPT.request)
    wait_until(lambda: idle(desk))
    assert desk.document.finished.reason is FinishReason.LIMIT


def test_missing_model_is_one_sentence(desk: Desk, errors: list[str], tmp_path: Path) -> None:
    desk.run(str(tmp_path / "nowhere.gguf"), PROMPT.request)
    wait_until(lambda: idle(desk))
    assert len(errors) == 1
    assert "nowhere.gguf" in errors[0]
    assert desk.document.events == []


def test_load_alone_keeps_the_models_for_the_run(desk: Desk, tiny_model: Path) -> None:
    desk.load(str(tiny_model), "ngram")
    assert desk.state.loading
    wait_until(lambda: idle(desk))
    assert desk.state.loaded.startswith("tiny · ")


def test_events_of_a_job_that_no_longer_matters_are_dropped(desk: Desk) -> None:
    stale = make_trace(rounds=4, seed=3)
    desk._lanes.inbox.put(EventsArrived(999, tuple(stale)))
    desk._wake()
    wait_until(lambda: not len(desk._lanes.inbox))
    assert desk.document.events == []


def test_session_is_saved_and_opened_again(desk: Desk, tiny_model: Path, tmp_path: Path) -> None:
    desk.run(str(tiny_model), PROMPT.request)
    wait_until(lambda: idle(desk))
    events = list(desk.document.events)
    saved: list[Path] = []
    desk.saved.connect(saved.append)
    desk.save(tmp_path / "kept.jsonl")
    wait_until(lambda: bool(saved))
    desk.clear()
    assert desk.document.events == []
    opened: list[Path] = []
    desk.opened.connect(opened.append)
    desk.open(tmp_path / "kept.jsonl")
    wait_until(lambda: bool(opened))
    assert desk.document.events == events


def test_opening_during_a_run_stops_it_and_shows_the_file(
    desk: Desk, tiny_model: Path, tmp_path: Path
) -> None:
    from engine.trace.codec import encode

    path = tmp_path / "other.jsonl"
    other = make_trace(rounds=6, seed=5)
    path.write_bytes(b"".join(encode(event) for event in other))
    desk.run(str(tiny_model), LONG.request)
    wait_until(lambda: rounds(desk) >= 2)
    desk.open(path)
    wait_until(lambda: idle(desk) and not desk.state.opening)
    assert desk.document.events == other
    assert len(list(journals_folder().glob("*.jsonl"))) == 1
    assert unfinished_journals() == []


def test_a_file_that_is_no_session_leaves_the_run_on_show_and_running(
    desk: Desk, errors: list[str], tiny_model: Path, tmp_path: Path
) -> None:
    path = tmp_path / "list.jsonl"
    path.write_text('{"hello": 1}\n')
    desk.run(str(tiny_model), LONG.request)
    wait_until(lambda: rounds(desk) >= 2)
    source, before = desk.source, rounds(desk)
    desk.open(path)
    wait_until(lambda: not desk.state.opening)
    assert len(errors) == 1
    assert "list.jsonl is not a Draftscope trace" in errors[0]
    assert desk.state.running
    assert desk.source == source
    wait_until(lambda: rounds(desk) > before)
    desk.stop()
    wait_until(lambda: idle(desk))


def test_play_at_the_end_begins_again(desk: Desk, tmp_path: Path) -> None:
    from engine.trace.codec import encode

    path = tmp_path / "one.jsonl"
    path.write_bytes(b"".join(encode(event) for event in make_trace(rounds=3)))
    desk.open(path)
    wait_until(lambda: desk.state.has_rounds and desk.presentation.at_end)
    desk.set_speed(1.0)
    desk.play()
    assert desk.presentation.visible_rounds() == 0
    assert desk.state.moving
    desk.pause()
    assert not desk.state.moving


@pytest.mark.parametrize("state", ["loading", "prefill", "running", "paused", "baseline"])
def test_stop_in_every_state(desk: Desk, tiny_model: Path, errors: list[str], state: str) -> None:
    prompt = "word " * 700 if state == "prefill" else LONG.prompt
    baseline = state == "baseline"
    asked = replace(LONG, prompt=prompt, baseline=baseline, limit=400 if baseline else LONG.limit)
    desk.run(str(tiny_model), asked.request, first="round" if state == "paused" else "")
    reached = {
        "loading": lambda: True,
        "prefill": lambda: desk.document.started is not None,
        "running": lambda: rounds(desk) >= 3,
        "paused": lambda: rounds(desk) == 3,
        "baseline": lambda: desk.document.finished is not None,
    }[state]
    wait_until(reached)
    desk.stop()
    assert desk.state.stopping or idle(desk)
    wait_until(lambda: idle(desk))
    assert errors == []
    assert not desk.state.stopping
    if desk.document.events:
        assert desk.document.finished is not None
        assert journal_of(desk) == desk.document.events
    desk.run(str(tiny_model), PROMPT.request)
    wait_until(lambda: idle(desk))
    assert desk.document.finished is not None
    assert desk.document.finished.reason is FinishReason.LIMIT


def test_window_thread_goes_on_while_the_engine_works(desk: Desk, tiny_model: Path) -> None:
    beats: list[int] = []
    timer = QTimer()
    timer.timeout.connect(lambda: beats.append(rounds(desk)))
    timer.start(5)
    desk.run(str(tiny_model), LONG.request)
    wait_until(lambda: len(set(beats)) >= 4)  # the picture is refreshed again and again
    timer.stop()
    assert not idle(desk)  # and the engine has not ended meanwhile
    desk.stop()
    wait_until(lambda: idle(desk))


@pytest.mark.parametrize("state", ["idle", "loading", "prefill", "running", "paused", "opening"])
def test_close_in_every_state(
    qapp: QApplication, tiny_model: Path, tmp_path: Path, state: str
) -> None:
    desk = Desk()
    if state == "opening":
        from engine.trace.codec import encode

        path = tmp_path / "long.jsonl"
        path.write_bytes(b"".join(encode(event) for event in make_trace(rounds=400)))
        desk.open(path)
    elif state != "idle":
        prompt = "word " * 700 if state == "prefill" else LONG.prompt
        request = replace(LONG, prompt=prompt).request
        desk.run(str(tiny_model), request, first="round" if state == "paused" else "")
    if state == "prefill":
        wait_until(lambda: desk.document.started is not None)
    elif state in ("running", "paused"):
        wait_until(lambda: rounds(desk) >= 2)
    assert desk.close()
    assert unfinished_journals() == []
    desk.run(str(tiny_model), PROMPT.request)  # asked of a closed desk: nothing begins
    assert not desk.ticking


def test_a_long_prompt_is_waited_for_in_words_until_it_is_read(
    desk: Desk, errors: list[str], tiny_model: Path
) -> None:
    said: list[str] = []
    desk.state_changed.connect(
        lambda: said.append(desk.state.engine_wait.what if desk.state.engine_wait else "")
    )
    desk.run(str(tiny_model), replace(PROMPT, prompt="x" * 400, limit=4, baseline=False).request)
    wait_until(lambda: idle(desk))
    assert errors == []
    assert "Reading the prompt" in said
    assert desk.state.engine_wait is None
