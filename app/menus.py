"""Which action stands in which menu and on the toolbar. Knows ids; knows no Qt."""

from __future__ import annotations

from app.actions import HELP, MARKS, MODELS, PANELS, RUN

SEPARATOR = "-"

Entry = str | tuple[str, tuple[str, ...]]

MENUS: tuple[tuple[str, tuple[Entry, ...]], ...] = (
    (
        "&File",
        (
            "session.open",
            ("Open &recent", ("recent",)),
            "session.save",
            "session.name",
            SEPARATOR,
            "export.ask",
            "export.cancel",
            SEPARATOR,
            "app.quit",
        ),
    ),
    (
        "&Run",
        (
            *(action.id for action in RUN[:7]),
            SEPARATOR,
            ("&Speed", ("speed.slower", "speed.faster", "speed.live")),
        ),
    ),
    ("M&arkers", tuple(action.id for action in MARKS)),
    ("&Models", tuple(action.id for action in MODELS)),
    (
        "&View",
        (
            ("&Panels", tuple(f"panel.{name}" for name, _ in PANELS if name != "text")),
            "view.restore",
            SEPARATOR,
            ("&Colours", ("theme.system", "theme.light", "theme.dark")),
            "view.rejected",
            "view.full_screen",
            SEPARATOR,
            ("&Go to", tuple(f"go.{name}" for name, _ in PANELS)),
        ),
    ),
    ("&Help", tuple(action.id for action in HELP)),
)

TOOLBAR: tuple[str, ...] = (
    "session.open",
    "session.save",
    "export.ask",
    SEPARATOR,
    "run.pause",
    "run.continue",
    "run.step_phase",
    "run.step_round",
    "run.clear",
    SEPARATOR,
    "speed_label",
    "speed",
    "stretch",
    "help.palette",
)
