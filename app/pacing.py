"""The run under way as the window holds it by the hand: its pace, its drafters, what it is to show.

Knows the run's control and which drafters are in memory. Knows no document and no lane.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.control import Control

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from app.messages import Job, ModelsLoaded, Run
    from app.viewmodels.presentation import Presentation
    from engine.trace.events import ModelInfo, Settings


class Pacing:
    """At most one run's control.

    Attributes
    ----------
    control
        Of the run on show, while it goes on; else None.
    """

    def __init__(self, presentation: Presentation) -> None:
        self._presentation = presentation
        self.control: Control | None = None
        self._first = ""  # what a held run is to show as soon as it has a round
        self._ready: set[str] = set()  # drafters that are loaded for the target in memory
        self._target = ""

    def aim(self, target: str) -> None:
        """Another target has none of the drafters that were loaded."""
        if target != self._target:
            self._target = target
            self._ready.clear()

    def note_loaded(self, loaded: ModelsLoaded, before: ModelInfo | None) -> None:
        """Take in that models are there; `before` is the target that was in memory."""
        if loaded.target != before:  # loaded again, under another plan perhaps
            self._ready.clear()
        self._ready.add(loaded.drafter)

    def begin(self, first: str, disturbed: Callable[[], bool]) -> Control:
        """Return the control of a run that begins; `first` as in `Desk.run`."""
        self._presentation.playing = not first
        self._first = first
        self.control = Control(paced=not self._presentation.live, disturbed=disturbed)
        return self.control

    def end(self, job: Job | None) -> None:
        """Let a run's control go, if it is this one's."""
        if self.control is not None and getattr(job, "control", None) is self.control:
            self.control = None

    def forget(self) -> None:
        """Nothing is on show any more."""
        self.control, self._first = None, ""

    def go_on(self) -> None:
        """Hold no more after the first round or phase."""
        self._first = ""

    def show_first(self) -> None:
        """Show as much of a held run as was asked for, once it has a round."""
        if self._first:
            step, self._first = self._first, ""
            presentation = self._presentation
            (presentation.step_round if step == "round" else presentation.step_phase)()

    def change_settings(self, settings: Settings, runs: Iterable[Run]) -> None:
        """Let the run go on with other settings; a drafter that is not there is loaded first."""
        for job in runs:
            if job.control is self.control and settings.drafter in self._ready:
                job.control.change_settings(settings)
            elif job.control is self.control:
                job.wishes.put(settings)

    def follow(self) -> None:
        """Tell the engine whether it waits for the picture, and how far that is."""
        if self.control is not None:
            self.control.set_paced(not self._presentation.live)
        self.tell()

    def tell(self) -> None:
        """Tell the engine how far the picture is."""
        if self.control is not None:
            self.control.presented(self._presentation.last_finished_round)
