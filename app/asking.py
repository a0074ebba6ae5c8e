"""Where a file is to go, asked so that none is replaced unasked. Knows dialogs, no format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QMessageBox

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget


def ask_where(
    parent: QWidget, title: str, proposed: Path, kinds: str, named: Callable[[Path], Path]
) -> Path | None:
    """Ask for a file to write; None if nobody wants one.

    Parameters
    ----------
    named
        Completes a name, by the format's end perhaps; the system's dialog has not asked about
        replacing the file of that name.
    """
    while True:
        chosen, _ = QFileDialog.getSaveFileName(parent, title, str(proposed), kinds)
        if not chosen:
            return None
        path = named(Path(chosen))
        if path == Path(chosen) or not path.exists() or _may_replace(parent, title, path):
            return path
        proposed = path


def _may_replace(parent: QWidget, title: str, path: Path) -> bool:
    buttons = QMessageBox.StandardButton
    box = QMessageBox(parent)
    box.setWindowTitle(title)
    box.setIcon(QMessageBox.Icon.Warning)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(f"{path.name} already exists.\nDo you want to replace it?")
    box.setStandardButtons(buttons.Yes | buttons.No)
    box.setDefaultButton(buttons.No)
    return box.exec() == buttons.Yes
