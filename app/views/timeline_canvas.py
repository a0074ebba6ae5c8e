"""The painted part of the timeline: spans, scrubber, wheel, keys and hover.

Knows the timeline's viewmodel and a window of time. Moves no cursor itself: it asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.painting.readings import scaled
from app.painting.timeline import Work, paint_timeline
from app.painting.timeline_frame import ACCEPTED_ROW, ROWS, Geometry
from app.painting.timeline_markers import pennants_of
from app.viewmodels.markers import told
from app.viewmodels.time_window import TimeWindow

if TYPE_CHECKING:
    from PySide6.QtCore import QEvent
    from PySide6.QtGui import (
        QFocusEvent,
        QKeyEvent,
        QMouseEvent,
        QPaintEvent,
        QResizeEvent,
        QWheelEvent,
    )

    from app.theme import Theme
    from app.viewmodels.presentation import Cursor
    from app.viewmodels.timeline import TimelineModel
    from engine.trace.markers import Marker

_ZOOM = 1.25
_NEAR_PX = 5.0


class TimelineCanvas(QWidget):
    """A run along engine time, a row per phase.

    Attributes
    ----------
    window
        Which part of engine time is on screen.
    work
        What the last paint drew.
    """

    seek_requested = Signal(int)  # a round's index; -1 is the start
    marker_requested = Signal(object)  # Marker
    toggle_requested = Signal()
    window_moved = Signal()
    described = Signal(str)  # words for what the pointer is over, "" for nothing

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.window_of_time = TimeWindow()
        self.work = Work()
        self._model: TimelineModel | None = None
        self._theme: Theme | None = None
        self._round = -1  # of the cursor
        self._cursor_ns = 0.0
        self._hovered: tuple[int, str] | None = None
        self._dragging = False
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Timeline")
        self.setAccessibleDescription(
            "Left and Right go a round back or on, Home and End to the start or the end, Space "
            "plays or pauses, plus and minus zoom, 0 shows everything, Page Up and Down move."
        )

    def set_model(self, model: TimelineModel) -> None:
        """Show this run."""
        self._model = model
        self.window_of_time.restore()
        self.update()

    def set_theme(self, theme: Theme) -> None:
        """Paint with this theme from now on."""
        self._theme = theme
        self.update()

    def show_cursor(self, cursor: Cursor) -> None:
        """Take in new rounds and bring the cursor on screen if it moved."""
        if self._model is None:
            return
        self._fit_content()
        at = self._model.cursor_ns(cursor)
        if at != self._cursor_ns or cursor.round != self._round:
            self._cursor_ns, self._round = at, cursor.round
            if not self._dragging:
                self.window_of_time.follow(at)
        self.window_moved.emit()
        self.update()

    def minimumSizeHint(self) -> QSize:
        """So high that the rows' names stand clear of each other."""
        return QSize(160, Geometry.least_height(self.font()))

    def geometry_now(self) -> Geometry:
        """Return where the rows stand."""
        return Geometry.of(self.width(), self.height(), self.font())

    def _fit_content(self) -> None:
        if self._model is not None:
            pixels = self.geometry_now().plot_width
            self.window_of_time.set_content(self._model.duration_ns, len(self._model), pixels)

    def sizeHint(self) -> QSize:
        """Six rows and a ruler."""
        return QSize(420, 7 * (self.fontMetrics().height() + 6))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint what the window of time shows."""
        if self._theme is None or self._model is None:
            return
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self.work = paint_timeline(
                painter,
                self.geometry_now(),
                self._model,
                self.window_of_time,
                self._cursor_ns,
                self._theme,
                self.font(),
                self._hovered,
            )
            if self.hasFocus():
                painter.setPen(QPen(QColor(self._theme.focus), 2))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 4, 4)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay the same time over the new width."""
        super().resizeEvent(event)
        self._fit_content()
        self.window_of_time.follow(self._cursor_ns)
        self.window_moved.emit()

    def zoom(self, factor: float, x: float | None = None) -> None:
        """Zoom about a pixel of the rows, or about the cursor."""
        window = self.window_of_time
        if x is None:
            x = min(max(window.x_of(self._cursor_ns), 0.0), window.pixels)
        window.zoom(factor, x)
        self.window_moved.emit()
        self.update()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom about the pointer; with Shift, or sideways, move."""
        turned = event.angleDelta()
        sideways = turned.x() or (
            turned.y() if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 0
        )
        if sideways:
            self.window_of_time.pan(-sideways / 120 * 0.15)
            self.window_moved.emit()
            self.update()
        elif turned.y():
            x = event.position().x() - self.geometry_now().left
            self.zoom(_ZOOM ** (turned.y() / 120), x)
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Seek, zoom and move from the keyboard."""
        last = len(self._model) - 1 if self._model is not None else -1
        key = Qt.Key(event.key())
        seeks = {
            Qt.Key.Key_Left: max(self._round - 1, -1),
            Qt.Key.Key_Right: min(self._round + 1, last),
            Qt.Key.Key_Home: -1,
            Qt.Key.Key_End: last,
        }
        zooms = {Qt.Key.Key_Plus: _ZOOM, Qt.Key.Key_Equal: _ZOOM, Qt.Key.Key_Minus: 1 / _ZOOM}
        pans = {Qt.Key.Key_PageUp: -0.8, Qt.Key.Key_PageDown: 0.8}
        if key in seeks:
            self.seek_requested.emit(seeks[key])
        elif key in zooms:
            self.zoom(zooms[key])
        elif key in pans:
            self.window_of_time.pan(pans[key])
        elif key == Qt.Key.Key_0:
            self.window_of_time.fit()
        elif key == Qt.Key.Key_Space:
            self.toggle_requested.emit()
        else:
            super().keyPressEvent(event)
            return
        self.window_moved.emit()
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take the scrubber to the pointer."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._dragging = True
            self._seek(event.position())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Go back to the automatic scale."""
        self.window_of_time.restore()
        self._fit_content()
        self.window_of_time.follow(self._cursor_ns)
        self.window_moved.emit()
        self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag the scrubber, or tell what is under the pointer."""
        if self._dragging:
            self._seek(event.position())
        self._hover(event.position())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let the scrubber go."""
        self._dragging = False

    def leaveEvent(self, event: QEvent) -> None:
        """Forget the pointer."""
        super().leaveEvent(event)
        self._hovered = None
        self.described.emit("")
        self.update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the focus ring."""
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Take the focus ring away."""
        super().focusOutEvent(event)
        self.update()

    def _flag_at(self, x: float) -> Marker | None:
        """Return the marker whose pennant is at a pixel of the rows."""
        if self._model is None or not self._model.flags:
            return None
        geometry, metrics = self.geometry_now(), QFontMetricsF(scaled(self.font(), 0.85))
        boxes = pennants_of(geometry, self._model, self.window_of_time, metrics)
        shown = [
            flag
            for flag in self._model.flags
            if -1 <= self.window_of_time.x_of(flag.at_ns) <= geometry.plot_width + 1
        ]
        for (box, _, _), flag in zip(boxes, shown, strict=True):
            if box.left() - 1 <= x + geometry.left <= box.right() + 1:
                return flag.marker
        return None

    def _seek(self, at: QPointF) -> None:
        if self._model is None or not len(self._model):
            return
        flag = None
        if at.y() < self.geometry_now().ruler:
            flag = self._flag_at(at.x() - self.geometry_now().left)
        if flag is not None:
            self._dragging = False
            self.marker_requested.emit(flag)
            return
        ns = self.window_of_time.ns_of(at.x() - self.geometry_now().left)
        self.seek_requested.emit(-1 if ns < 0 else self._model.round_at(ns))

    def _hover(self, at: QPointF) -> None:
        model, window, geometry = self._model, self.window_of_time, self.geometry_now()
        x = at.x() - geometry.left
        found: tuple[int, str] | None = None
        words = ""
        if model is not None and len(model) and x >= 0:
            ns = window.ns_of(x)
            row = geometry.row_at(at.y())
            if row < 0:
                words = self._words_on_ruler(model, x)
            elif ns <= model.duration_ns:
                found = (model.round_at(ns), ROWS[row])
                words = model.describe(found[0], None if ROWS[row] == ACCEPTED_ROW else ROWS[row])
        if found != self._hovered:
            self._hovered = found
            self.update()
        self.described.emit(words)

    def _words_on_ruler(self, model: TimelineModel, x: float) -> str:
        window = self.window_of_time
        flag = self._flag_at(x)
        if flag is not None:
            return f"marker: {told(flag)}"
        for mark in model.marks:
            if abs(window.x_of(mark.at_ns) - x) <= _NEAR_PX:
                return f"settings changed: {mark.label}"
        if len(model.probe_ns):
            nearest = int(np.argmin(np.abs(model.probe_ns - window.ns_of(x))))
            if abs(window.x_of(float(model.probe_ns[nearest])) - x) <= _NEAR_PX:
                return model.describe_probe(nearest)
        return ""
