"""The page's style sheet: fonts, the theme's colours as custom properties, then page.css.

Knows the names of the theme's roles. All colours come from `app.theme`; page.css has none.
"""

from __future__ import annotations

import base64
from dataclasses import fields
from typing import TYPE_CHECKING
from urllib.parse import quote

from app.assets import asset_path

if TYPE_CHECKING:
    from app.theme import Theme

_FONTS = (
    ("Draftscope Sans", "100 900", "fonts/web/inter-latin.woff2"),
    ("Draftscope Code", "100 800", "fonts/web/jetbrains-mono-latin.woff2"),
)


def style_sheet(light: Theme, dark: Theme, page_css: str) -> str:
    """Return the whole style sheet."""
    dark_rules = _properties(dark)
    return "\n".join(
        [
            *font_faces(),
            f":root {{ {_properties(light)} }}",
            f"@media (prefers-color-scheme: dark) {{ :root {{ {dark_rules} }} }}",
            f':root[data-theme="light"] {{ {_properties(light)} }}',
            f':root[data-theme="dark"] {{ {dark_rules} }}',
            f"@media print {{ :root:root:root {{ {_properties(light)} }} }}",
            *(
                f".fate-{name} {{ --ink: var(--fate-{name}); --fill: var(--fill-{name}); }}"
                for name in light.fates
            ),
            page_css,
        ]
    )


def font_faces() -> tuple[str, ...]:
    """Return rules that hold the bundled typefaces themselves, for what stands alone."""
    return tuple(_font_face(*font) for font in _FONTS)


def icon(theme: Theme) -> str:
    """Return a small picture for the browser's tab as a data URL."""
    fates = theme.fates
    bars = "".join(
        f'<rect x="{x}" y="{y}" width="7" height="{h}" rx="2" fill="{colour}"/>'
        for x, y, h, colour in (
            (3, 12, 17, fates["accepted"].colour),
            (12, 6, 23, fates["accepted"].colour),
            (21, 16, 13, fates["rejected"].colour),
        )
    )
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">{bars}</svg>'
    return "data:image/svg+xml," + quote(svg)


def _properties(theme: Theme) -> str:
    roles = {
        field.name.replace("_", "-"): getattr(theme, field.name)
        for field in fields(theme)
        if field.name not in ("name", "fates")
    }
    for name, fate in theme.fates.items():
        roles[f"fate-{name}"] = fate.colour
        roles[f"fill-{name}"] = fate.fill
    listed = "; ".join(f"--{name}: {colour}" for name, colour in roles.items())
    return f"color-scheme: {theme.name}; {listed}"


def _font_face(family: str, weights: str, name: str) -> str:
    data = base64.b64encode(asset_path(name).read_bytes()).decode()
    return (
        f'@font-face {{ font-family: "{family}"; font-weight: {weights}; font-display: block; '
        f'src: url("data:font/woff2;base64,{data}") format("woff2"); }}'
    )
