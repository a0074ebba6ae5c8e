"""Keys that a desktop or another part of the window would take for itself."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QAbstractButton, QLabel

from app.actions import ACTIONS
from app.compose import Options, Program

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication


def test_no_shortcut_is_one_that_linux_desktops_change_the_workspace_with() -> None:
    taken = {f"Ctrl+Alt+{key}" for key in ("Left", "Right", "Up", "Down")}
    assert not taken & {action.shortcut for action in ACTIONS.values()}


def test_a_letter_with_alt_means_one_thing_in_the_window(qapp: QApplication) -> None:
    program = Program(qapp, Options())
    window = program.window
    titles = [action.text() for action in window.menuBar().actions()]
    for kind in (QLabel, QAbstractButton):
        titles += [one.text() for one in window.findChildren(kind)]
    letters = Counter(QKeySequence.mnemonic(title).toString() for title in titles if "&" in title)
    assert letters.total() >= len(window.menuBar().actions())
    assert {letter for letter, times in letters.items() if times > 1} == set()
    assert program.close()
    window.deleteLater()
