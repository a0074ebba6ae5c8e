"""Banners: one plain sentence each, dismissable, above the text; the window stays usable.

Text is always plain: what a user typed or a file contained can never become markup.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QApplication,
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.painting.icons import icon
from app.theme import LIGHT, Theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QResizeEvent

MOST_BANNERS = 4
_NARROW, _NARROWER, _LEAST = 480, 300, 190  # pixels


class Banner(QFrame):
    """One sentence, with buttons if there is a choice.

    Parameters
    ----------
    key
        A banner of the same key replaces this one.
    kind
        "error", "warning" or "notice".
    buttons
        (id, title) of each choice.
    """

    chosen = Signal(str, str)  # key, button id
    dismissed = Signal(str)  # key

    def __init__(
        self, key: str, kind: str, text: str, buttons: Sequence[tuple[str, str]] = ()
    ) -> None:
        super().__init__()
        self.key = key
        self.kind = kind
        self.setObjectName("banner")
        self.setProperty("kind", kind)
        self._mark = QLabel()
        self.label = QLabel(text)
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self.label.setWordWrap(True)
        self.label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.progress = QProgressBar()
        self.progress.setMaximumWidth(160)
        self.progress.setTextVisible(False)
        self.progress.hide()
        told, choices = QHBoxLayout(), QBoxLayout(QBoxLayout.Direction.LeftToRight)
        told.setSpacing(10)
        choices.setSpacing(6)
        self._choices = choices
        told.addWidget(self._mark)
        told.addWidget(self.label, 1)
        told.addWidget(self.progress)
        self._body = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._body.setSpacing(10)
        self._body.addLayout(told, 1)
        self._body.addLayout(choices)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 8, 8, 8)
        layout.setSpacing(10)
        layout.addLayout(self._body, 1)
        self.buttons: dict[str, QPushButton] = {}
        for number, (name, title) in enumerate(buttons):
            button = QPushButton(title)
            button.setProperty("primary", number == 0)
            button.clicked.connect(lambda _=False, name=name: self.chosen.emit(self.key, name))
            button.setMinimumHeight(button.sizeHint().height())  # a low window cuts words first
            choices.addWidget(button)
            self.buttons[name] = button
        self.close_button = QToolButton()
        self.close_button.setText("✕")
        self.close_button.setProperty("quiet", True)
        self.close_button.setToolTip("Dismiss")
        self.close_button.setAccessibleName("Dismiss this message")
        self.close_button.clicked.connect(lambda: self.dismissed.emit(self.key))
        layout.addWidget(self.close_button)
        choices.addStretch(1)
        self.setAccessibleName({"error": "Error"}.get(kind, "Notice"))
        self.setAccessibleDescription(text)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the choices below the sentence where both would be squeezed beside each other."""
        super().resizeEvent(event)
        directions = QBoxLayout.Direction
        width = event.size().width() if self.buttons else _NARROW
        for row, least in ((self._body, _NARROW), (self._choices, _NARROWER)):
            row.setDirection(directions.TopToBottom if width < least else directions.LeftToRight)

    def minimumSizeHint(self) -> QSize:
        """So narrow that choices stand below each other."""
        return QSize(_LEAST, super().minimumSizeHint().height())

    def set_text(self, text: str) -> None:
        """Change the sentence."""
        self.label.setText(text)
        self.setAccessibleDescription(text)

    def set_progress(self, fraction: float | None, *, visible: bool = True) -> None:
        """Show how far something is; None shows that it goes on."""
        self.progress.setVisible(visible)
        self.progress.setRange(0, 0 if fraction is None else 1000)
        if fraction is not None:
            self.progress.setValue(round(1000 * fraction))

    def set_theme(self, theme: Theme) -> None:
        """Paint the mark."""
        colour = {"error": theme.error, "warning": theme.warning}.get(self.kind, theme.accent)
        self._mark.setPixmap(icon(self.kind, colour, colour).pixmap(QSize(18, 18)))


class BannerArea(QWidget):
    """The banners that stand, newest last, never more than a few.

    Parameters
    ----------
    heir
        Gets the keyboard's focus from a banner that goes and had it.
    """

    chosen = Signal(str, str)  # key, button id
    dismissed = Signal(str)  # key

    def __init__(self, heir: QWidget | None = None) -> None:
        super().__init__()
        self._heir = heir
        self._theme: Theme = LIGHT
        self._banners: dict[str, Banner] = {}
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(6)
        self.hide()

    def banner(self, key: str) -> Banner | None:
        """Return the banner of this key, if it stands."""
        return self._banners.get(key)

    def texts(self) -> list[str]:
        """Return the sentences that stand."""
        return [banner.label.text() for banner in self._banners.values()]

    def show_error(self, text: str) -> Banner:
        """Show an error; the same sentence is shown once."""
        return self.show_banner(f"error:{text}", "error", text)

    def show_notice(self, text: str) -> Banner:
        """Show something worth knowing."""
        return self.show_banner(f"notice:{text}", "notice", text)

    def show_banner(
        self, key: str, kind: str, text: str, buttons: Sequence[tuple[str, str]] = ()
    ) -> Banner:
        """Show a banner in place of the one of the same key."""
        held = self._has_focus(key)
        self.remove(key)
        while len(self._banners) >= MOST_BANNERS:
            self.remove(next(iter(self._banners)))
        banner = Banner(key, kind, text, buttons)
        banner.set_theme(self._theme)
        banner.chosen.connect(self.chosen)
        banner.dismissed.connect(self._dismiss)
        self._banners[key] = banner
        self._layout.addWidget(banner)
        self.show()
        if held:
            next(iter(banner.buttons.values()), banner.close_button).setFocus()
        return banner

    def _has_focus(self, key: str) -> bool:
        banner, focused = self._banners.get(key), QApplication.focusWidget()
        return banner is not None and focused is not None and banner.isAncestorOf(focused)

    def remove(self, key: str) -> None:
        """Take a banner away, if it stands."""
        if self._has_focus(key) and self._heir is not None:
            self._heir.setFocus()
        banner = self._banners.pop(key, None)
        if banner is not None:
            self._layout.removeWidget(banner)
            banner.hide()
            banner.deleteLater()
        self.setVisible(bool(self._banners))

    def remove_passing(self) -> None:
        """Take away what only told of something that is over: something new begins."""
        for key, banner in list(self._banners.items()):
            if not banner.buttons:
                self.remove(key)

    def set_theme(self, theme: Theme) -> None:
        """Paint the marks of those that stand and of those to come."""
        self._theme = theme
        for banner in self._banners.values():
            banner.set_theme(theme)

    def _dismiss(self, key: str) -> None:
        self.remove(key)
        self.dismissed.emit(key)
