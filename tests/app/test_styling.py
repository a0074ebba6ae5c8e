"""A theme becomes a palette and a sheet; the bundled fonts are really the ones in use."""

import pytest
from PySide6.QtGui import QFontInfo, QPalette
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QToolButton

from app.fonts import CODE_FAMILY, UI_FAMILY, code_font, load_fonts, ui_font
from app.theme import THEMES, Theme
from app.views.styling import apply_theme, palette, stylesheet


def test_bundled_fonts_load(qapp: QApplication) -> None:
    families = load_fonts()
    assert UI_FAMILY in families
    assert CODE_FAMILY in families
    assert QFontInfo(ui_font()).family() == UI_FAMILY
    assert QFontInfo(code_font()).family() == CODE_FAMILY


def test_font_size_does_not_grow_with_use(qapp: QApplication) -> None:
    sizes = []
    for _ in range(3):
        apply_theme(qapp, THEMES["light"])
        sizes.append(QApplication.font().pointSizeF())
    assert sizes == [sizes[0]] * 3


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES.keys())
def test_sheet_resolves_every_role(theme: Theme, qapp: QApplication) -> None:
    assert "$" not in stylesheet(theme)
    assert palette(theme).color(QPalette.ColorRole.Base).name() == theme.base


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES.keys())
def test_widgets_take_the_theme(theme: Theme, qapp: QApplication) -> None:
    apply_theme(qapp, theme)
    field = QLineEdit("text")
    field.resize(120, 30)
    assert field.grab().toImage().pixelColor(60, 8).name() == theme.base


def test_tool_buttons_of_file_dialogs_show_their_icons(qapp: QApplication) -> None:
    apply_theme(qapp, THEMES["light"])
    dialog = QFileDialog()
    dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
    buttons = [one for one in dialog.findChildren(QToolButton) if not one.icon().isNull()]
    assert buttons
    for button in buttons:
        picture = button.grab().toImage()
        inner = picture.rect().adjusted(5, 5, -5, -5)
        inks = {
            picture.pixel(x, y)
            for x in range(inner.left(), inner.right())
            for y in range(inner.top(), inner.bottom())
        }
        assert len(inks) > 1, button.objectName()
