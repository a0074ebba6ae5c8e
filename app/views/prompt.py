"""The prompt panel: what to run, and the buttons to run and stop it. Widgets and input only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRegularExpression, QSignalBlocker, QTimer, Signal
from PySide6.QtGui import QRegularExpressionValidator
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QFormLayout,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.viewmodels.more import MOST_K, MOST_TEMPERATURE
from app.viewmodels.prompt import (
    LARGEST_SEED,
    MOST_TOKENS,
    MOST_TOP_K,
    PromptState,
    target_label,
)
from app.viewmodels.samples import Sample, samples
from app.views.drafter_field import DrafterField
from app.views.fields import (
    FieldArea,
    combo_box,
    describe,
    double_box,
    field_label,
    number_of,
    segment,
    select,
    spin_box,
)
from app.views.more import MoreView
from app.views.prompt_editor import PromptEditor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.theme import Theme
    from app.viewmodels.desk import DeskState

_CHOOSE = "\0choose"


class PromptView(QWidget):
    """Edits a `PromptState`."""

    run_requested = Signal()
    stop_requested = Signal()
    edited = Signal(object)  # PromptState
    settings_edited = Signal(object)  # engine Settings: what may change during a run
    choose_requested = Signal()  # models, in the dialog

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = PromptState()
        self._make_fields()
        self._lay_out()
        self._connect()
        self.set_state(self._state)

    def _make_fields(self) -> None:
        self.editor = PromptEditor()
        self.setFocusProxy(self.editor)  # what one goes to this panel for
        self.samples = _samples_button()
        self.chat = segment("Chat", "Wrap the prompt in the model's chat template.")
        self.raw = segment("Raw", "Give the prompt to the model as it is.")
        self._mode = QButtonGroup(self)
        self._mode.addButton(self.chat)
        self._mode.addButton(self.raw)
        self.target = combo_box("Target", "The model whose distribution the text follows.")
        self.drafter = DrafterField()
        self.k = spin_box(
            "k", "Tokens that the drafter proposes in a round; 0 is a plain round.", MOST_K
        )
        self.temperature = double_box("Temperature", "0 is greedy.", MOST_TEMPERATURE, 0.1)
        self.top_k = spin_box("Top-k", "Keep the k likeliest tokens; 0 is off.", MOST_TOP_K)
        self.top_k.setSpecialValueText("off")
        self.top_p = double_box("Top-p", "Keep the smallest set of this mass; 1 is off.", 1.0, 0.05)
        self.seed = QLineEdit()  # a spin box stops at 2**31
        self.seed.setValidator(
            QRegularExpressionValidator(QRegularExpression("[0-9]{0,19}"), self.seed)
        )
        describe(
            self.seed, "Seed", "Of every uniform that is drawn; the same seed, the same tokens."
        )
        self.limit = spin_box("Limit", "Most tokens that the run emits.", MOST_TOKENS)
        self.limit.setMinimum(1)
        self.more = MoreView()
        self.baseline = QCheckBox("Measure the plain target too")
        describe(
            self.baseline,
            "Measure the plain target too",
            "Run the plain target to its end afterwards, and compare the texts.",
        )
        self.run = QPushButton("Run")
        self.run.setProperty("primary", True)
        describe(self.run, "Run", "Decode the prompt with these settings (Ctrl+Return).")
        self.stop = QPushButton("Stop")
        describe(self.stop, "Stop", "End the run, or the loading, within one round (Ctrl+.).")

    def _lay_out(self) -> None:
        mode = QHBoxLayout()
        mode.setSpacing(0)
        mode.addWidget(self.chat)
        mode.addWidget(self.raw)
        mode.addStretch(1)
        mode.addWidget(self.samples)
        models = QFormLayout()
        models.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        models.setHorizontalSpacing(10)
        models.setVerticalSpacing(6)
        models.addRow(field_label("&Target", self.target), self.target)
        models.addRow(field_label("&Drafter", self.drafter.list), self.drafter)
        numbers = QGridLayout()
        numbers.setHorizontalSpacing(8)
        numbers.setVerticalSpacing(3)
        cells = (
            ("&k", self.k),
            ("Tem&perature", self.temperature),
            ("&Limit", self.limit),
            ("Top-k", self.top_k),
            ("Top-p", self.top_p),
            ("S&eed", self.seed),
        )
        for at, (title, field) in enumerate(cells):
            row, column = divmod(at, 3)
            numbers.addWidget(field_label(title, field), 2 * row, column)
            numbers.addWidget(field, 2 * row + 1, column)
            numbers.setColumnStretch(column, 1)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.run, 2)
        buttons.addWidget(self.stop, 1)
        fields = QWidget()
        inside = QVBoxLayout(fields)
        inside.setContentsMargins(12, 6, 12, 0)
        inside.setSpacing(9)
        inside.addLayout(mode)
        inside.addWidget(self.editor, 1)
        inside.addLayout(models)
        inside.addLayout(numbers)
        inside.addWidget(self.more)
        inside.addWidget(self.baseline)
        buttons.setContentsMargins(12, 0, 12, 12)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(9)
        self._area = FieldArea(fields)  # in a low window fields scroll, buttons stay
        layout.addWidget(self._area, 1)
        layout.addLayout(buttons)

    def _connect(self) -> None:
        self.samples.menu().triggered.connect(lambda action: self.take_sample(action.data()))
        self.run.clicked.connect(self.run_requested)
        self.stop.clicked.connect(self.stop_requested)
        self.editor.run_requested.connect(self.run.click)
        self.editor.textChanged.connect(self._edit)
        self._mode.buttonClicked.connect(self._edit)
        self.target.activated.connect(self._choose)
        self.drafter.edited.connect(self._edit)
        self.drafter.choose_requested.connect(self.choose_requested)
        for spin in (self.k, self.top_k, self.limit, self.temperature, self.top_p):
            spin.valueChanged.connect(self._edit)
        self.seed.textEdited.connect(self._edit)
        self.baseline.toggled.connect(self._edit)
        self.more.edited.connect(self._edit)
        self.more.grown.connect(self._scroll_to)

    @property
    def state(self) -> PromptState:
        """What is to be run, as the fields say."""
        return self._state

    def set_state(self, state: PromptState) -> None:
        """Fill the fields; says nothing."""
        self._state = state
        fields = (
            self.editor, self.target, self.k, self.temperature, self.top_k, self.top_p,
            self.seed, self.limit, self.baseline,
        )  # fmt: skip
        blockers = [QSignalBlocker(field) for field in fields]
        if self.editor.toPlainText() != state.prompt:
            self.editor.setPlainText(state.prompt)
        (self.raw if state.raw else self.chat).setChecked(True)
        select(self.target, state.target, target_label(state.target))
        self.drafter.set_spec(state.drafter)
        self.k.setValue(state.k)
        self.temperature.setValue(state.temperature)
        self.top_k.setValue(state.top_k)
        self.top_p.setValue(state.top_p)
        self.seed.setText(str(state.seed))
        self.limit.setValue(state.limit)
        self.baseline.setChecked(state.baseline)
        for blocker in blockers:
            blocker.unblock()
        self.more.set_more(state.more)
        self._show_what_decides()

    def take_sample(self, sample: Sample) -> None:
        """Put a sample prompt into the field."""
        self.editor.setPlainText(sample.prompt)
        (self.raw if sample.raw else self.chat).setChecked(True)
        self._edit()
        self.editor.setFocus()

    def set_models(self, names: Sequence[str]) -> None:
        """Offer these targets."""
        with QSignalBlocker(self.target):
            self.target.clear()
            for name in names:
                self.target.addItem(target_label(name), name)
            self.target.addItem("Choose or open…", _CHOOSE)
        self.set_state(self._state)

    def apply(self, state: DeskState) -> None:
        """Enable what makes sense now."""
        self._enable_buttons(state)
        self.target.setEnabled(not state.busy)
        for field in (self.chat, self.raw, self.seed, self.limit, self.baseline):
            field.setEnabled(not state.running)
        self.editor.setReadOnly(state.running)
        self.samples.setEnabled(not state.running)
        if state.target is not None:
            self.drafter.set_target_layers(state.target.layers, running=state.running)
        held = state.target if state.running else None  # another one may be chosen till then
        self.more.set_vocabulary(0 if held is None else held.vocabulary)
        self._show_what_decides()

    def _enable_buttons(self, state: DeskState) -> None:
        """Run and Stop take turns, and the keyboard's focus stays with the one that can be pressed.

        Left alone, Qt would hand it on to another panel with the button that is disabled.
        """
        wanted = {
            self.run: state.has_prompt and not state.busy,
            self.stop: state.busy and not state.stopping,
        }
        held = [button for button in wanted if button.hasFocus() and not wanted[button]]
        for button in (button for button, enabled in wanted.items() if enabled):
            button.setEnabled(True)
        if held:
            enabled = [button for button in wanted if wanted[button]]
            (enabled[0] if enabled else self.editor).setFocus()
        for button in (button for button, enabled in wanted.items() if not enabled):
            button.setEnabled(False)

    def set_theme(self, theme: Theme) -> None:
        """Take all colours from this theme."""
        self.more.set_theme(theme)
        self.drafter.set_theme(theme)

    def _choose(self) -> None:
        if self.target.currentData() == _CHOOSE:
            self.set_state(self._state)
            self.choose_requested.emit()
        else:
            self._edit()

    def _edit(self, *_: object) -> None:
        before = self._state
        self._state = PromptState(
            prompt=self.editor.toPlainText(),
            raw=self.raw.isChecked(),
            target=self.target.currentData() or before.target,
            drafter=self.drafter.spec,
            k=self.k.value(),
            temperature=number_of(self.temperature, before.temperature),
            top_k=self.top_k.value(),
            top_p=number_of(self.top_p, before.top_p),
            seed=min(int(self.seed.text() or 0), LARGEST_SEED),
            limit=self.limit.value(),
            baseline=self.baseline.isChecked(),
            more=self.more.more,
        )
        if self._state == before:
            return
        self._show_what_decides()
        self.edited.emit(self._state)
        if self._state.settings != before.settings:
            self.settings_edited.emit(self._state.settings)

    def _show_what_decides(self) -> None:
        """Where nothing is drawn, or the drafter has no law, grey out what decides nothing then."""
        state = self._state
        for field in (self.top_k, self.top_p):
            field.setEnabled(state.draws)
        self.more.enable(draws=state.draws, scored=state.scored, temperature=state.temperature)

    def _scroll_to(self, part: QWidget) -> None:
        """Bring into sight what has appeared, once it has its place."""
        QTimer.singleShot(0, self, lambda: self._area.ensureWidgetVisible(part, 0, 8))


def _samples_button() -> QToolButton:
    button = QToolButton()
    button.setText("Samples ▾")
    button.setProperty("quiet", True)
    button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
    describe(button, "Sample prompts", "Prompts worth trying.")
    menu = QMenu(button)
    for sample in samples():
        menu.addAction(sample.title).setData(sample)
    button.setMenu(menu)
    return button
