"""Fields as panels have them: small factories that name and explain what they make.

Knows widgets alone: not what a field is for.
"""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QComboBox,
    QDoubleSpinBox,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QSpinBox,
    QWidget,
)

from app.views.plain_tips import plain_tip


class FieldArea(QScrollArea):
    """Scrolls the fields up and down where the panel is too low; never less wide than they are."""

    def __init__(self, fields: QWidget) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._fields = fields
        self.setWidget(fields)
        fields.setAutoFillBackground(False)  # the panel's own ground shows through
        self.viewport().setAutoFillBackground(False)

    def minimumSizeHint(self) -> QSize:
        """As wide as the fields with a scroll bar; low enough for a low window."""
        bar = self.verticalScrollBar().sizeHint().width()
        return QSize(self._fields.minimumSizeHint().width() + bar, 80)


def describe(widget: QWidget, name: str, help_text: str) -> None:
    """Name a field for screen readers, and explain it to them and to the pointer."""
    widget.setAccessibleName(name)
    widget.setAccessibleDescription(help_text)
    widget.setToolTip(help_text)


def segment(title: str, help_text: str) -> QPushButton:
    """Make one of several buttons of which one is down."""
    button = QPushButton(title)
    button.setCheckable(True)
    describe(button, title, help_text)
    return button


def combo_box(name: str, help_text: str) -> QComboBox:
    """Make a list to choose from that asks for no more width than the panel has."""
    combo = QComboBox()
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    combo.setMinimumContentsLength(12)
    combo.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    describe(combo, name, help_text)
    return combo


def spin_box(name: str, help_text: str, most: int) -> QSpinBox:
    """Make a field for a whole number from 0."""
    spin = QSpinBox()
    spin.setRange(0, most)
    _shape(spin)
    describe(spin, name, help_text)
    return spin


def double_box(
    name: str, help_text: str, most: float, step: float, least: float = 0.0
) -> QDoubleSpinBox:
    """Make a field for a number with two decimals."""
    spin = QDoubleSpinBox()
    spin.setRange(least, most)
    spin.setSingleStep(step)
    spin.setDecimals(2)
    _shape(spin)
    describe(spin, name, help_text)
    return spin


def number_of(spin: QDoubleSpinBox, before: float) -> float:
    """Return what a field says; a number with more digits than shown stays until it is edited."""
    value = round(spin.value(), spin.decimals())
    return before if round(before, spin.decimals()) == value else value


def _shape(spin: QAbstractSpinBox) -> None:
    spin.setMinimumWidth(64)
    spin.lineEdit().setTextMargins(4, 0, 0, 0)


def field_label(title: str, buddy: QWidget) -> QLabel:
    """Make the label whose mnemonic leads to a field, and which explains it to the pointer too."""
    label = QLabel(title)
    label.setToolTip(buddy.accessibleDescription() or buddy.toolTip())
    label.setObjectName("field")
    label.setBuddy(buddy)
    label.setTextFormat(Qt.TextFormat.PlainText)
    return label


def select(combo: QComboBox, value: str, title: str) -> None:
    """Select an item by its value; a value that is not offered is added first."""
    index = combo.findData(value)
    if index < 0:
        combo.insertItem(0, title, value)
        index = 0
    combo.setCurrentIndex(index)
    combo.setToolTip(plain_tip(value))
