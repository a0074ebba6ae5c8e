"""Training from the window: the dialog, the process, the drafter list, and what runs suffer by it.

Knows the dialog, the process and who is told when a drafter is there. Trains nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject, Slot

from app.throttle import Throttle
from app.training import clear_away
from app.viewmodels.training_plan import Place, TrainingPlan, free_name, read_plan, unfinished
from engine.drafters.names import TRAINED
from engine.drafters.registry import drafters_folder, list_drafters

if TYPE_CHECKING:
    from app.appearance import Appearance
    from app.choosing import Choosing
    from app.desk import Desk
    from app.training import Training
    from app.views.main_window import MainWindow
    from app.views.prompt import PromptView
    from app.views.training import TrainingDialog

_KEY = "training"
_FOLLOW_MS = 200  # between two looks at a training: a plot is no film


class TrainingDesk(QObject):
    """Keeps dialog, banner and process of a training in step."""

    def __init__(
        self,
        window: MainWindow,
        prompt: PromptView,
        desk: Desk,
        choosing: Choosing,
        training: Training,
        appearance: Appearance,
    ) -> None:
        super().__init__()
        self._window, self._prompt, self._desk = window, prompt, desk
        self._choosing, self._training, self._appearance = choosing, training, appearance
        self._dialog: TrainingDialog | None = None
        self._follow = Throttle(self._show_progress, _FOLLOW_MS)
        self._taken: set[str] = set()  # names
        training.changed.connect(self._follow.ask)
        training.turned.connect(self._turn)
        training.saved.connect(self._offer_drafter)
        training.failed.connect(self._say_failure)
        appearance.theme_changed.connect(self._dress)
        window.banners.chosen.connect(self._choose)

    def open(self) -> None:
        """Show the dialog, with what there is to go on with."""
        dialog = self.dialog()
        if not self._training.under_way:
            self._fill(dialog)
        self._show()
        if dialog.isVisible():  # behind another window, perhaps
            dialog.activateWindow()
        dialog.show()
        self._window.banners.remove(_KEY)

    def dialog(self) -> TrainingDialog:
        """Return the dialog, made at the first wish."""
        from app.views.training import TrainingDialog

        if self._dialog is None:
            self._dialog = dialog = TrainingDialog(self._window)
            dialog.start_requested.connect(self._start)
            dialog.pause_requested.connect(self._training.pause)
            dialog.go_requested.connect(self._training.go_on)
            dialog.stop_requested.connect(self._training.stop)
            dialog.cancel_requested.connect(self._training.cancel)
            dialog.use_requested.connect(self._use)
            dialog.resume_requested.connect(self._resume)
            dialog.discard_requested.connect(self._discard)
            dialog.form.edited.connect(self._show)
            dialog.finished.connect(self._show_banner)
            self._dress()
        return self._dialog

    def close(self) -> None:
        """End a training with the window; what it can go on from stays."""
        self._follow.stop()
        self._training.close()

    # The plan

    def _fill(self, dialog: TrainingDialog) -> None:
        self._look()
        plan = dialog.form.plan
        changes = {"target": self._prompt.state.target}
        if plan.name in self._taken or not plan.target:
            changes["name"] = free_name(plan.kind, self._taken)
        dialog.form.set_plan(msgspec.structs.replace(plan, **changes))

    def _look(self) -> None:
        """Look which drafters there are, and which training can go on."""
        waiting = unfinished(drafters_folder())
        self._taken = {entry.spec.removeprefix(TRAINED) for entry in list_drafters()} | {*waiting}
        self.dialog().offer_unfinished(waiting[0] if waiting else "")

    def _problem(self, plan: TrainingPlan) -> str:
        if self._choosing.lacks(plan.target):
            return f"{plan.target} is not here yet: fetch it first, or choose another target."
        return plan.problem(self._taken)

    # Wishes

    def _start(self) -> None:
        plan = self.dialog().form.plan
        if self._problem(plan):
            self._show()
            return
        self._training.start(plan, Place(drafters_folder(), plan.name))

    def _resume(self) -> None:
        waiting = unfinished(drafters_folder())
        if not waiting:  # somebody took it away
            self._look()
            return
        place, form = Place(drafters_folder(), waiting[0]), self.dialog().form
        plan = read_plan(place) or form.plan
        plan = msgspec.structs.replace(plan, name=place.name)
        form.set_plan(plan)
        self._training.start(plan, place, resume=True)

    def _discard(self) -> None:
        for name in unfinished(drafters_folder())[:1]:
            place = Place(drafters_folder(), name)
            clear_away(place.files() - {place.out})
        self._look()
        self._show()

    def _use(self) -> None:
        state = self._prompt.state
        self._choosing.use(state.target, f"{TRAINED}{self._training.model.name}")
        self.dialog().accept()

    # What happens

    @Slot()
    def _turn(self) -> None:
        self._follow.stop()
        self._desk.disturbed = self._training.model.working
        if self._dialog is not None and not self._training.under_way:
            self._look()
            plan = self._dialog.form.plan
            if self._training.model.phase == "saved":  # the next one is called otherwise
                plan = msgspec.structs.replace(plan, name=free_name(plan.kind, self._taken))
                self._dialog.form.set_plan(plan)
        self._show()
        self._show_banner()

    def _show(self) -> None:
        if self._dialog is not None:
            under_way = self._training.under_way
            problem = "" if under_way else self._problem(self._dialog.form.plan)
            self._dialog.apply(self._training.model, problem)

    def _show_progress(self) -> None:
        if self._dialog is not None and self._dialog.isVisible():
            self._dialog.follow(self._training.model)
        self._show_banner()

    def _show_banner(self) -> None:
        """Say in the window how far it is, while the dialog is closed."""
        banners, model = self._window.banners, self._training.model
        if not self._training.under_way or (self._dialog and self._dialog.isVisible()):
            banners.remove(_KEY)
            return
        banner = banners.banner(_KEY)
        if banner is None:
            banner = banners.show_banner(_KEY, "notice", "", (("show", "Show"),))
        banner.set_text(f"{model.name}: {model.words}")
        banner.set_progress(model.fraction)

    def _choose(self, key: str, name: str) -> None:
        if key == _KEY:
            self.open()

    @Slot(str)
    def _offer_drafter(self, name: str) -> None:
        self._choosing.offer()
        if self._dialog is None or not self._dialog.isVisible():
            self._window.banners.show_notice(f"{self._training.model.words} Choose it as drafter.")

    @Slot(str)
    def _say_failure(self, sentence: str) -> None:
        if self._dialog is None or not self._dialog.isVisible():
            self._window.banners.show_error(sentence)

    def _dress(self) -> None:
        if self._dialog is not None:
            self._dialog.set_theme(self._appearance.theme)
