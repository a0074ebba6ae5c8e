"""Run after run on one session: nothing grows, nothing is left over, nothing of before is known."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import torch
from safetensors.torch import load_file, save_file

from engine import RunRequest, Session, Settings
from engine.control import Control
from engine.drafters.small import SmallModelDrafter
from engine.loading import load_model
from engine.trace.events import (
    Baseline,
    Comparison,
    DraftEnd,
    FinishReason,
    Round,
    RunFinished,
    SettingsChanged,
)
from tests.lawful import assert_lawful
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from engine.loading import LoadedModel
    from engine.trace.events import Event


@pytest.fixture(scope="module")
def long_target(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    """Load a tiny target with room for 4,096 tokens."""
    return load_model(long_folder(tmp_path_factory), device="cpu", plan="eager")


@pytest.fixture(scope="module")
def long_drafter(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Name a drafter near it, with the same room."""
    return f"model:{long_folder(tmp_path_factory, noise=0.12)}"


def long_folder(factory: pytest.TempPathFactory, **changes: float) -> Path:
    folder = write_tiny_folder(factory.mktemp("models") / "long", **changes)  # type: ignore[arg-type]  # noise alone
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 4096}))
    return folder


def request(drafter: str, prompt: str, count: int, **changes: object) -> RunRequest:
    settings = Settings(drafter=drafter, k=4, temperature=1.0)
    return RunRequest(prompt=prompt, settings=settings, max_new_tokens=count, **changes)  # type: ignore[arg-type]  # tests vary any field


def ids_of(events: list[Event]) -> list[int]:
    return [token for e in events if isinstance(e, Round) for token in e.emitted_ids]


def test_a_store_that_grew_within_a_round_serves_the_next_run(
    long_target: LoadedModel, long_drafter: str
) -> None:
    session = Session(long_target)
    small = long_target.transformer.new_pool().pages
    first = list(session.run(request(long_drafter, "x" * 985, 40, ignore_end_tokens=True)))
    assert session.pool.pages > small  # it grew between two rounds
    again = list(session.run(request(long_drafter, "x" * 985, 40, ignore_end_tokens=True)))
    assert_lawful(again)
    assert ids_of(again) == ids_of(first)


def test_stores_do_not_grow_from_run_to_run(long_target: LoadedModel, long_drafter: str) -> None:
    session = Session(long_target)
    sizes = set()
    for _ in range(4):
        list(session.run(request(long_drafter, "x" * 1500, 20, baseline=True)))
        drafter = session.drafter(long_drafter)
        assert drafter is not None
        assert drafter.cache is not None
        sizes.add((session.pool.pages, drafter.cache.pages))
        assert session.pool.pages_held == 0
    assert len(sizes) == 1


def test_a_drafter_knows_nothing_of_an_earlier_run(
    exact_target: LoadedModel, near_folder: Path
) -> None:
    for spec in ("ngram", f"model:{near_folder}"):
        session = Session(exact_target)
        first = list(session.run(request(spec, "hello hello", 40)))
        list(session.run(request(spec, "another prompt, hello hello", 30)))
        again = list(session.run(request(spec, "hello hello", 40)))
        drafted = [
            [[token.id for token in e.drafted] for e in events if isinstance(e, Round)]
            for events in (first, again)
        ]
        assert drafted[0] == drafted[1]


def test_a_drafter_taken_up_again_in_a_run_has_read_what_came_between(
    exact_target: LoadedModel, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = Settings(drafter=f"model:{tiny_folder}", k=3, temperature=0.0)
    other = Settings(drafter="ngram", k=3, temperature=0.0)
    control, session = Control(), Session(exact_target)
    begun: list[int] = []
    drafter = session.drafter(own.drafter)
    assert drafter is not None
    begin = drafter.begin
    monkeypatch.setattr(drafter, "begin", lambda: begun.append(1) or begin())
    events: list[Event] = []
    changes = {2: other, 6: own}
    run = RunRequest(prompt="hello", settings=own, max_new_tokens=48, ignore_end_tokens=True)
    for event in session.run(run, control):
        events.append(event)
        if isinstance(event, Round) and event.index in changes:
            control.change_settings(changes[event.index])
    assert_lawful(events)
    assert sum(isinstance(event, SettingsChanged) for event in events) == 2
    back = [e for e in events if isinstance(e, Round) and e.index > 6]
    assert back
    assert all(e.accepted == len(e.drafted) for e in back)  # the target's own weights
    assert len(begun) == 1  # what it had read it still knew ...
    for at in (0, 7):  # ... and the rest was read outside any round's time
        one = next(e for e in events if isinstance(e, Round) and e.index == at)
        assert one.drafter_cache is not None
        assert one.drafter_cache.before == one.position - 1


def test_text_drawn_with_changed_settings_is_not_called_a_fault(
    exact_target: LoadedModel,
) -> None:
    greedy = Settings(drafter="ngram", k=3, temperature=0.0)
    sampled = Settings(drafter="ngram", k=3, temperature=2.0)
    for settings in (sampled, Settings(drafter="none", k=0, temperature=0.0)):
        control = Control()
        events: list[Event] = []
        run = RunRequest(prompt="hello", settings=greedy, max_new_tokens=30, baseline=True)
        for event in Session(exact_target).run(run, control):
            events.append(event)
            if isinstance(event, Round) and event.index == 1:
                control.change_settings(settings)
        assert any(isinstance(event, Baseline) for event in events)
        compared = [event.identical for event in events if isinstance(event, Comparison)]
        assert compared == ([] if settings is sampled else [True])


def test_a_drafter_shorter_than_the_text_goes_silent_and_the_text_goes_on(
    long_target: LoadedModel, near_folder: Path
) -> None:
    # A42: 512 tokens of context under a target with 4,096
    session = Session(long_target)
    spec = f"model:{near_folder}"
    greedy = Settings(drafter=spec, k=4, temperature=0.0)
    run = RunRequest(prompt="x" * 460, settings=greedy, max_new_tokens=80, raw=True, baseline=True)
    events = list(session.run(run))
    assert_lawful(events)
    rounds = [event for event in events if isinstance(event, Round)]
    for one in rounds[:-1]:  # the last token drafted is not fed, so it may stand at 512
        assert len(one.drafted) == min(4, max(0, 513 - one.position))
        assert (one.draft_end is DraftEnd.CONTEXT) == (len(one.drafted) < 4)
    assert rounds[0].drafted
    assert not rounds[-1].drafted
    (verdict,) = [event for event in events if isinstance(event, Comparison)]
    difference = verdict.first_difference
    assert verdict.identical or (difference is not None and difference.kind == "tie")
    drafter = session.drafter(spec)
    assert drafter is not None
    assert "512 tokens" in drafter.info.notes[-1]
    events = list(session.run(request(spec, "x" * 2000, 5)))
    assert isinstance(events[-1], RunFinished)
    assert drafter.cache is not None
    assert drafter.cache.length == 0  # a prompt that it cannot use is not read


def test_padding_of_the_table_is_never_drawn(
    tmp_path_factory: pytest.TempPathFactory, near_folder: Path
) -> None:
    # A39: even where the table's padding would score highest
    folder = write_tiny_folder(tmp_path_factory.mktemp("models") / "padded")
    weights = load_file(folder / "model.safetensors")
    weights["model.embed_tokens.weight"][258:] *= 50.0
    save_file(weights, folder / "model.safetensors")
    target = load_model(folder, device="cpu", plan="eager")
    assert target.info.vocabulary == 258
    assert "14 rows" in target.info.notes[-1]
    for temperature in (0.0, 1.5):
        for drafter in ("none", f"model:{near_folder}", f"model:{folder}"):
            settings = Settings(drafter=drafter, k=3, temperature=temperature)
            run = RunRequest(prompt="hello", settings=settings, max_new_tokens=60, baseline=True)
            events = list(Session(target).run(run))
            assert_lawful(events)
            drafted = [t.id for e in events if isinstance(e, Round) for t in e.drafted]
            assert max([*ids_of(events), *drafted]) < 258


def test_ends_asked_for_end_a_run_and_ignored_ones_do_not(exact_target: LoadedModel) -> None:
    # A18
    settings = Settings(drafter="ngram", k=3, temperature=0.0)
    whole = RunRequest(prompt="hello hello", settings=settings, max_new_tokens=24)
    plain = ids_of(list(Session(exact_target).run(whole)))
    ending = replace(exact_target, end_tokens=frozenset({plain[6]}))
    events = list(Session(ending).run(whole))
    assert ids_of(events) == plain[: plain.index(plain[6]) + 1]
    ignoring = replace(whole, ignore_end_tokens=True)
    assert ids_of(list(Session(ending).run(ignoring))) == plain
    text = exact_target.tokenizer.decode(plain)
    stop = text[9]  # any character that is there
    events = list(Session(exact_target).run(replace(whole, stop_strings=(stop,))))
    assert isinstance(events[-1], RunFinished)
    assert events[-1].reason is FinishReason.STOP_STRING


@pytest.mark.parametrize("side", ["target", "drafter", "early"])
def test_rows_that_are_no_numbers_spoil_no_later_text(
    exact_target: LoadedModel, near_folder: Path, monkeypatch: pytest.MonkeyPatch, side: str
) -> None:
    session = Session(exact_target)
    specs = {"target": "ngram", "drafter": f"model:{near_folder}", "early": "early:1"}
    settings = Settings(drafter=specs[side], k=4, temperature=0.0)
    asked = RunRequest(prompt="hello", settings=settings, max_new_tokens=20, probes=False)
    sound = list(session.run(asked))
    drafter = session.drafter(specs[side])
    model = drafter._model if isinstance(drafter, SmallModelDrafter) else exact_target.transformer
    embed, passes = model.embed, [0]

    def broken(ids: Sequence[int]) -> torch.Tensor:
        passes[0] += 1
        return embed(ids) * (torch.nan if passes[0] > 3 else 1.0)

    with monkeypatch.context() as patch:
        patch.setattr(model, "embed", broken)
        last = list(session.run(asked))[-1]
    assert isinstance(last, RunFinished)
    assert last.reason is FinishReason.ERROR
    # the next text lies on the same pages, and its blocks reach over rows that it never wrote
    again = list(session.run(asked))
    assert_lawful(again)
    assert ids_of(again) == ids_of(sound)
    assert session.pool.pages_held == 0
