"""More settings, folded away until asked for. Widgets and input only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.viewmodels.logit_bias import parse_biases, written_bias
from app.viewmodels.more import (
    LEAST_REPETITION,
    MOST_K,
    MOST_PENALTY,
    MOST_TEMPERATURE,
    More,
)
from app.viewmodels.settings_words import more_words
from app.views.elided import ElidedLabel
from app.views.fields import describe, double_box, field_label, number_of, spin_box
from app.views.notice import Notice

if TYPE_CHECKING:
    from PySide6.QtWidgets import QDoubleSpinBox

    from app.theme import Theme
    from app.viewmodels.logit_bias import Bias

_FOLDED, _UNFOLDED = "More ▸", "More ▾"
_PENALTY = "Subtracted from a token's logit {} the output holds it, not the prompt; 0 is off."


class MoreView(QWidget):
    """Edits a `More`; folded, it says in words what is not at its default."""

    edited = Signal()
    grown = Signal(QWidget)  # what has appeared, and may be out of sight

    def __init__(self) -> None:
        super().__init__()
        self._more = More()
        self._vocabulary = 0  # ids of the run's target; 0: not known
        self._make_fields()
        self._lay_out()
        self._connect()
        self._show_more()

    def _make_fields(self) -> None:
        self.button = QToolButton()
        self.button.setText(_FOLDED)
        self.button.setCheckable(True)
        self.button.setProperty("quiet", True)
        self.button.setProperty("fold", True)
        describe(self.button, "More settings", "Penalties, biases, and when a draft ends.")
        self.summary = ElidedLabel()
        self.min_p = double_box(
            "Min-p", "Leave out tokens below this share of the largest probability; 0 is off.",
            1.0, 0.01,
        )  # fmt: skip
        self.repetition_penalty = double_box(
            "Repetition penalty",
            "Of tokens in prompt and output: divides positive logits, multiplies negative ones; "
            "1 is off.",
            MOST_PENALTY, 0.05, LEAST_REPETITION,
        )  # fmt: skip
        self.presence_penalty = _penalty("Presence penalty", "once if")
        self.frequency_penalty = _penalty("Frequency penalty", "each time that")
        self.k_min = spin_box(
            "Least draft", "Tokens drafted before the confidence may end a draft; 0 is off.", MOST_K
        )
        self.confidence = double_box(
            "Confidence",
            "A draft ends where the drafter's largest probability, at temperature 1, is below "
            "this; 0 is off.",
            1.0, 0.05,
        )  # fmt: skip
        self.own_temperature = QCheckBox("own")
        describe(
            self.own_temperature,
            "Drafter's own temperature",
            "Draft at another temperature than the target's; off, both have the same.",
        )
        self.drafter_temperature = double_box(
            "Drafter's temperature", "Of the drafter alone; 0 is greedy.", MOST_TEMPERATURE, 0.1
        )
        self.logit_bias = QLineEdit()
        self.logit_bias.setPlaceholderText("42=-5, 7=2.5")
        describe(
            self.logit_bias,
            "Logit bias",
            "Added to tokens' logits, of target and drafter alike: ID=NUMBER, ID=NUMBER; empty is "
            "off. The court shows each token's id.",
        )
        self.fault = Notice()
        for spin in (self.min_p, self.confidence, self.k_min):
            spin.setSpecialValueText("off")  # at the least value

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(6)
        head.addWidget(self.button)
        head.addWidget(self.summary, 1)
        self.body = QWidget()
        self.body.hide()
        grid = QGridLayout(self.body)  # as narrow as the panel's other numbers
        grid.setContentsMargins(0, 2, 0, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(3)
        self._add_row(
            0, ("Min-p", self.min_p), ("Confidence", self.confidence), ("Least draft", self.k_min)
        )
        penalties = QLabel("Penalties")
        penalties.setObjectName("panel_title")
        grid.addWidget(penalties, 2, 0, 1, 3)
        self._add_row(
            3,
            ("Repetition", self.repetition_penalty),
            ("Presence", self.presence_penalty),
            ("Frequency", self.frequency_penalty),
        )
        own = QHBoxLayout()
        own.setSpacing(8)
        own.addWidget(self.own_temperature)
        own.addWidget(self.drafter_temperature, 1)
        grid.addWidget(field_label("Drafter's temperature", self.own_temperature), 5, 0, 1, 3)
        grid.addLayout(own, 6, 0, 1, 2)
        bias = (field_label("Logit bias", self.logit_bias), self.logit_bias, self.fault)
        for row, widget in enumerate(bias, 7):
            grid.addWidget(widget, row, 0, 1, 3)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(head)
        layout.addWidget(self.body)

    def _add_row(self, row: int, *cells: tuple[str, QWidget]) -> None:
        grid = self.body.layout()
        assert isinstance(grid, QGridLayout)
        for column, (title, field) in enumerate(cells):
            grid.addWidget(field_label(title, field), row, column)
            grid.addWidget(field, row + 1, column)
            grid.setColumnStretch(column, 1)

    def _connect(self) -> None:
        self.button.toggled.connect(self._fold)
        for spin in (*self._numbers(), self.drafter_temperature):
            spin.valueChanged.connect(self._edit)
        self.k_min.valueChanged.connect(self._edit)
        self.own_temperature.toggled.connect(self._edit)
        self.logit_bias.textEdited.connect(self._edit)

    @property
    def more(self) -> More:
        """The values, as the fields say; a bias that cannot be read leaves the one before."""
        return self._more

    @property
    def open(self) -> bool:
        """Whether the fields are shown."""
        return self.button.isChecked()

    def set_open(self, shown: bool) -> None:
        """Show or fold the fields."""
        self.button.setChecked(shown)

    def set_more(self, more: More) -> None:
        """Fill the fields; says nothing."""
        if more == self._more:
            return
        self._more = more
        self._show_more()

    def set_vocabulary(self, size: int) -> None:
        """Take how many ids the target of the run under way has; 0: not known."""
        self._vocabulary = size

    def enable(self, *, draws: bool, scored: bool, temperature: float) -> None:
        """Grey out what decides nothing now.

        Parameters
        ----------
        draws
            Whether any token is drawn from a law.
        scored
            Whether the drafter has logits.
        temperature
            The target's, which is the drafter's too unless it has its own.
        """
        if not self.own_temperature.isChecked():
            with QSignalBlocker(self.drafter_temperature):
                self.drafter_temperature.setValue(temperature)
        self.min_p.setEnabled(draws)
        for field in (self.confidence, self.k_min, self.own_temperature):
            field.setEnabled(scored)
        self.drafter_temperature.setEnabled(scored and self.own_temperature.isChecked())

    def set_theme(self, theme: Theme) -> None:
        """Take all colours from this theme."""
        self.summary.set_theme(theme)
        self.fault.set_theme(theme)

    def _numbers(self) -> tuple[QDoubleSpinBox, ...]:
        penalties = (self.repetition_penalty, self.presence_penalty, self.frequency_penalty)
        return (self.min_p, *penalties, self.confidence)

    def _show_more(self) -> None:
        more, own = self._more, self._more.drafter_temperature
        fields = (*self._numbers(), self.k_min, self.own_temperature, self.drafter_temperature)
        blockers = [QSignalBlocker(field) for field in fields]
        self.min_p.setValue(more.min_p)
        self.repetition_penalty.setValue(more.repetition_penalty)
        self.presence_penalty.setValue(more.presence_penalty)
        self.frequency_penalty.setValue(more.frequency_penalty)
        self.confidence.setValue(more.confidence)
        self.k_min.setValue(more.k_min)
        self.own_temperature.setChecked(own is not None)
        if own is not None:
            self.drafter_temperature.setValue(own)
        for blocker in blockers:
            blocker.unblock()
        self.logit_bias.setText(written_bias(more.logit_bias))
        self.fault.say("")
        self._summarise()

    def _edit(self, *_: object) -> None:
        before = self._more
        own = before.drafter_temperature
        if self.own_temperature.isChecked():
            own = number_of(self.drafter_temperature, -1.0 if own is None else own)
        else:
            own = None
        self.drafter_temperature.setEnabled(own is not None)
        self._more = More(
            min_p=number_of(self.min_p, before.min_p),
            repetition_penalty=number_of(self.repetition_penalty, before.repetition_penalty),
            presence_penalty=number_of(self.presence_penalty, before.presence_penalty),
            frequency_penalty=number_of(self.frequency_penalty, before.frequency_penalty),
            logit_bias=self._read_bias(),
            drafter_temperature=own,
            k_min=self.k_min.value(),
            confidence=number_of(self.confidence, before.confidence),
        )
        if self._more != before:
            self._summarise()
            self.edited.emit()

    def _read_bias(self) -> Bias:
        """Return what the field says; where that is nothing to go by, say so and what holds."""
        try:
            bias = parse_biases(self.logit_bias.text(), self._vocabulary)
        except ValueError as fault:
            held = written_bias(self._more.logit_bias)
            holds = f"the bias stays {held}" if held else "there is no bias"
            said = str(fault)
            self.fault.say(f"{said[:1].upper()}{said[1:]}. Until then {holds}.")
            self.grown.emit(self.fault)
            return self._more.logit_bias
        self.fault.say("")
        return bias

    def _summarise(self) -> None:
        words = more_words(self._more)
        self.summary.set_text("" if self.open else words)
        self.summary.setToolTip(words)

    def _fold(self, shown: bool) -> None:
        self.body.setVisible(shown)
        self.button.setText(_UNFOLDED if shown else _FOLDED)
        self._summarise()
        if shown:
            self.grown.emit(self)


def _penalty(name: str, when: str) -> QDoubleSpinBox:
    return double_box(name, _PENALTY.format(when), MOST_PENALTY, 0.1, -MOST_PENALTY)
