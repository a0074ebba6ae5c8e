"""Line plots over rounds or steps: themed, updated in place, never slower with more of them.

Knows pyqtgraph and a theme. Knows no document and no figure: arrays and words are given.
After pyqtgraph's own advice: numpy arrays, pens of width 1, clipping to the view, peak
downsampling, items that are updated and never made again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QColor, QMouseEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from app.painting.readings import scaled
from app.views.plot_header import Key, PlotHeader, theme_colour

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt
    from PySide6.QtCore import QObject
    from PySide6.QtGui import QFocusEvent, QKeyEvent, QResizeEvent

    from app.theme import Theme

_AIR = 0.015  # of the axis of values, beyond each of its ends
_FEWEST_ROUNDS = 8  # the axis is never shorter: a first round stays a point, not a plot


@dataclass(frozen=True)
class Line:
    """One curve: its word in the legend, its colour's role and whether it is dashed."""

    label: str
    role: str
    dashed: bool = False
    steps: bool = False


class Plot(QWidget):
    """Curves over the rounds 1, 2, 3, ... with a header that serves as legend and as readout.

    Parameters
    ----------
    title
        What is plotted, with its unit.
    lines
        The curves; `set_values` takes one array for each.
    unit
        What is counted from left to right.
    """

    def __init__(
        self,
        title: str,
        lines: Sequence[Line],
        parent: QWidget | None = None,
        *,
        unit: str = "round",
    ) -> None:
        super().__init__(parent)
        self.lines = tuple(lines)
        self._unit = unit
        self._at: npt.NDArray[np.float64] = np.arange(0.0)
        self._title = title
        self._theme: Theme | None = None
        self._inspected: int | None = None
        self._readout: Callable[[int], Sequence[str]] | None = None
        self._levels: list[tuple[Any, str]] = []
        self._bands: list[tuple[Any, str]] = []
        self._extra_keys: tuple[Key, ...] = ()
        self.header = PlotHeader(self)
        # pyqtgraph has no types; Any is confined to this file.
        self.canvas: Any = pg.PlotWidget(self, background=None, enableMenu=False)
        self.canvas.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.canvas.setFrameShape(self.canvas.Shape.NoFrame)
        self.canvas.viewport().setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.canvas.viewport().setMouseTracking(True)
        self.canvas.viewport().installEventFilter(self)
        self._set_up_view()
        self.curves: list[Any] = [self._curve(line) for line in self.lines]
        self._marker: Any = pg.InfiniteLine(angle=90, movable=False)
        self._marker.hide()
        self.canvas.addItem(self._marker, ignoreBounds=True)
        self._note = QLabel(self.canvas)
        self._note.setTextFormat(Qt.TextFormat.PlainText)
        self._note.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._note.setWordWrap(True)
        self._note.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._note.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.header)
        layout.addWidget(self.canvas, 1)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(title)
        self.setMinimumSize(120, 50)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._write_header()

    def _set_up_view(self) -> None:
        item = self.canvas.getPlotItem()
        item.hideButtons()
        item.setContentsMargins(0, 6, 6, 0)
        item.getViewBox().setDefaultPadding(0.0)
        item.getViewBox().disableAutoRange()
        item.setMouseEnabled(x=False, y=False)
        for side in ("left", "bottom"):
            axis = item.getAxis(side)
            axis.enableAutoSIPrefix(False)
            axis.setStyle(tickLength=0, tickTextOffset=5, maxTickLevel=0, tickAlpha=0)
        item.getAxis("bottom").setStyle(hideOverlappingLabels=True)
        # The right axis has the grid alone: an axis with a grid drops the labels at its ends.
        item.showAxis("right")
        grid = item.getAxis("right")
        grid.setStyle(showValues=False, tickLength=0, maxTickLevel=0)
        grid.setWidth(0)
        grid.setGrid(255)
        self._scale: Any = pg.AxisItem("right")
        self._scale.setStyle(tickLength=0, tickTextOffset=5, maxTickLevel=0, tickAlpha=0)
        self._scale.enableAutoSIPrefix(False)
        item.layout.addItem(self._scale, 2, 3)
        self._scale.linkToView(item.getViewBox())
        self._scale.hide()
        self.canvas.setXRange(0, _FEWEST_ROUNDS)
        self.canvas.setYRange(0, 1)

    def _curve(self, line: Line) -> Any:
        # A dynamic range limit would ask for the bounds of data that may be NaN throughout.
        curve = pg.PlotDataItem(
            connect="finite",
            antialias=True,
            dynamicRangeLimit=None,
            autoDownsampleFactor=1.0,  # one highest and one lowest point a pixel
            stepMode="right" if line.steps else None,
        )
        self.canvas.addItem(curve, ignoreBounds=True)
        # After adding: a plot gives a new item its own settings.
        curve.setClipToView(True)
        curve.setDownsampling(auto=True, method="peak")
        return curve

    def add_level(self, role: str) -> Any:
        """Add a dashed horizontal line, hidden until `show_level`."""
        level: Any = pg.InfiniteLine(angle=0, movable=False)
        level.hide()
        self.canvas.addItem(level, ignoreBounds=True)
        self._levels.append((level, role))
        return level

    def add_band(self, role: str) -> Any:
        """Add a band between two values, hidden until it is given a region."""
        band: Any = pg.LinearRegionItem(orientation="horizontal", movable=False)
        band.setZValue(-10)
        band.hide()
        self.canvas.addItem(band, ignoreBounds=True)
        self._bands.append((band, role))
        return band

    def set_right_scale(self, factor: float | None) -> None:
        """Write the axis of values once more at the right, times `factor`; None takes it away."""
        self._scale.setVisible(factor is not None)
        self._scale.setWidth(None if factor is not None else 0)
        if factor is not None and self._scale.scale != factor:
            self._scale.setScale(factor)

    def set_values(
        self,
        values: Sequence[npt.NDArray[np.float64]],
        *,
        top: float,
        note: str = "",
        at: npt.NDArray[np.float64] | None = None,
    ) -> None:
        """Show these arrays, each of shape [rounds]; NaN and infinite entries are gaps.

        Parameters
        ----------
        values
            One array a line.
        top
            Upper end of the axis of values; its lower end is 0.
        note
            Shown over the plot if no entry is finite.
        at
            Where the entries stand, rising, of the longest array's shape; None: 1, 2, 3, ...
        """
        rounds = max((len(one) for one in values), default=0)
        self._at = np.arange(1.0, rounds + 1) if at is None else at
        first, last = (1.0, rounds) if at is None or not rounds else (at[0], at[-1])
        self.canvas.setXRange(first, max(last, first + _FEWEST_ROUNDS - 1))
        upper = top if np.isfinite(top) and top > 0 else 1.0
        # A little air, so that a curve along an end keeps its whole width.
        self.canvas.setYRange(-_AIR * upper, (1 + _AIR) * upper)
        shown = False
        for curve, one in zip(self.curves, values, strict=True):
            finite = np.isfinite(one)
            shown = shown or bool(finite.any())
            clean = one if finite.all() else np.where(finite, one, np.nan)
            curve.setData(self._at[: len(one)], clean)
        self._note.setText("" if shown else note)
        self._note.setVisible(not shown and bool(note))
        # The view's matrix follows its range with the next paint, which then asks for one more.
        self.canvas.scene().prepareForPaint()
        if self._inspected is not None:
            self.inspect(min(self._inspected, rounds - 1))

    def set_readout(self, readout: Callable[[int], Sequence[str]]) -> None:
        """Use `readout(round index)` for the values of the round under the pointer, one a line."""
        self._readout = readout

    def set_extra_keys(self, keys: Sequence[Key]) -> None:
        """Add entries to the legend: for levels and bands."""
        if tuple(keys) != self._extra_keys:
            self._extra_keys = tuple(keys)
            self._write_header()

    def set_title(self, title: str) -> None:
        """Change what the header and screen readers say is plotted."""
        self._title = title
        self.setAccessibleName(title)
        self._write_header()

    def set_theme(self, theme: Theme) -> None:
        """Take all colours and the ticks' font from this theme and this widget."""
        self._theme = theme
        item = self.canvas.getPlotItem()
        self.canvas.setBackground(theme.base)
        item.getAxis("right").setTickPen(pg.mkPen(theme.grid, width=1))
        item.getAxis("right").setPen(pg.mkPen(None))
        for axis in (item.getAxis("left"), item.getAxis("bottom"), self._scale):
            axis.setPen(pg.mkPen(theme.outline if axis.orientation == "bottom" else None))
            axis.setTextPen(pg.mkPen(theme.muted))
            axis.setTickFont(scaled(self.font(), 0.82))
        for curve, line in zip(self.curves, self.lines, strict=True):
            style = Qt.PenStyle.DashLine if line.dashed else Qt.PenStyle.SolidLine
            # Cosmetic pens count the screen's own pixels: one logical pixel at every scale.
            width = max(1, round(self.devicePixelRatioF()))
            curve.setPen(pg.mkPen(theme_colour(theme, line.role), width=width, style=style))
        for span, role in self._bands:
            tint = QColor(theme_colour(theme, role))
            tint.setAlphaF(0.16)
            span.setBrush(pg.mkBrush(tint))
            for edge in span.lines:
                edge.setPen(pg.mkPen(None))
        for level, role in self._levels:
            colour = theme_colour(theme, role)
            level.setPen(pg.mkPen(colour, width=1.5, style=Qt.PenStyle.DashLine))
        self._marker.setPen(pg.mkPen(theme.focus, width=1))
        self._note.setStyleSheet(f"color: {theme.muted}; background: transparent;")
        self.header.set_theme(theme)
        self._write_header()

    def event(self, event: QEvent) -> bool:
        """Follow the window to a screen of another scale."""
        if event.type() == QEvent.Type.DevicePixelRatioChange and self._theme is not None:
            self.set_theme(self._theme)
        return super().event(event)

    def inspect(self, index: int | None) -> None:
        """Show the values of a round in the header, or the legend for None."""
        known = index is not None and 0 <= index < len(self._at) and self._readout is not None
        self._inspected = index if known else None
        self._marker.setVisible(known)
        if index is not None and known:
            self._marker.setValue(self._at[index])
        self._write_header()

    def _write_header(self) -> None:
        values: Sequence[str] = ()
        title = self._title
        if self._inspected is not None and self._readout is not None:
            values = self._readout(self._inspected)
            title = f"{self._unit} {self._at[self._inspected]:,.0f}"
        keys = []
        for i, line in enumerate(self.lines):
            label = f"{line.label} {values[i]}" if i < len(values) else line.label
            keys.append(Key(label, line.role, line.dashed))
        self.header.set_words(title, [*keys, *self._extra_keys])
        self.header.set_focused(self.hasFocus())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the pointer over the curves."""
        if event.type() == QEvent.Type.MouseMove and isinstance(event, QMouseEvent):
            box = self.canvas.getPlotItem().getViewBox()
            at = box.mapSceneToView(QPointF(self.canvas.mapToScene(event.position().toPoint())))
            self.inspect(self._nearest(at.x()))
        elif event.type() == QEvent.Type.Leave and not self.hasFocus():
            self.inspect(None)
        return super().eventFilter(watched, event)

    def _nearest(self, x: float) -> int | None:
        """Return which entry stands nearest to a place on the axis; None beyond its ends."""
        if not len(self._at):
            return None
        index = int(np.abs(self._at - x).argmin())
        apart = abs(float(self._at[index]) - x)
        half = float(np.diff(self._at).max()) / 2 if len(self._at) > 1 else 0.5
        return index if apart <= half else None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and Right read the curves round by round, Home and End jump, Escape leaves."""
        last = len(self._at) - 1
        at = last + 1 if self._inspected is None else self._inspected
        moves = {
            Qt.Key.Key_Left: at - 1,
            Qt.Key.Key_Right: at + 1,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
        }
        key = Qt.Key(event.key())
        if key == Qt.Key.Key_Escape and self._inspected is not None:
            self.inspect(None)
        elif key in moves and last >= 0:
            self.inspect(min(max(moves[key], 0), last))
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show where the keys are."""
        super().focusInEvent(event)
        self._write_header()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Go back to the legend."""
        super().focusOutEvent(event)
        self.inspect(None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the note over the plot."""
        super().resizeEvent(event)
        self._note.setGeometry(self.canvas.rect().adjusted(30, 0, -10, -14))
