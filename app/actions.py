"""The table of actions: menus, toolbar, command palette and the page of shortcuts come from it.

Knows ids, titles, shortcuts and when an action makes sense. Knows no Qt, not in which menu one
stands (`app.menus`), and not what an action does: `app.compose` binds ids to deeds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.viewmodels.speeds import AS_IT_COMES

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.viewmodels.desk import DeskState


def _always(state: DeskState) -> bool:
    return True


@dataclass(frozen=True)
class Action:
    """One thing that a user can do.

    Attributes
    ----------
    id
        Group and name, as `run.start`.
    title
        In menus and the palette; `short` on the toolbar.
    enabled
        Whether it makes sense now.
    """

    id: str
    title: str
    help: str
    shortcut: str = ""
    enabled: Callable[[DeskState], bool] = _always
    checkable: bool = False
    icon: str = ""
    short: str = ""


PANELS = (
    ("prompt", "Prompt"),
    ("text", "Text"),
    ("court", "Court"),
    ("acceptance", "Acceptance"),
    ("throughput", "Throughput"),
    ("timeline", "Timeline"),
    ("caches", "Caches"),
)


def _can_step(state: DeskState) -> bool:
    waits_for_engine = state.running and not state.stopping
    return waits_for_engine or not state.at_end or (state.has_prompt and not state.busy)


_FILE = (
    Action(
        "session.open",
        "Open session…",
        "Open a recorded session; it needs no model.",
        "Ctrl+O",
        icon="open",
        short="Open",
    ),
    Action(
        "session.save",
        "Save session…",
        "Save what is on show, with every number in it.",
        "Ctrl+S",
        lambda state: state.can_save,
        icon="save",
        short="Save",
    ),
    Action(
        "session.name",
        "Name this session…",
        "Give it a title and a note, which exports begin with.",
        enabled=lambda state: state.can_save,
    ),
    Action(
        "export.ask",
        "Export…",
        "Make a page that plays offline in any browser, a film, pictures, slides or tables.",
        "Ctrl+E",
        lambda state: state.can_save and (state.has_rounds or state.imported),
        icon="export",
        short="Export",
    ),
    Action(
        "export.cancel",
        "Cancel the export",
        "End the export under way.",
        enabled=lambda state: state.exporting,
    ),
    Action("app.quit", "Quit", "Close Draftscope; a run under way is stopped.", "Ctrl+Q"),
)
RUN = (
    Action(
        "run.start",
        "Run",
        "Decode the prompt with these settings.",
        "Ctrl+Return",
        lambda state: state.has_prompt and not state.busy,
        icon="run",
    ),
    Action(
        "run.pause",
        "Pause",
        "Hold the picture; the engine waits after one more round.",
        "F6",
        lambda state: state.moving,
        icon="pause",
    ),
    Action(
        "run.continue",
        "Play",
        "Go on, or play the session from its start again.",
        "F7",
        lambda state: not state.moving and (state.running or state.has_rounds),
        icon="play",
    ),
    Action(
        "run.step_phase",
        "Step a phase",
        "Show the next phase of a round: draft, verdicts, closing token.",
        "F9",
        _can_step,
        icon="step_phase",
        short="Phase",
    ),
    Action(
        "run.step_round",
        "Step a round",
        "Show one whole round more.",
        "F10",
        _can_step,
        icon="step_round",
        short="Round",
    ),
    Action(
        "run.stop",
        "Stop",
        "End the run, or the loading, within one round.",
        "Ctrl+.",
        lambda state: state.busy and not state.stopping,
        icon="stop",
    ),
    Action(
        "run.clear",
        "Clear",
        "Show nothing. Saved sessions and journals stay.",
        "Ctrl+L",
        lambda state: state.has_events and not state.running,
        icon="clear",
    ),
    Action("speed.slower", "Slower", "Show verdicts more slowly.", "Ctrl+["),
    Action("speed.faster", "Faster", "Show verdicts faster.", "Ctrl+]"),
    Action("speed.live", AS_IT_COMES, "Show each round when the engine has it.", "Ctrl+Shift+L"),
)
MODELS = (
    Action(
        "models.choose",
        "Choose models…",
        "Choose target and drafter from a list.",
        "Ctrl+M",
        lambda state: not state.busy,
    ),
    Action(
        "models.load",
        "Load now",
        "Load target and drafter without running.",
        "Ctrl+Shift+M",
        lambda state: not state.busy,
    ),
    Action(
        "models.target_folder",
        "Open target folder…",
        "A folder with config.json and safetensors.",
        enabled=lambda state: not state.busy,
    ),
    Action(
        "models.target_file",
        "Open target GGUF…",
        "One .gguf file.",
        enabled=lambda state: not state.busy,
    ),
    Action(
        "models.drafter_folder",
        "Open drafter folder…",
        "A smaller model with the target's vocabulary.",
        enabled=lambda state: not state.loading,
    ),
    Action(
        "models.drafter_file",
        "Open drafter GGUF…",
        "A smaller model with the target's vocabulary.",
        enabled=lambda state: not state.loading,
    ),
    Action(
        "models.fetch",
        "Fetch SmolLM2-135M-Instruct",
        "Bring the default model, checked by its SHA-256.",
        enabled=lambda state: not state.fetching,
    ),
    Action(
        "models.cancel_fetch",
        "Cancel the fetch",
        "Give the fetch up; nothing half-written stays.",
        enabled=lambda state: state.fetching,
    ),
    Action("models.train", "Train a drafter…", "Make one for the target; runs go on meanwhile."),
    Action(
        "models.build_plan",
        "Build the faster plan",
        "Compile passes for this processor, once, in a few seconds; runs go on meanwhile.",
        enabled=lambda state: state.can_warm_up,
    ),
    Action(
        "models.cancel_build",
        "Cancel the build",
        "Give the build up; nothing half-built stays.",
        enabled=lambda state: state.warm_up.building,
    ),
)
_VIEW = (
    *(
        Action(f"panel.{name}", title, f"Show or hide the panel {title}.", checkable=True)
        for name, title in PANELS
        if name != "text"
    ),
    Action("view.restore", "Restore arrangement", "Put every panel back where it stood at first."),
    Action("theme.system", "As the system", "Light or dark as the system is.", checkable=True),
    Action("theme.light", "Light", "Light colours.", checkable=True),
    Action("theme.dark", "Dark", "Dark colours.", checkable=True),
    Action(
        "view.rejected",
        "Show rejected drafts in place",
        "Show or hide tokens that did not reach the text.",
        "Ctrl+R",
        checkable=True,
    ),
    Action("view.full_screen", "Full screen", "Fill the screen.", "F11", checkable=True),
    *(
        Action(f"go.{name}", f"Go to {title}", f"Move the focus to {title}.", f"Ctrl+{number}")
        for number, (name, title) in enumerate(PANELS, 1)
    ),
)
MARKS = (
    Action(
        "marks.add",
        "Mark this moment…",
        "Give the moment on show a title and a note: replays pause, exports tell them.",
        "Ctrl+D",
        lambda state: state.can_save,
    ),
    Action(
        "marks.previous",
        "Previous marker",
        "Go back to the marker before this moment.",
        "Shift+F8",
        lambda state: state.has_markers,
    ),
    Action(
        "marks.next",
        "Next marker",
        "Go on to the marker after this moment.",
        "F8",
        lambda state: state.has_markers,
    ),
    Action(
        "marks.list",
        "Markers…",
        "Read, change and remove the markers of this session.",
        "Ctrl+Shift+D",
        lambda state: state.can_save,
    ),
    Action(
        "marks.pause",
        "Pause at markers",
        "Let a replay hold at each marker that asks for it; a run under way never does.",
        checkable=True,
    ),
)
HELP = (
    Action(
        "help.palette",
        "Command palette…",
        "Find any action by its name.",
        "Ctrl+Shift+P",
        icon="search",
        short="Find an action",
    ),
    Action("help.shortcuts", "Keyboard shortcuts", "Every shortcut on one page.", "F1"),
    Action("help.gallery", "Recorded sessions", "Choose a session that comes with Draftscope."),
    Action(
        "help.demo",
        "Play the first recorded session",
        "Play a session that comes with Draftscope; it needs no model.",
    ),
    Action("help.about", "About Draftscope", "Version and licence."),
)

ACTIONS: dict[str, Action] = {
    action.id: action for action in (*_FILE, *RUN, *MARKS, *MODELS, *_VIEW, *HELP)
}


def matching(query: str) -> list[Action]:
    """Return the actions that fit what was typed in the palette, the best first.

    Each typed word must occur in the title, the help or the id; titles that begin with it come
    first.
    """
    words = query.lower().split()

    def fits(action: Action) -> bool:
        text = f"{action.title} {action.help} {action.id}".lower()
        return all(word in text for word in words)

    def rank(action: Action) -> tuple[bool, bool]:
        title = action.title.lower()
        first = words[0] if words else ""
        return (not title.startswith(first), first not in title)

    found = [action for action in ACTIONS.values() if fits(action)]
    return sorted(found, key=rank)
