"""What the window shows first: a file, what a crash left behind, or the recorded session.

Knows when a first start is one. Knows no worker: it asks the desk.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.gallery import recorded_sessions
from engine.models.registry import DEFAULT_MODEL
from engine.trace.journal import settle, unfinished_journals

if TYPE_CHECKING:
    from app.choosing import Choosing
    from app.deeds import Deeds
    from app.desk import Desk
    from app.gallery import Gallery
    from app.viewmodels.models import ModelChoice
    from app.views.banner import Banner
    from app.views.main_window import MainWindow
    from app.views.prompt import PromptView

DEMO_SPEED = 1.0
_FETCH = "fetch"
_JOURNAL = "journal:"


class Welcome(QObject):
    """Begins once the window is on screen."""

    def __init__(
        self,
        window: MainWindow,
        prompt: PromptView,
        desk: Desk,
        deeds: Deeds,
        choosing: Choosing,
        gallery: Gallery,
    ) -> None:
        super().__init__()
        self._window = window
        self._prompt = prompt
        self._desk = desk
        self._deeds = deeds
        self._choosing = choosing
        self._wanted = DEFAULT_MODEL  # what the banner offers to fetch
        self._taken = ""  # the prompt of the session opened last, not the user's own
        window.banners.chosen.connect(self._choose)
        window.banners.dismissed.connect(self._dismiss)
        self._gallery = gallery
        gallery.chosen.connect(self._show_recorded)
        deeds.demo_requested.connect(self.show_demo)
        deeds.fetch_offered.connect(self.offer_needed)
        desk.fetched.connect(self._after_fetch)
        desk.opened.connect(self._after_opening)
        desk.state_changed.connect(self._show_fetch)

    def begin(self, *, demo: bool, busy: bool) -> None:
        """Show what there is to show first.

        Parameters
        ----------
        demo
            The recorded session was asked for.
        busy
            Something else is on show already.
        """
        choices = self._choosing.offer()
        bare = not any(choice.present for choice in choices)
        if demo or (bare and not busy):
            self.show_demo()  # something moves at once; the other sessions are a menu away
        if bare:
            self._offer_fetch(choices)
        self._offer_journals()

    def show_demo(self) -> None:
        """Play the first of the recorded sessions that come with Draftscope."""
        recorded = recorded_sessions()
        if not recorded:
            self._deeds.fail("The recorded session is missing; install Draftscope again.")
            return
        self._show_recorded(recorded[0], at_once=True)

    def _show_recorded(self, path: Path, *, at_once: bool = False) -> None:
        self._desk.set_speed(DEMO_SPEED)
        self._window.set_speed(DEMO_SPEED)
        self._desk.open(path, at_once=at_once)

    # Fetching a model

    def _offer_fetch(self, choices: list[ModelChoice]) -> None:
        self._show_offer(
            DEFAULT_MODEL,
            f"This is a recorded session. To run your own prompts, fetch {_named(choices)}.",
            (("more", "More sessions"),),
        )

    def offer_needed(self, name: str) -> None:
        """Offer to fetch the model that a run needs, under the key that was pressed last."""
        if not self._desk.state.fetching:
            choices = [choice for choice in self._choosing.offer() if choice.name == name]
            banner = self._show_offer(name, f"A run needs {_named(choices)}.")
            banner.buttons["start"].setFocus()

    def _show_offer(self, name: str, text: str, more: tuple[tuple[str, str], ...] = ()) -> Banner:
        self._wanted = name
        return self._window.banners.show_banner(
            _FETCH, "notice", text, (("start", "Fetch the model"), *more)
        )

    def _show_fetch(self) -> None:
        state = self._desk.state
        banner = self._window.banners.banner(_FETCH)
        if state.fetching and (banner is None or "cancel" not in banner.buttons):
            banner = self._window.banners.show_banner(
                _FETCH, "notice", "Fetching the model…", (("cancel", "Cancel"),)
            )
        if banner is None or "cancel" not in banner.buttons:
            return
        waiting = state.fetch_wait
        if state.fetching:
            banner.set_text(f"{waiting.what if waiting else 'Fetching the model'}…")
            banner.set_progress(waiting.fraction if waiting else None)
        else:
            self._window.banners.remove(_FETCH)
            self._offer_again()

    def _offer_again(self) -> None:
        choices = self._choosing.offer()
        if not any(choice.present for choice in choices):
            self._offer_fetch(choices)

    def _after_fetch(self, name: str) -> None:
        self._choosing.offer()
        self._window.banners.remove(_FETCH)
        self._window.banners.show_notice(f"{name} is here: type a prompt and run it.")

    # Journals of runs that crashed

    def _offer_journals(self) -> None:
        for path in unfinished_journals()[:2]:
            self._window.banners.show_banner(
                f"{_JOURNAL}{path}",
                "warning",
                "Draftscope ended during a run; its rounds up to then were kept.",
                (("restore", "Restore"), ("discard", "Discard")),
            )

    def _choose(self, key: str, name: str) -> None:
        if key == _FETCH:
            if name == "start":
                self._desk.fetch(self._wanted)
            elif name == "more":
                self._gallery.ask()
            else:
                self._desk.cancel_fetch()
        elif key.startswith(_JOURNAL):
            path = Path(key.removeprefix(_JOURNAL))
            settle(path)
            self._window.banners.remove(key)
            if name == "restore":
                self._desk.open(path)
            else:
                path.unlink(missing_ok=True)

    def _dismiss(self, key: str) -> None:
        """Offer a dismissed journal no more; it stays on disk."""
        if key.startswith(_JOURNAL):
            settle(Path(key.removeprefix(_JOURNAL)))

    def _after_opening(self, path: Path) -> None:
        """Let the prompt of what was opened be tried, if none was typed since the last one."""
        started = self._desk.document.started
        if self._desk.document.imported is not None:
            return  # its settings are not all there
        if path in recorded_sessions():
            return  # the program's own; a new user finds the panel's own first prompt
        state = self._prompt.state
        if started is not None and (not state.typed or state.prompt == self._taken):
            self._taken = started.prompt
            self._prompt.set_state(state.after_opening(started))
            self._deeds.refresh()


def _named(choices: list[ModelChoice]) -> str:
    """Name the default model, or else the first, with its size."""
    found = sorted(choices, key=lambda choice: choice.name != DEFAULT_MODEL)
    if not found:
        return DEFAULT_MODEL
    title = found[0].title.partition(" (")[0]  # without the kind of weights
    return f"{title} ({found[0].detail})"
