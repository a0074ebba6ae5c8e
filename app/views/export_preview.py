"""The preview of an export: a painted moment with a scrubber, or the first lines of a file.

Widgets and input only: moments are painted here, lines are somebody else's to make.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QSlider,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.fonts import code_font
from app.throttle import Throttle
from app.viewmodels.readings import count
from app.views.export_picture import ExportPicture, Shown
from app.views.fields import describe

if TYPE_CHECKING:
    from app.theme import Theme
    from app.viewmodels.document import Document
    from app.viewmodels.export_plan import ExportPlan

_LAG_MS = 120  # a word is typed on before the picture follows
_CARD = -2  # the scrubber's place of the title card, before the prompt's


class ExportPreview(QWidget):
    """Shows what a plan would make of the session on show."""

    def __init__(self) -> None:
        super().__init__()
        self.picture = ExportPicture()
        self.lines = QPlainTextEdit()
        self.lines.setReadOnly(True)
        self.lines.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.lines.setFont(code_font())
        describe(self.lines, "Preview", "The first lines of the file, made by the command itself.")
        self.words = QLabel()
        self.words.setObjectName("hint")
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.words.setWordWrap(True)
        self.scrubber = QSlider(Qt.Orientation.Horizontal)
        describe(self.scrubber, "Moment of the preview", "Look at other moments of the session.")
        self.scrubber.setMinimumHeight(22)  # the handle, whole
        self.place = QLabel()
        self.place.setObjectName("hint")
        self._row = QWidget()
        row = QHBoxLayout(self._row)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(10)
        row.addWidget(self.scrubber, 1)
        row.addWidget(self.place)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.picture)
        self._stack.addWidget(self.lines)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(self._stack, 1)
        layout.addWidget(self._row)
        layout.addWidget(self.words)
        self._shown: Shown | None = None
        self._later = Throttle(self._paint, _LAG_MS, _LAG_MS)
        self.scrubber.valueChanged.connect(self._scrub)

    def show_plan(
        self, document: Document, plan: ExportPlan, title: str, note: str, *, afresh: bool
    ) -> None:
        """Show what a plan paints, soon; of one that writes lines, wait for them.

        Parameters
        ----------
        title, note
            The session's own.
        afresh
            Whether the scrubber goes to where this format is best looked at first.
        """
        painted = plan.look != "lines"
        self._stack.setCurrentWidget(self.picture if painted else self.lines)
        self._row.setVisible(plan.look in ("film", "page"))
        if not painted:
            self._later.stop()
            self._shown = None
            return
        if not document.rounds:
            self.stop()
            self._row.hide()
            self.say("There is no round to look at: only what another program counted.")
            return
        self._shown = Shown(document, plan, title=title, note=note)
        self._set_range(plan, document, afresh=afresh)
        self.say(_words(plan))
        self._later.ask()

    def _set_range(self, plan: ExportPlan, document: Document, *, afresh: bool) -> None:
        first, last = plan.moment("begin", document).round, plan.moment("end", document).round
        if "begin" not in plan.made.takes or not plan.begin:
            first = -1
        if plan.title_card and "title_card" in plan.made.takes:
            first = _CARD
        blocker = QSignalBlocker(self.scrubber)
        self.scrubber.setRange(first, max(first, last))
        if afresh:
            self.scrubber.setValue(max(0, (last + max(first, 0)) // 2))
        blocker.unblock()
        self.scrubber.setPageStep(max(1, (last - first) // 10))

    def show_lines(self, text: str, words: str) -> None:
        """Show the beginning of a file, and what is to be known of it."""
        self.lines.setPlainText(text)
        self.say(words)

    def say(self, words: str) -> None:
        """Say something below the preview."""
        self.words.setText(words)
        self.words.setVisible(bool(words))

    def set_theme(self, theme: Theme) -> None:
        """Frame the picture in this theme's colours."""
        self.picture.set_theme(theme)

    def stop(self) -> None:
        """Paint nothing more that was asked for, and let the session go: it may be another soon."""
        self._later.stop()
        self._shown = None
        self.picture.show_moment(None)

    def _scrub(self) -> None:
        self._later.ask()

    def _paint(self) -> None:
        if self._shown is None:
            return
        plan, document = self._shown.plan, self._shown.document
        if plan.look == "picture":
            if not plan.problem(document):
                self.picture.show_moment(self._shown)
            return
        at, rounds = self.scrubber.value(), len(document.rounds)
        self.picture.show_moment(replace(self._shown, round=max(at, -1), card=at == _CARD))
        early = "title card" if at == _CARD else "prompt"
        self.place.setText(early if at < 0 else f"round {count(at + 1)} of {count(rounds)}")


def _words(plan: ExportPlan) -> str:
    if plan.format == "html":
        return "The page plays these panels in a browser, laid out for its own window."
    if plan.format == "pptx":
        return "Slides tell this with text, shapes and charts that can be edited."
    return ""
