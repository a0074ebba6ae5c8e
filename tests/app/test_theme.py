"""Every text of every theme is readable, and no fate is told by colour alone."""

import subprocess
import sys
from dataclasses import fields

import pytest

from app.theme import THEMES, Theme, contrast

FATES = ["prompt", "pending", "accepted", "rejected", "discarded", "cut"]
FATES += ["correction", "bonus", "plain"]


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES.keys())
def test_text_reaches_aa_contrast(theme: Theme) -> None:
    pairs = [
        (text, back)
        for text in (theme.text, theme.muted)
        for back in (theme.window, theme.base, theme.raised, theme.hover)
    ]
    pairs += [(theme.text, theme.pressed), (theme.text, theme.accent_soft)]
    pairs += [(theme.on_accent, theme.accent), (theme.accent, theme.base)]
    for role in ("error", "warning", "ok"):
        soft = getattr(theme, f"{role}_soft")
        pairs += [(getattr(theme, role), soft), (getattr(theme, role), theme.base)]
        pairs += [(theme.text, soft)]
    for style in theme.fates.values():
        pairs += [(style.colour, style.fill), (style.colour, theme.base)]
    too_low = [(a, b, round(contrast(a, b), 2)) for a, b in pairs if contrast(a, b) < 4.5]
    assert too_low == []


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES.keys())
def test_shapes_reach_three_to_one(theme: Theme) -> None:
    shapes = ["outline", "focus", "target", "drafter", "residual", "draw", "plain_rate"]
    shapes += [field.name for field in fields(Theme) if field.name.startswith("phase_")]
    too_low = [
        (shape, back)
        for shape in shapes
        for back in ("base", "window")
        if contrast(getattr(theme, shape), getattr(theme, back)) < 3
    ]
    assert too_low == []


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES.keys())
def test_each_fate_has_a_mark_and_colour_of_its_own(theme: Theme) -> None:
    assert list(theme.fates) == FATES
    marks = [style.mark for style in theme.fates.values()]
    assert len(set(marks)) == len(FATES)
    told_apart = [name for name in FATES if name not in ("discarded", "cut")]
    colours = {theme.fates[name].colour for name in told_apart}
    assert len(colours) == len(told_apart)


def test_contrast_knows_its_extremes() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#777777") == pytest.approx(1)


def test_theme_needs_no_qt() -> None:
    code = "import sys, app.theme; raise SystemExit('PySide6' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
