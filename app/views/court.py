"""The court as a widget: the case of the pinned token, or of the latest judged one.

Knows a court's model and its painting. Knows no session and no other panel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPen
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.fonts import code_font, ui_font
from app.painting.court import Region, court_fonts, least_height, paint_court
from app.theme import LIGHT
from app.viewmodels.court import EMPTY_COURT, CourtModel
from app.views.hover_note import HoverNote

if TYPE_CHECKING:
    from PySide6.QtGui import QFocusEvent, QPaintEvent, QResizeEvent

    from app.theme import Theme
    from app.viewmodels.court import Case
    from app.viewmodels.document import Document
    from app.viewmodels.presentation import Presentation
    from app.viewmodels.refs import TokenRef

_MARGIN = 14
_LEAST_WIDTH = 260


class CourtCanvas(QWidget):
    """Where a case is painted; parts of it explain themselves on hover."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.case: Case | None = None
        self._empty = EMPTY_COURT
        self.paints = 0
        self._theme = LIGHT
        self._fonts = court_fonts(ui_font(), code_font())
        self._regions: list[Region] = []
        self._note = HoverNote(self)
        self._note.set_theme(self._theme)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName("Court")
        self.setAccessibleDescription(EMPTY_COURT)

    def set_theme(self, theme: Theme) -> None:
        """Paint with this theme."""
        self._theme = theme
        self._note.set_theme(theme)
        self.update()

    def set_case(self, case: Case | None, empty: str = EMPTY_COURT) -> None:
        """Show a case, or why there is none; the same one is not painted again."""
        if case is self.case and empty == self._empty:
            return
        self.case, self._empty = case, empty
        self._note.hide()
        self.setAccessibleDescription(empty if case is None else case.in_words())
        self._fit()
        self.update()

    def sizeHint(self) -> QSize:
        """Room for eight rows of bars."""
        return QSize(400, 460)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Ask for the height that the case needs at the new width."""
        self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the case, and the focus ring."""
        self.paints += 1
        with QPainter(self) as painter:
            painter.fillRect(event.rect(), QColor(self._theme.base))
            self._regions = paint_court(
                painter, self._inner(), self.case, self._theme, self._fonts, empty=self._empty
            )
            if self.hasFocus():
                painter.setPen(QPen(QColor(self._theme.focus), 2))
                painter.drawRoundedRect(QRectF(self.rect()).adjusted(2, 2, -2, -2), 5, 5)

    def event(self, event: QEvent) -> bool:
        """Explain what lies under the pointer."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            for region in self._regions:
                if region.box.contains(event.pos().toPointF()):
                    box = region.box.toAlignedRect()
                    corner = self.mapToGlobal(box.topLeft())
                    self._note.show_beside(QRect(corner, box.size()), region.text)
                    return True
            self._note.hide()
            return True
        if event.type() == QEvent.Type.Leave:
            self._note.hide()
        return super().event(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the focus ring."""
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Take the focus ring away."""
        super().focusOutEvent(event)
        self.update()

    def _inner(self) -> QRectF:
        return QRectF(self.rect()).adjusted(_MARGIN, _MARGIN, -_MARGIN, -_MARGIN)

    def _fit(self) -> None:
        """Never less high than the case needs: then the area around it scrolls."""
        if self.case is None:
            self.setMinimumHeight(0)
            return
        needed = least_height(self.case, self._inner().width(), self._theme, self._fonts)
        self.setMinimumHeight(round(needed + 0.5) + 2 * _MARGIN)


class CourtView(QWidget):
    """The court with its two switches: the raw law, and following the latest verdict."""

    unpinned = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model: CourtModel | None = None
        self.canvas = CourtCanvas()
        self.raw_switch = QCheckBox("Raw law")
        self.raw_switch.setToolTip(
            "Show the target's law at temperature 1, nothing moved and nothing cut"
        )
        self.raw_switch.toggled.connect(self.set_show_raw)
        self.follow_button = QPushButton("Follow verdicts")
        self.follow_button.setToolTip("Let the pinned token go and show the latest verdict again")
        self.follow_button.setProperty("quiet", True)
        self.follow_button.clicked.connect(self._follow)
        self.follow_button.setEnabled(False)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(self.canvas)
        below = QHBoxLayout()
        below.setContentsMargins(_MARGIN, 0, _MARGIN, 8)
        below.addWidget(self.raw_switch)
        below.addStretch(1)
        below.addWidget(self.follow_button)
        self.setMinimumWidth(_LEAST_WIDTH)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(area, 1)
        column.addLayout(below)

    def set_state(self, document: Document, presentation: Presentation) -> None:
        """Show cases of this document, as far as the presentation has come."""
        self._model = CourtModel(document, presentation)
        self._model.show_raw = self.raw_switch.isChecked()
        self.refresh()

    def set_theme(self, theme: Theme) -> None:
        """Paint with this theme."""
        self.canvas.set_theme(theme)

    def refresh(self) -> None:
        """Show the case of this moment."""
        if self._model is not None:
            self.canvas.set_case(self._model.case(), self._model.empty)
            self.follow_button.setEnabled(self._model.pinned is not None)

    def pin(self, ref: TokenRef | None) -> None:
        """Bring a token before the court and keep it there; None follows the latest verdict."""
        if self._model is not None:
            self._model.pinned = ref
            self.refresh()

    @property
    def case(self) -> Case | None:
        """What is shown."""
        return self.canvas.case

    def set_show_raw(self, show: bool) -> None:
        """Show the target's raw law in the bars instead of the processed one."""
        self.raw_switch.setChecked(show)
        if self._model is not None:
            self._model.show_raw = show
            self.refresh()

    def _follow(self) -> None:
        self.pin(None)
        self.unpinned.emit()
