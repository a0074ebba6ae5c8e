"""Which run of a session is on show, where it holds several. Widgets and input only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.views.fields import combo_box, field_label

if TYPE_CHECKING:
    from collections.abc import Sequence


class RunsBar(QWidget):
    """Hidden while a session has one run."""

    run_requested = Signal(int)  # from 0

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.box = combo_box("Run", "A session may hold several runs; one is on show.")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 6, 12, 4)
        layout.setSpacing(8)
        layout.addWidget(field_label("Run", self.box))
        layout.addWidget(self.box, 1)
        self.box.activated.connect(self.run_requested)
        self.hide()

    def offer(self, titles: Sequence[str], shown: int = 0) -> None:
        """Offer runs; fewer than two are nothing to choose from."""
        blocker = QSignalBlocker(self.box)
        self.box.clear()
        many = len(titles)
        self.box.addItems(
            [f"{number} of {many}: {title}" for number, title in enumerate(titles, 1)]
        )
        self.box.setCurrentIndex(min(shown, len(titles) - 1))
        blocker.unblock()
        self.setVisible(many > 1)
