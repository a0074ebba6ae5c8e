"""The style sheet, by role: `$name` is a field of the theme or the path of an icon. Text only."""

from __future__ import annotations

from string import Template

SHEET = Template("""
* { outline: none; }
QMainWindow, QDialog { background: $window; }
QMainWindow::separator { background: $window; width: 6px; height: 6px; }
QMainWindow::separator:hover { background: $accent_soft; }
QToolTip { background: $raised; color: $text; border: 1px solid $border; padding: 5px 7px; }

QDockWidget { titlebar-close-icon: url("$close"); titlebar-normal-icon: url("$float");
  font-weight: 600; color: $muted; icon-size: 20px; }
QDockWidget::title { background: $base; border: 1px solid $border; border-bottom: none;
  border-top-left-radius: 8px; border-top-right-radius: 8px; padding: 7px 10px 5px 10px;
  text-align: left; }
QDockWidget::close-button, QDockWidget::float-button { border: none; border-radius: 4px;
  padding: 2px; }
QDockWidget::close-button:hover, QDockWidget::float-button:hover { background: $hover; }
QFrame#panel { background: $base; border: 1px solid $border; border-top: none;
  border-bottom-left-radius: 8px; border-bottom-right-radius: 8px; }
QFrame#centre { background: $base; border: 1px solid $border; border-radius: 8px; }
QFrame#palette { background: $raised; border: 1px solid $outline; }
QFrame#hairline { background: $border; border: none; }
QLabel#panel_title { color: $muted; font-weight: 600; }
QLabel#field { color: $muted; }
QLabel#hint, QLabel#quiet { color: $muted; }
QLabel#heading { font-weight: 600; }

QMenuBar { background: $window; padding: 2px 6px; }
QMenuBar::item { background: transparent; color: $text; padding: 4px 9px; border-radius: 5px; }
QMenuBar::item:selected { background: $hover; }
QMenu { background: $base; color: $text; border: 1px solid $border; padding: 5px; }
QMenu::item { padding: 5px 26px 5px 22px; border-radius: 5px; }
QMenu::item:selected { background: $accent_soft; color: $text; }
QMenu::item:disabled { color: $outline; }
QMenu::separator { height: 1px; background: $border; margin: 5px 8px; }
QMenu::right-arrow { image: url("$chevron_right"); width: 12px; height: 12px; }

QToolBar { background: $window; border: none; padding: 2px 8px 6px 8px; spacing: 6px; }
QToolBar::separator { background: $border; width: 1px; margin: 5px 5px; }
QStatusBar { background: $window; color: $muted; }
QStatusBar::item { border: none; }
QStatusBar QLabel { color: $muted; padding: 1px 8px; }

QPushButton, QToolButton { background: $raised; color: $text; border: 1px solid $border;
  border-radius: 6px; padding: 5px 11px; }
QPushButton:hover, QToolButton:hover { background: $hover; }
QPushButton:pressed, QToolButton:pressed { background: $pressed; }
QPushButton:disabled, QToolButton:disabled { color: $outline; background: $window; }
QPushButton:focus, QToolButton:focus { border: 2px solid $focus; padding: 4px 10px; }
QPushButton:checked, QToolButton:checked { background: $accent_soft; border-color: $accent; }
QPushButton[primary="true"], QToolButton[primary="true"] { background: $accent;
  color: $on_accent; border-color: $accent; font-weight: 600; }
QPushButton[primary="true"]:hover, QToolButton[primary="true"]:hover { border-color: $text; }
QPushButton[primary="true"]:focus, QToolButton[primary="true"]:focus {
  border: 2px solid $text; padding: 4px 10px; }
QPushButton[primary="true"]:disabled, QToolButton[primary="true"]:disabled {
  background: $raised; color: $outline; border-color: $border; }
QToolButton[quiet="true"], QPushButton[quiet="true"] { background: transparent;
  border-color: transparent; }
QToolButton[quiet="true"]:hover, QPushButton[quiet="true"]:hover { background: $hover; }
QToolButton[quiet="true"]:focus, QPushButton[quiet="true"]:focus { border-color: $focus; }
QToolButton[fold="true"] { padding: 3px 6px 3px 3px; }
QToolButton[fold="true"]:focus { padding: 2px 5px 2px 2px; }
QToolButton::menu-indicator { image: none; }
QFileDialog QToolButton { padding: 2px; }
QFileDialog QToolButton:focus { padding: 1px; }

QLineEdit, QPlainTextEdit, QTextEdit, QComboBox, QAbstractSpinBox { background: $base;
  color: $text; border: 1px solid $outline; border-radius: 6px; padding: 3px 7px;
  selection-background-color: $accent; selection-color: $on_accent; }
QPlainTextEdit, QTextEdit { padding: 4px; }
QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus, QComboBox:focus,
QAbstractSpinBox:focus { border: 2px solid $focus; padding: 2px 6px; }
QPlainTextEdit:focus, QTextEdit:focus { padding: 3px; }
QLineEdit:disabled, QPlainTextEdit:disabled, QComboBox:disabled, QAbstractSpinBox:disabled {
  background: $window; color: $outline; border-color: $border; }
QAbstractSpinBox { padding-right: 0; }
QAbstractSpinBox QLineEdit, QAbstractSpinBox QLineEdit:focus { border: none; padding: 0 0 0 3px;
  background: transparent; }
QComboBox { combobox-popup: 0; }
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QComboBox::drop-down { border: none; width: 22px; }
QComboBox::down-arrow { image: url("$chevron_down"); width: 12px; height: 12px; }
QComboBox QAbstractItemView { background: $base; color: $text; border: 1px solid $border;
  padding: 4px; selection-background-color: $accent_soft; selection-color: $text; }
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button { background: transparent;
  border: none; width: 18px; }
QAbstractSpinBox::up-button:hover, QAbstractSpinBox::down-button:hover { background: $hover; }
QAbstractSpinBox::up-arrow { image: url("$chevron_up"); width: 10px; height: 10px; }
QAbstractSpinBox::down-arrow { image: url("$chevron_down"); width: 10px; height: 10px; }

QCheckBox, QRadioButton { spacing: 7px; color: $text; border: 2px solid transparent;
  border-radius: 5px; padding: 1px 3px; }
QCheckBox:focus, QRadioButton:focus { border-color: $focus; }
QCheckBox::indicator { width: 14px; height: 14px; border: 1px solid $outline;
  border-radius: 4px; background: $base; }
QCheckBox::indicator:checked { background: $accent; border-color: $accent;
  image: url("$check"); }
QCheckBox:disabled { color: $outline; }

QSlider::groove:horizontal { height: 4px; background: $border; border-radius: 2px; }
QSlider::sub-page:horizontal { background: $accent; border-radius: 2px; }
QSlider::handle:horizontal { width: 14px; height: 14px; margin: -6px 0; border-radius: 7px;
  background: $base; border: 2px solid $accent; }
QSlider::handle:horizontal:focus { background: $accent; border-color: $text; }
QProgressBar { background: $border; border: none; border-radius: 3px; max-height: 6px;
  min-height: 6px; color: transparent; }
QProgressBar::chunk { background: $accent; border-radius: 3px; }

QScrollArea { background: transparent; border: none; }
QScrollBar:vertical { background: transparent; width: 11px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 11px; margin: 0; }
QScrollBar::handle { background: $outline; border-radius: 3px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 28px; }
QScrollBar::handle:horizontal { min-width: 28px; }
QScrollBar::handle:hover { background: $muted; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }

QTabBar { qproperty-drawBase: 0; }
QTabBar::tab { background: transparent; color: $muted; padding: 6px 12px; border: none;
  border-bottom: 2px solid transparent; }
QTabBar::tab:hover { color: $text; }
QTabBar::tab:selected { color: $text; border-bottom-color: $accent; }
QTabBar::tab:focus { background: $hover; }
QListView, QTreeView, QTableView { background: $base; color: $text; border: 1px solid $border;
  border-radius: 6px; selection-background-color: $accent_soft; selection-color: $text; }
QListView:focus, QTreeView:focus, QTableView:focus { border: 2px solid $focus; }
QListView::item, QTreeView::item, QTableView::item { padding: 5px 7px; }
QListView::item:disabled { color: $outline; }
QListView::item:hover, QTreeView::item:hover { background: $hover; }
QListView::item:selected, QTreeView::item:selected, QTableView::item:selected {
  background: $accent_soft; color: $text; }
QHeaderView::section { background: $raised; color: $muted; border: none;
  border-bottom: 1px solid $border; padding: 5px 7px; }

QFrame#banner { border-radius: 8px; }
QFrame#banner[kind="error"] { background: $error_soft; border: 1px solid $error; }
QFrame#banner[kind="notice"] { background: $accent_soft; border: 1px solid $accent; }
QFrame#banner[kind="warning"] { background: $warning_soft; border: 1px solid $warning; }
QFrame#banner QLabel { color: $text; }
QFrame#caption { background: $accent_soft; border: none; border-left: 5px solid $accent; }
QFrame#caption QLabel#heading { color: $text; }
""")
