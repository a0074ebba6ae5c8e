"""The strip as people use it: pointer, wheel and keys, notes on tokens, the copy of the text.

Knows the strip's area and how a token is described. Knows no session, no figure and no other
panel: a chosen token goes out as a signal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QGuiApplication, QHelpEvent, QKeySequence

from app.viewmodels.token_note import token_note
from app.views.hover_note import HoverNote
from app.views.strip_area import MARGIN, StripArea
from app.views.strip_keys import moved

if TYPE_CHECKING:
    from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QWheelEvent
    from PySide6.QtWidgets import QWidget

    from app.theme import Theme
    from app.viewmodels.document import Document
    from app.viewmodels.presentation import Presentation
    from app.viewmodels.refs import TokenRef

_HELP = (
    "Arrow keys move between tokens, Enter pins one in the court, Escape lets it go, "
    "Shift Enter shows all of a long one, Control C copies the text."
)
_PIN_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


class StripView(StripArea):
    """The text with every token's fate, for pointer and keys.

    Hovering or moving to a token tells its numbers; a click or Enter pins it. With Shift they show
    all of a long token, or its ends again.
    """

    token_pinned = Signal(object)  # TokenRef
    token_unpinned = Signal()
    plain_text_told = Signal(str)  # a text without tokens, as another program gave it; "" for none

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pressed: TokenRef | None = None
        self._run: str | None = None
        self._plain_text = ""
        self._note = HoverNote(self)
        self._note.set_theme(self._theme)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        self.setAccessibleName("Text")
        self.setAccessibleDescription(_HELP)

    def set_state(self, document: Document, presentation: Presentation) -> None:
        """Show this document from now on, as far as the presentation has come."""
        super().set_state(document, presentation)
        self._note.hide()

    def refresh(self) -> None:
        """Follow the presentation; a new run lets the pinned token of the old one go."""
        if self._document is not None and self._document.run != self._run:
            self._run = self._document.run
            self.hovered = self.focused = None
            self._note.hide()
            self.unpin()
        super().refresh()
        if self._model is not None and self._model.plain_text != self._plain_text:
            self._plain_text = self._model.plain_text
            self.plain_text_told.emit(self._plain_text)

    def set_theme(self, theme: Theme) -> None:
        """Paint with this theme."""
        super().set_theme(theme)
        self._note.set_theme(theme)

    @property
    def note(self) -> HoverNote:
        """The note beside a token."""
        return self._note

    def copy(self) -> None:
        """Put the emitted text, as far as it is shown, on the clipboard in logical order."""
        if self._model is not None:
            QGuiApplication.clipboard().setText(self._model.text())

    def describe(self, ref: TokenRef | None) -> str:
        """Return the lines of a note on a token."""
        chip = self.index_of(ref)
        if chip is None or self._model is None or self._document is None:
            return ""
        return token_note(self._document, self._model.chips[chip])

    def pin(self, ref: TokenRef) -> None:
        """Pin a token; the one that is pinned already is let go."""
        if ref == self.pinned:
            self.unpin()
            return
        self.set_pinned(ref)
        self.token_pinned.emit(ref)

    def unpin(self) -> None:
        """Let the pinned token go."""
        if self.pinned is not None:
            self.set_pinned(None)
            self.token_unpinned.emit()

    def toggle_whole(self, ref: TokenRef) -> bool:
        """Show all of a long token, or its ends again; return whether it is a long one."""
        if self._model is None or not self._model.toggle_whole(ref):
            return False
        self._note.hide()
        self.refresh()
        chip = self.index_of(ref)
        if chip is not None:
            self.show_chip(chip)
        return True

    def ref_at(self, at: QPoint) -> TokenRef | None:
        """Return the token at a point of the viewport."""
        y = at.y() - MARGIN + self.verticalScrollBar().value()
        chip = self._layout.chip_at(at.x() - MARGIN, y)
        return None if chip is None or self._model is None else self._model.chips[chip].ref

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move between tokens, pin, copy, change the size."""
        ref = self.focused
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.matches(QKeySequence.StandardKey.ZoomIn):
            self.zoom_in()
        elif event.matches(QKeySequence.StandardKey.ZoomOut):
            self.zoom_out()
        elif event.key() in _PIN_KEYS and ref is not None:
            self._choose(ref, event.modifiers())
        elif event.key() == Qt.Key.Key_Escape and (self.pinned or self._note.isVisible()):
            self._note.hide()
            self.unpin()
        elif not self._move_with(event.key()):
            super().keyPressEvent(event)

    def _move_with(self, key: int) -> bool:
        rows = int(self.viewport().height() // self._layout.row_height) - 1
        chip = moved(self._layout, self.index_of(self.focused), key, rows)
        if chip is None or self._model is None:
            return False
        self.focused = self._model.chips[chip].ref
        self.show_chip(chip)
        text = self.describe(self.focused)
        self._tell(chip, text)
        self.setAccessibleDescription(f"{text}\n{_HELP}")
        changed = QAccessibleEvent(self, QAccessible.Event.DescriptionChanged)
        QAccessible.updateAccessibility(changed)
        self.viewport().update()
        return True

    def _tell(self, chip: int, text: str) -> None:
        """Show a note beside a chip."""
        rect = self.chip_rect(chip)
        corner = self.viewport().mapToGlobal(rect.topLeft())
        self._note.show_beside(QRect(corner, rect.size()), text)

    def viewportEvent(self, event: QEvent) -> bool:
        """Tell a token's numbers where the pointer rests, and forget it when it leaves."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            chip = self.index_of(self.ref_at(event.pos()))
            if chip is None:
                self._note.hide()
            else:
                self._tell(chip, self.describe(self.ref_at(event.pos())))
            return True
        if event.type() == QEvent.Type.Leave:
            self._hover(None)
        return super().viewportEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Mark the token under the pointer; a note that stands moves along."""
        self._hover(self.ref_at(event.position().toPoint()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Move the keys' place to the token that is pressed."""
        self._pressed = self.ref_at(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and self._pressed is not None:
            self.focused = self._pressed
            self.viewport().update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Pin the token that was clicked."""
        ref = self.ref_at(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and ref is not None and ref == self._pressed:
            self._choose(ref, event.modifiers())
        self._pressed = None

    def _choose(self, ref: TokenRef, modifiers: Qt.KeyboardModifier) -> None:
        shift = modifiers & Qt.KeyboardModifier.ShiftModifier
        if not (shift and self.toggle_whole(ref)):
            self.pin(ref)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll; with Control, change the size."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            if event.angleDelta().y() > 0:
                self.zoom_in()
            elif event.angleDelta().y() < 0:
                self.zoom_out()
            event.accept()
            return
        self._note.hide()
        super().wheelEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show which token the keys are at."""
        super().focusInEvent(event)
        if self.focused is None:
            self.focused = self.pinned
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Take the ring away."""
        super().focusOutEvent(event)
        self._note.hide()
        self.viewport().update()

    def _hover(self, ref: TokenRef | None) -> None:
        if ref == self.hovered:
            return
        self.hovered = ref
        chip = self.index_of(ref)
        if self._note.isVisible():
            if chip is None:
                self._note.hide()
            else:
                self._tell(chip, self.describe(ref))
        inside = Qt.CursorShape.ArrowCursor if chip is None else Qt.CursorShape.PointingHandCursor
        self.viewport().setCursor(inside)
        self.viewport().update()
