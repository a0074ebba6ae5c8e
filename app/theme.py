"""Colours by role, light and dark: the only file with hex colours.

Knows the roles, the fates' marks and their labels. Knows no Qt, so that viewmodels and exports
use it too; `app.views.styling` turns a theme into a palette and a style sheet.

Fates use hues that stay apart under the common kinds of colour blindness (after Okabe and Ito),
and each has a mark of its own, so that no fate is told by colour alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Mark = Literal[
    "none",
    "underline",
    "strike",
    "faint_strike",
    "solid_box",
    "dotted_box",
    "dashed_underline",
    "dotted_underline",
    "overline",
]


@dataclass(frozen=True)
class FateStyle:
    """How one fate looks everywhere: strip, court, charts, legend and exports.

    Attributes
    ----------
    colour
        Of the token's text and of its mark; at least 4.5:1 on `base` and on `fill`.
    mark
        The shape drawn with the token.
    label
        The glossary's word.
    fill
        A quiet background behind the token.
    """

    colour: str
    mark: Mark
    label: str
    fill: str


@dataclass(frozen=True)
class Theme:
    """Every colour of the window by role, as `#rrggbb`."""

    name: Literal["light", "dark"]
    window: str  # behind the panels
    base: str  # panels, the strip, text fields
    raised: str  # headers, buttons
    hover: str  # raised, under the pointer
    pressed: str
    text: str
    muted: str  # secondary text, at 4.5:1 too
    border: str  # hairlines
    outline: str  # edges of controls, at 3:1 on base
    accent: str  # links, checks, the primary button
    on_accent: str  # text on accent
    accent_soft: str  # selected rows; text stays readable on it
    focus: str  # the focus ring, at 3:1 on window and base
    error: str
    error_soft: str
    warning: str
    warning_soft: str
    ok: str
    ok_soft: str
    grid: str  # grid lines of charts
    target: str  # p_target, passes, the target's cache
    drafter: str  # q_draft, drafts, the drafter's cache
    residual: str
    draw: str  # u, the uniform that was drawn
    plain_rate: str  # the plain target's measured rate
    phase_draft: str
    phase_verify: str
    phase_accept: str
    phase_commit: str
    phase_observe: str
    fates: dict[str, FateStyle]


def _fates(
    *,
    prompt: tuple[str, str],
    pending: tuple[str, str],
    accepted: tuple[str, str],
    rejected: tuple[str, str],
    discarded: tuple[str, str],
    cut: tuple[str, str],
    correction: tuple[str, str],
    bonus: tuple[str, str],
    plain: tuple[str, str],
) -> dict[str, FateStyle]:
    """Pair each fate's (colour, fill) with the mark and label that hold in every theme."""
    return {
        "prompt": FateStyle(prompt[0], "none", "prompt", prompt[1]),
        "pending": FateStyle(pending[0], "dashed_underline", "pending", pending[1]),
        "accepted": FateStyle(accepted[0], "underline", "accepted", accepted[1]),
        "rejected": FateStyle(rejected[0], "strike", "rejected", rejected[1]),
        "discarded": FateStyle(discarded[0], "faint_strike", "discarded", discarded[1]),
        "cut": FateStyle(cut[0], "dotted_underline", "cut", cut[1]),
        "correction": FateStyle(correction[0], "solid_box", "correction", correction[1]),
        "bonus": FateStyle(bonus[0], "dotted_box", "bonus", bonus[1]),
        "plain": FateStyle(plain[0], "overline", "plain", plain[1]),
    }


LIGHT = Theme(
    name="light",
    window="#eef0f4",
    base="#ffffff",
    raised="#f7f8fa",
    hover="#e9ecf2",
    pressed="#dde2eb",
    text="#1a1e29",
    muted="#555d70",
    border="#d9dde6",
    outline="#7a8296",
    accent="#1f5fbf",
    on_accent="#ffffff",
    accent_soft="#dfe9f9",
    focus="#1f5fbf",
    error="#b3261e",
    error_soft="#fcebe9",
    warning="#8a5300",
    warning_soft="#fff3dc",
    ok="#00694d",
    ok_soft="#e0f4ec",
    grid="#e4e7ee",
    target="#1f5fbf",
    drafter="#b45309",
    residual="#8b3f86",
    draw="#1a1e29",
    plain_rate="#555d70",
    phase_draft="#b45309",
    phase_verify="#1f5fbf",
    phase_accept="#00795a",
    phase_commit="#8b3f86",
    phase_observe="#767e90",
    fates=_fates(
        prompt=("#555d70", "#ffffff"),
        pending=("#845400", "#fff5dd"),
        accepted=("#006a4e", "#e3f5ee"),
        rejected=("#b23a00", "#fdeae0"),
        discarded=("#676d7c", "#f2f3f6"),
        cut=("#676d7c", "#f7f4ee"),
        correction=("#0b5cad", "#e2eefb"),
        bonus=("#8b3f86", "#f8e9f6"),
        plain=("#1a1e29", "#ffffff"),
    ),
)

DARK = Theme(
    name="dark",
    window="#12141a",
    base="#191c24",
    raised="#222631",
    hover="#2b303d",
    pressed="#343a49",
    text="#e8ebf3",
    muted="#a0a8bb",
    border="#2d3240",
    outline="#6e778d",
    accent="#7db0ff",
    on_accent="#0d1422",
    accent_soft="#24344f",
    focus="#8fbcff",
    error="#ff9d92",
    error_soft="#3d2020",
    warning="#f5c063",
    warning_soft="#382c14",
    ok="#5fd3a8",
    ok_soft="#15332a",
    grid="#2a2f3c",
    target="#6fb1f5",
    drafter="#f0a35a",
    residual="#dd9bd6",
    draw="#e8ebf3",
    plain_rate="#a0a8bb",
    phase_draft="#f0a35a",
    phase_verify="#6fb1f5",
    phase_accept="#5fd3a8",
    phase_commit="#dd9bd6",
    phase_observe="#868fa3",
    fates=_fates(
        prompt=("#a0a8bb", "#191c24"),
        pending=("#f3c969", "#332b18"),
        accepted=("#5fd3a8", "#17322a"),
        rejected=("#ff9766", "#3a2319"),
        discarded=("#959db0", "#22262f"),
        cut=("#959db0", "#2a2822"),
        correction=("#7cb8ff", "#1a2d45"),
        bonus=("#e2a5dc", "#37243a"),
        plain=("#e8ebf3", "#191c24"),
    ),
)

THEMES: dict[str, Theme] = {"light": LIGHT, "dark": DARK}


def rgb(colour: str) -> tuple[int, int, int]:
    """Split `#rrggbb` into its three bytes."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def contrast(first: str, second: str) -> float:
    """Return the contrast ratio of two colours, from 1 to 21 (WCAG 2.2, relative luminance)."""
    brighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    channels = [value / 255 for value in rgb(colour)]
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in channels
    ]
    red, green, blue = linear
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
