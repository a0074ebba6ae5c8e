"""Recorded sessions as cards: what a window shows in place of a text while there is none.

Widgets and input only: it says which one was chosen.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.theme import LIGHT
from app.views.session_card import LEAST_WIDTH, SessionCard

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtGui import QFocusEvent, QKeyEvent, QResizeEvent

    from app.theme import Theme
    from app.viewmodels.gallery import SessionSummary

HEADING = "Recorded sessions: they need no model"
_SPACING, _MARGIN = 10, 16


class GalleryView(QWidget):
    """A grid of cards below a line of words."""

    chosen = Signal(object)  # a path
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme: Theme = LIGHT
        self._columns = 0
        self.cards: dict[Path, SessionCard] = {}
        self.words = QLabel()
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.words.setWordWrap(True)
        self.heading = QLabel(HEADING)
        self.heading.setObjectName("heading")
        self.back = QPushButton("Back to the text")
        self.back.clicked.connect(self.left)
        self._inside = QWidget()
        self._grid = QGridLayout()
        self._grid.setSpacing(_SPACING)
        self._grid.setContentsMargins(0, 0, 0, 0)
        inside = QVBoxLayout(self._inside)
        inside.setContentsMargins(_MARGIN, _MARGIN, _MARGIN, _MARGIN)
        inside.setSpacing(12)
        top = QHBoxLayout()
        top.addWidget(self.heading, 1)
        top.addWidget(self.back)
        inside.addWidget(self.words)
        inside.addLayout(top)
        inside.addLayout(self._grid)
        inside.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(self._inside)
        self._inside.setAutoFillBackground(False)  # the centre's own ground shows through
        area.viewport().setAutoFillBackground(False)
        self._area = area
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(area)
        self.setAccessibleName("Recorded sessions")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def add(self, path: Path, summary: SessionSummary) -> None:
        """Offer a session, below those that are there."""
        if path in self.cards:
            return
        card = SessionCard(summary)
        card.set_theme(self._theme)
        card.clicked.connect(partial(self.chosen.emit, path))
        card.step_requested.connect(partial(self._step, card))
        self.cards[path] = card
        self._columns = 0
        self._lay_out()
        if self.hasFocus():
            self.take_focus()

    def say(self, words: str, *, back: bool) -> None:
        """Say why the gallery is here, and whether there is a text to go back to."""
        self.words.setText(words)
        self.words.setVisible(bool(words))
        self.back.setVisible(back)

    def take_focus(self) -> None:
        """Let the first card have the keyboard, as soon as there is one."""
        first = next(iter(self.cards.values()), self)
        if not first.hasFocus():
            first.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Pass the keyboard on to a card."""
        super().focusInEvent(event)
        self.take_focus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go back to the text with Escape, if there is one."""
        if event.key() == Qt.Key.Key_Escape and not self.back.isHidden():
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def set_theme(self, theme: Theme) -> None:
        """Dress the cards, and those to come."""
        self._theme = theme
        for card in self.cards.values():
            card.set_theme(theme)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Take as many columns as have room."""
        super().resizeEvent(event)
        self._lay_out()

    def _lay_out(self) -> None:
        room = self.width() - 2 * _MARGIN + _SPACING
        columns = max(1, room // (LEAST_WIDTH + _SPACING))
        if columns == self._columns:
            return
        for column in range(max(columns, self._columns)):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)
        self._columns = columns
        for place, card in enumerate(self.cards.values()):
            self._grid.addWidget(card, *divmod(place, columns))

    def _step(self, card: SessionCard, columns: int, rows: int) -> None:
        cards = list(self.cards.values())
        to = cards.index(card) + columns + rows * max(1, self._columns)
        if 0 <= to < len(cards):
            cards[to].setFocus()
            self._area.ensureWidgetVisible(cards[to])
