"""Early exit in the window: through the real engine, on a target that may have fewer layers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from app.viewmodels.desk import settings_in_words
from app.viewmodels.drafters import drafter_choices
from app.viewmodels.more import More
from app.viewmodels.prompt import PromptState
from app.views.models import ModelsDialog
from engine.trace.events import FinishReason, SettingsChanged
from tests.app.waiting import wait_until
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path

    from app.desk import Desk

ASKED = PromptState(
    prompt="a b c a b c",
    raw=True,
    limit=24,
    drafter="early:1",
    k=3,
    temperature=0.8,
    baseline=False,
)


def finish(desk: Desk) -> None:
    wait_until(lambda: not desk.state.busy)


def test_a_run_drafts_with_the_targets_first_layers(desk: Desk, tiny_model: Path) -> None:
    more = More(min_p=0.01, repetition_penalty=1.2, logit_bias=((65, 3.0),), confidence=0.2)
    desk.run(str(tiny_model), replace(ASKED, more=more).request)
    finish(desk)
    started, finished = desk.document.started, desk.document.finished
    assert started is not None
    assert finished is not None
    assert finished.reason is FinishReason.LIMIT
    assert started.drafter is not None
    assert (started.drafter.kind, started.drafter.name) == ("early", "first 1 of 2 layers")
    assert started.settings == replace(ASKED, more=more).settings
    assert desk.state.target is not None
    assert desk.state.target.layers == 2
    assert desk.state.settings == settings_in_words(desk.document)
    assert "repetition penalty 1.2" in desk.state.settings


@pytest.mark.parametrize(
    ("asked", "used"),
    [
        *(("early:10", "early:5"), ("early:0", "early:5")),
        ("ngram+early:10", "ngram+early:5"),
    ],
)
def test_too_many_layers_become_five_sixths_of_them(
    desk: Desk, tmp_path: Path, asked: str, used: str
) -> None:
    target = write_tiny_folder(tmp_path / "six", layers=6, endless=True)
    replaced: list[str] = []
    failed: list[str] = []
    desk.drafter_replaced.connect(replaced.append)
    desk.failed.connect(failed.append)
    desk.run(str(target), replace(ASKED, drafter=asked).request)
    finish(desk)
    assert (replaced, failed) == ([used], [])
    assert desk.document.started is not None
    assert desk.document.started.settings.drafter == used


def test_a_target_of_one_layer_has_no_exit_and_looks_up(desk: Desk, tmp_path: Path) -> None:
    target = write_tiny_folder(tmp_path / "one", layers=1, endless=True)
    replaced: list[str] = []
    desk.drafter_replaced.connect(replaced.append)
    desk.run(str(target), ASKED.request)
    finish(desk)
    assert replaced == ["ngram"]


def test_further_settings_reach_a_run_under_way(desk: Desk, tiny_model: Path) -> None:
    desk.pause()
    desk.run(str(tiny_model), replace(ASKED, limit=100_000).request, first="round")
    wait_until(lambda: desk.state.has_rounds)
    changed = replace(ASKED, more=More(confidence=0.9, drafter_temperature=0.3)).settings
    desk.change_settings(changed)
    desk.play()
    wait_until(lambda: any(isinstance(e, SettingsChanged) for e in desk.document.events))
    desk.stop()
    finish(desk)
    (change,) = [e for e in desk.document.events if isinstance(e, SettingsChanged)]
    assert change.settings == changed


def test_the_dialog_offers_early_exit(qapp: object) -> None:
    dialog = ModelsDialog()
    dialog.offer([], drafter_choices((), (), early="early:8"), "target", "head")
    titles = [dialog.drafters.list.item(i).text() for i in range(dialog.drafters.list.count())]
    assert any(title.startswith("early exit, first 8 layers\n") for title in titles)
    dialog.offer([], drafter_choices((), (), early="early:3"), "target", "early:3")
    assert dialog.drafters.value == "early:3"
    chosen: list[tuple[str, str]] = []
    dialog.chosen.connect(lambda *pair: chosen.append(pair))
    dialog._use()
    assert chosen == [("target", "early:3")]
    dialog.close()
