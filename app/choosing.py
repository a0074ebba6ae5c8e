"""Choosing models: the dialog, what it offers, and what follows from a choice.

Knows the registry of models and the prompt panel. Knows no worker; loading is the desk's.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import astuple
from PySide6.QtCore import QObject, Signal

from app.viewmodels.drafters import TrainedDrafter, drafter_choices, measured_costs
from app.viewmodels.models import known_models
from app.viewmodels.prompt import early_layers, early_spec, replaced_words
from engine.drafters.names import EARLY
from engine.drafters.registry import list_drafters
from engine.models.registry import listed_name, remember

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.desk import Desk
    from app.viewmodels.drafters import DrafterChoice
    from app.viewmodels.models import ModelChoice
    from app.views.main_window import MainWindow
    from app.views.models import ModelsDialog
    from app.views.prompt import PromptView
    from app.warming import Warming
    from engine.drafters.registry import DrafterEntry


_MODEL = "model:"


class Choosing(QObject):
    """Keeps the prompt panel's models and the dialog's in step."""

    changed = Signal()

    def __init__(
        self, window: MainWindow, prompt: PromptView, desk: Desk, warming: Warming
    ) -> None:
        super().__init__()
        self._window = window
        self._prompt = prompt
        self._desk = desk
        self._warming = warming
        self._dialog: ModelsDialog | None = None
        self._trained: tuple[TrainedDrafter, ...] = ()
        self._models: list[ModelChoice] = []
        self._offered: tuple[object, ...] = ()  # what the list of drafters was made from
        prompt.choose_requested.connect(self.choose)
        prompt.edited.connect(self._offer_drafters)
        desk.state_changed.connect(self._offer_drafters)
        desk.drafter_replaced.connect(self._take_instead)
        desk.state_changed.connect(self._show_plan)
        warming.changed.connect(self._show_plan)

    def offer(self) -> list[ModelChoice]:
        """Offer in the prompt panel what is here, and return everything that is known."""
        choices = known_models()
        self._models = [choice for choice in choices if choice.present]
        self._trained = trained_drafters()
        self._prompt.set_models([choice.name for choice in self._models])
        self._offer_drafters()
        return choices

    def _offer_drafters(self) -> None:
        """Offer the drafters, as far as they fit the target that is chosen and in memory."""
        document = self._desk.document
        ended = document.run if document.finished is not None else None  # then its c is told
        offered = (self._made_for(), ended, self._trained, tuple(self._models))
        if offered != self._offered:
            self._offered = offered
            self._prompt.drafter.set_choices(self._drafters(self._models, EARLY))

    def _made_for(self) -> tuple[str, ...]:
        """Return the hashes of the target chosen, if it is the one in memory."""
        asked, *hashes = self._desk.state.identity or ("",)
        return tuple(hashes) if asked == self._prompt.state.target else ()

    def _drafters(self, models: Sequence[ModelChoice], early: str) -> list[DrafterChoice]:
        document = self._desk.document
        return drafter_choices(
            self._trained,
            models,
            early=early,
            made_for=self._made_for(),
            costs=measured_costs(document) if document.finished is not None else {},
        )

    def lacks(self, name: str) -> bool:
        """Whether a model is known by this name and not here."""
        return any(choice.name == name and not choice.present for choice in known_models())

    def choose(self) -> None:
        """Open the dialog."""
        self.dialog().open()

    def open_model(self, role: str, kind: str) -> None:
        """Ask for a "folder" or a "file" with a "target" or a "drafter"."""
        dialog = self.dialog()
        dialog.open()
        (dialog.open_folder if kind == "folder" else dialog.open_file)(role)

    def load(self) -> None:
        """Load target and drafter now."""
        self._window.banners.remove_passing()
        self._desk.load(self._prompt.state.target, self._prompt.state.drafter)

    def dialog(self) -> ModelsDialog:
        """Return the dialog, filled with what there is now."""
        from app.views.models import ModelsDialog

        if self._dialog is None:
            self._dialog = ModelsDialog(self._window)
            self._dialog.chosen.connect(self.use)
            self._dialog.load_requested.connect(self._use_and_load)
            self._dialog.fetch_requested.connect(self._desk.fetch)
            self._dialog.plan.build_requested.connect(self._warming.start)
            self._dialog.plan.cancel_requested.connect(self._warming.cancel)
        state = self._prompt.state
        held = self._desk.state.target
        early = early_spec(0 if held is None else held.layers)
        exits = state.drafter if early_layers(state.drafter) else early
        choices, self._trained = known_models(), trained_drafters()
        drafters = self._drafters(choices, exits)
        self._dialog.offer(choices, drafters, state.target, state.drafter)
        self._warming.look()
        self._show_plan()
        return self._dialog

    def _show_plan(self) -> None:
        """Say in the dialog which plan is in use, and offer the faster one where there is one."""
        if self._dialog is not None:
            self._dialog.plan.apply(replace(self._desk.state, warm_up=self._warming.state))

    def use(self, target: str, drafter: str) -> None:
        """Run with these from now on; a drafter takes effect in a run under way too."""
        target = _listed(target)
        if drafter.startswith(_MODEL):
            drafter = f"{_MODEL}{_listed(drafter.removeprefix(_MODEL))}"
        before = self._prompt.state
        self._prompt.set_state(replace(before, target=target, drafter=drafter))
        self.offer()
        if drafter != before.drafter:
            self._desk.change_settings(self._prompt.state.settings)
        self.changed.emit()

    def _take_instead(self, drafter: str) -> None:
        """Go on with another drafter where the target cannot use the one that was chosen."""
        before = self._prompt.state
        self._prompt.set_state(replace(before, drafter=drafter))
        self._window.banners.show_notice(replaced_words(before.drafter, drafter))
        self.changed.emit()

    def _use_and_load(self, target: str, drafter: str) -> None:
        self.use(target, drafter)
        self.load()


def trained_drafters() -> tuple[TrainedDrafter, ...]:
    """Return the trained drafters that are here, bundled and the user's own, as plain values."""
    return tuple(_plain(entry) for entry in list_drafters())


def _plain(entry: DrafterEntry) -> TrainedDrafter:
    held, made_for = entry.held_out, entry.fingerprint
    return TrainedDrafter(
        spec=entry.spec,
        size=entry.size,
        parameters=entry.parameters,
        greedy=held.greedy if held is not None else (),
        overlap=held.overlap if held is not None else (),
        tokens=held.tokens if held is not None else 0,
        c=held.c if held is not None else None,
        target=entry.target,
        made_for=astuple(made_for) if made_for is not None else (),
        problem=entry.problem,
    )


def _listed(name: str) -> str:
    """Keep a model that was opened by its path in the list, and call it as the list does."""
    if not Path(name).is_absolute():
        return name
    remember(name)
    return listed_name(name)
