"""The options of an export: only those that the chosen format takes. Widgets and input only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QGridLayout,
    QLabel,
    QLineEdit,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from app.export.options import FONT_SCALES, FRAME_RATES, SIZES, SPEEDS
from app.viewmodels.export_plan import ExportPlan
from app.views.choice_box import ChoiceBox
from app.views.fields import combo_box, describe, double_box, field_label, spin_box

if TYPE_CHECKING:
    from collections.abc import Sequence

Field = QComboBox | ChoiceBox | QLineEdit | QSpinBox | QDoubleSpinBox

MOMENTS = ("at", "begin", "end", "told")
_USUAL = {"at": "The end", "begin": "The start", "end": "The end", "told": "A telling one"}
_MOST_ROUNDS = 1_000_000
_COLUMNS, _SWITCH_COLUMNS = 2, 3
_PANELS = (
    ("all", "Everything"),
    ("text", "Text"),
    ("court", "Court"),
    ("acceptance", "Acceptance"),
    ("throughput", "Throughput"),
    ("timeline", "Timeline"),
    ("caches", "Caches"),
)
_ITS_OWN = "Its own"
_COLOURS = (
    "Light for paper and bright rooms, dark for a dark hall. A page's own are as its reader's "
    "system has them; everything else is light."
)


class ExportForm(QWidget):
    """Edits an `ExportPlan`, all but its format."""

    edited = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._plan = ExportPlan()
        self.fields: dict[str, Field] = {}
        self.switches: dict[str, QCheckBox] = {}
        self._labels: dict[str, QLabel] = {}
        self._runs = 1
        self._make_fields()
        self._make_switches()
        self._grid, self._row = QGridLayout(), QGridLayout()
        for grid in (self._grid, self._row):
            grid.setHorizontalSpacing(10)
            grid.setVerticalSpacing(8)
        for column in range(_COLUMNS):
            self._grid.setColumnStretch(2 * column + 1, 1)
        self._row.setColumnStretch(_SWITCH_COLUMNS, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(10)
        layout.addLayout(self._grid)
        layout.addLayout(self._row)
        for field in self.fields.values():
            _changed(field).connect(self._edit)
        for switch in self.switches.values():
            switch.toggled.connect(self._edit)
        self.set_plan(self._plan)

    def _make_fields(self) -> None:
        theme = combo_box("Colours", _COLOURS)
        for words, value in ((_ITS_OWN, ""), ("Light", "light"), ("Dark", "dark")):
            theme.addItem(words, value)
        size = ChoiceBox("Size", "Width and height in pixels: choose one or write 1280x720.")
        names = [
            (f"{name.capitalize()} {width} × {height}", name)
            for name, (width, height) in SIZES.items()
        ]
        size.offer([(_ITS_OWN, ""), *names], "")
        scale = double_box("Text size", "1 suits the size; larger for a large hall.", 3.0, 0.1)
        scale.setRange(*FONT_SCALES)
        title = QLineEdit()
        describe(title, "Title", "Above everything; left empty, the session's own.")
        panel = combo_box("Panel", "All of the picture, or one panel alone.")
        for value, words in _PANELS:
            panel.addItem(words, value)
        speed = double_box("Speed", "1 is the pace at which verdicts can be read.", 64.0, 0.5)
        speed.setRange(*SPEEDS)
        rate = double_box("Frames a second", "At most.", FRAME_RATES[1], 1.0)
        rate.setRange(0.0, FRAME_RATES[1])
        rate.setDecimals(0)
        rate.setSpecialValueText(_ITS_OWN)
        letters = combo_box("Letters", "Fonts keep text searchable; outlines look alike anywhere.")
        for value, words in (("fonts", "Embedded fonts"), ("outlines", "Outlines")):
            letters.addItem(words, value)
        most = spin_box("Most rounds", "A page holds no more rounds than this.", _MOST_ROUNDS)
        most.setSpecialValueText(_ITS_OWN)
        run = combo_box("Run", "Which of the session's runs.")
        run.addItem("1", 0)
        when = "A round's number, a marker, start or end."
        self._add("run", "&Run", run)
        self._add("at", "&Moment", ChoiceBox("Moment", when))
        self._add("begin", "&From", ChoiceBox("From", when))
        self._add("end", "T&o", ChoiceBox("To", when))
        self._add("told", "Round &told", ChoiceBox("Round told", f"Told step by step. {when}"))
        self._add("panel", "&Panel", panel)
        self._add("size", "&Size", size)
        self._add("theme", "&Colours", theme)
        self._add("font_scale", "Te&xt size", scale)
        self._add("title", "T&itle", title)
        self._add("speed", "Spee&d", speed)
        self._add("frame_rate", "Frames/s", rate)
        self._add("svg_text", "&Letters", letters)
        self._add("most_rounds", "Most rou&nds", most)

    def _add(self, name: str, title: str, field: Field) -> None:
        field.setParent(self)  # in this order Tab goes from one to the next
        self.fields[name] = field
        self._labels[name] = field_label(title, field)

    def _make_switches(self) -> None:
        for name, title, help_text in (
            ("captions", "Captions", "Markers' titles and notes, and what figures mean."),
            ("title_card", "Title card", "Begin with the title, the models and the machine."),
            ("drafts", "Rejected drafts", "Tokens that did not reach the text stay in place."),
            ("withhold_prompt", "Leave out the prompt", "The file does not say what was asked."),
            ("withhold_machine", "Leave out the machine", "The file does not name it."),
        ):
            switch = QCheckBox(title, self)
            describe(switch, title, help_text)
            self.switches[name] = switch

    @property
    def plan(self) -> ExportPlan:
        """What the fields ask for."""
        return self._plan

    def set_plan(self, plan: ExportPlan) -> None:
        """Fill the fields, and show those that its format takes; says nothing."""
        self._plan = plan
        widgets = (*self.fields.values(), *self.switches.values())
        blockers = [QSignalBlocker(widget) for widget in widgets]
        for name, field in self.fields.items():
            _fill(field, getattr(plan, name))
        for name, switch in self.switches.items():
            switch.setChecked(getattr(plan, name))
        for blocker in blockers:
            blocker.unblock()
        self._lay_out()

    def offer_moments(self, choices: Sequence[tuple[str, str]]) -> None:
        """Offer moments of the session on show."""
        for name in MOMENTS:
            field = self.fields[name]
            assert isinstance(field, ChoiceBox)
            usual = _USUAL[name]
            others = (one for one in choices if one[0] != usual)
            field.offer([(usual, ""), *others], field.value())

    def offer_runs(self, runs: Sequence[str], title: str) -> None:
        """Offer the session's runs, and show its own title where none is typed."""
        box, line = self.fields["run"], self.fields["title"]
        assert isinstance(box, QComboBox)
        assert isinstance(line, QLineEdit)
        blocker = QSignalBlocker(box)
        box.clear()
        for number, words in enumerate(runs):
            box.addItem(f"{number + 1}: {words}", number)
        blocker.unblock()
        self._runs = len(runs)
        line.setPlaceholderText(title)
        self.set_plan(self._plan)

    def _shown(self, name: str) -> bool:
        takes = self._plan.made.takes
        if name.startswith("withhold"):
            return "withheld" in takes
        return name in takes and (name != "run" or self._runs > 1)

    def _lay_out(self) -> None:
        """Put what is shown side by side, row by row, and hide the rest."""
        for grid in (self._grid, self._row):
            while grid.takeAt(0) is not None:
                pass
        shown = [name for name in self.fields if self._shown(name)]
        for name, field in self.fields.items():
            field.setVisible(name in shown)
            self._labels[name].setVisible(name in shown)
        for place, name in enumerate(shown):
            row, column = divmod(place, _COLUMNS)
            self._grid.addWidget(self._labels[name], row, 2 * column)
            self._grid.addWidget(self.fields[name], row, 2 * column + 1)
        switches = [name for name in self.switches if self._shown(name)]
        for name, switch in self.switches.items():
            switch.setVisible(name in switches)
        for place, name in enumerate(switches):
            self._row.addWidget(self.switches[name], *divmod(place, _SWITCH_COLUMNS))

    def _edit(self, *_: object) -> None:
        values: dict[str, object] = {name: _value(field) for name, field in self.fields.items()}
        values |= {name: switch.isChecked() for name, switch in self.switches.items()}
        self._plan = msgspec.structs.replace(self._plan, **values)
        self.edited.emit()


def _changed(field: Field) -> Any:  # a bound signal, of which PySide knows no type
    if isinstance(field, ChoiceBox):
        return field.edited
    if isinstance(field, QComboBox):
        return field.currentIndexChanged
    return field.textEdited if isinstance(field, QLineEdit) else field.valueChanged


def _fill(field: Field, value: Any) -> None:  # of the field's own type
    if isinstance(field, ChoiceBox):
        at = field.findData(value)
        field.setCurrentIndex(at)
        if at < 0:
            field.setEditText(str(value))
    elif isinstance(field, QComboBox):
        field.setCurrentIndex(max(0, field.findData(value)))
    elif isinstance(field, QLineEdit):
        field.setText(str(value))
    else:
        field.setValue(value)


def _value(field: Field) -> object:
    if isinstance(field, ChoiceBox):
        return field.value()
    if isinstance(field, QComboBox):
        return field.currentData()
    return field.text() if isinstance(field, QLineEdit) else field.value()
