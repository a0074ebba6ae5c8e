"""Menus, toolbar, palette and shortcut page all come from one table, and it is sound."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest

from app.actions import ACTIONS, matching
from app.menus import MENUS, SEPARATOR, TOOLBAR, Entry
from app.painting.icons import icon
from app.viewmodels.desk import DeskState
from app.views.palette import CommandPalette
from app.views.shortcuts import ShortcutsPage

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

READY = DeskState(has_prompt=True)
RUNNING = DeskState(has_prompt=True, running=True, has_events=True, has_rounds=True, can_save=True)
SHOWN = replace(RUNNING, running=False, finished=True)


def leaves(entries: tuple[Entry, ...]) -> list[str]:
    found: list[str] = []
    for entry in entries:
        found += leaves(entry[1]) if isinstance(entry, tuple) else [entry]
    return found


def test_every_action_is_in_a_menu_once() -> None:
    listed = [name for _, entries in MENUS for name in leaves(entries)]
    counted = Counter(name for name in listed if name not in (SEPARATOR, "recent"))
    assert set(counted) == set(ACTIONS)
    assert set(counted.values()) == {1}


def test_toolbar_names_actions_or_its_own_widgets() -> None:
    own = {SEPARATOR, "speed", "speed_label", "stretch"}
    assert [name for name in TOOLBAR if name not in ACTIONS and name not in own] == []


def test_no_two_actions_share_a_shortcut(qapp: QApplication) -> None:
    keys = Counter(
        QKeySequence(action.shortcut).toString() for action in ACTIONS.values() if action.shortcut
    )
    assert [key for key, times in keys.items() if times > 1 or not key] == []


def test_every_action_says_what_it_does(qapp: QApplication) -> None:
    assert [action.id for action in ACTIONS.values() if not action.help.endswith(".")] == []
    for action in ACTIONS.values():
        if action.icon:
            assert not icon(action.icon, "#000000", "#808080").isNull()


@pytest.mark.parametrize(
    ("state", "enabled", "disabled"),
    [
        (DeskState(), ["session.open", "models.fetch"], ["run.start", "run.stop", "session.save"]),
        (READY, ["run.start", "run.step_round"], ["run.stop", "run.pause", "export.ask"]),
        (
            RUNNING,
            ["run.stop", "run.pause", "session.save", "export.ask"],
            ["run.start", "run.clear", "models.load", "run.continue"],
        ),
        (replace(RUNNING, stopping=True), [], ["run.stop", "run.start"]),
        (
            replace(RUNNING, playing=False),
            ["run.continue", "run.step_round", "run.stop"],
            ["run.pause"],
        ),
        (SHOWN, ["run.start", "run.continue", "run.clear"], ["run.stop", "run.pause"]),
        (replace(READY, loading=True), ["run.stop"], ["run.start", "models.choose"]),
        (replace(SHOWN, exporting=True), ["export.cancel", "export.ask"], []),
        (DeskState(fetching=True), ["models.cancel_fetch"], ["models.fetch"]),
    ],
)
def test_actions_are_enabled_when_they_make_sense(
    state: DeskState, enabled: list[str], disabled: list[str]
) -> None:
    assert [name for name in enabled if not ACTIONS[name].enabled(state)] == []
    assert [name for name in disabled if ACTIONS[name].enabled(state)] == []


def test_palette_finds_by_any_word() -> None:
    assert matching("stop")[0].id == "run.stop"
    assert "export.ask" in [action.id for action in matching("offline browser")]
    assert matching("no such thing at all") == []
    assert len(matching("")) == len(ACTIONS)


def test_palette_takes_the_chosen_action_with_return(qapp: QApplication) -> None:
    palette = CommandPalette()
    taken: list[str] = []
    palette.requested.connect(taken.append)
    palette.open_for(READY)
    QTest.keyClicks(palette.field, "restore arr")
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert taken == ["view.restore"]
    palette.open_for(READY)
    QTest.keyClicks(palette.field, "stop")
    QTest.keyClick(palette.field, Qt.Key.Key_Return)  # makes no sense now: nothing happens
    assert taken == ["view.restore"]
    assert palette.isVisible()
    palette.close()


def test_palette_moves_with_arrow_keys(qapp: QApplication) -> None:
    palette = CommandPalette()
    palette.open_for(READY)
    QTest.keyClick(palette.field, Qt.Key.Key_Down)
    QTest.keyClick(palette.field, Qt.Key.Key_Down)
    QTest.keyClick(palette.field, Qt.Key.Key_Up)
    assert palette.list.currentRow() == 1
    QTest.keyClick(palette.field, Qt.Key.Key_PageDown)
    assert palette.list.currentRow() == 9
    palette.close()


def test_page_lists_every_shortcut(qapp: QApplication) -> None:
    page = ShortcutsPage()
    assert page.table.rowCount() == sum(bool(action.shortcut) for action in ACTIONS.values())
    page.close()
