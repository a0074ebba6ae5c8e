"""A trace as one HTML page that replays it offline: no request leaves it, no token can be markup.

Knows how the page's parts are put together and guarded. What the page holds is `replay`'s, how it
looks `page.css` and the theme's, how it moves the scripts'.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from importlib import resources
from typing import TYPE_CHECKING

import msgspec

from app.export.replay import MAX_ROUNDS, build_replay
from app.export.styles import icon, style_sheet
from app.theme import DARK, LIGHT
from app.viewmodels.court import ONE_HOT_TARGET, RAW_LAW, UNOBSERVED
from app.viewmodels.meanings import MEANINGS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from app.export.options import Options, Progress
    from app.export.portion import Events
    from app.export.source import Source
    from app.theme import Theme

# In the order in which they are read: each uses what stands before it.
SCRIPTS = ("dom", "clock", "strip", "court", "tip", "figures", "overview", "page")

# What the court says of the bars.
_NOTES = {"raw": RAW_LAW, "one_hot": ONE_HOT_TARGET, "unobserved": UNOBSERVED}

_PLACE = re.compile(r"\{\{(\w+)\}\}")
# What could end the data's element, begin another, or break a line of script.
_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def write_html(source: Source, out: Path, options: Options, progress: Progress) -> None:
    """Write the replay page of a trace."""
    page = render_html(
        source.document.events,
        max_rounds=options.most_rounds or MAX_ROUNDS,
        notices=source.notices,
    )
    out.write_bytes(page.encode())


def render_html(
    events: Events,
    light: Theme = LIGHT,
    dark: Theme = DARK,
    *,
    max_rounds: int = MAX_ROUNDS,
    notices: Sequence[str] = (),
) -> str:
    """Return the page that replays these events.

    Parameters
    ----------
    events
        Of one run, in order; may decode lazily.
    light, dark
        The colours; the page follows the viewer's system and has a switch.
    max_rounds
        A longer run is shown up to here, and the page says so.
    notices
        Sentences to show above the replay.
    """
    replay = build_replay(events, max_rounds=max_rounds, notices=notices)
    fates = {
        name: {"mark": fate.mark, "label": fate.label, "meaning": MEANINGS[name]}
        for name, fate in light.fates.items()
    }
    data = {"fates": fates, "notes": _NOTES, **msgspec.to_builtins(replay)}
    style = style_sheet(light, dark, _part("page.css"))
    script = _script()
    names = [name for name in (replay.header.target, replay.header.drafter) if name]
    return _fill(
        _part("page.html"),
        {
            "policy": _policy(style, script),
            "generator": "Draftscope",
            "title": html.escape(f"Draftscope replay: {' and '.join(names)}"),
            "icon": icon(light),
            "style": style,
            "data": json_for_html(data),
            "script": script,
        },
    )


def json_for_html(data: object) -> str:
    """Return JSON that is inert inside a script element, whatever its strings hold."""
    return msgspec.json.encode(data).decode().translate(_ESCAPES)


def _fill(template: str, values: Mapping[str, str]) -> str:
    """Fill each {{place}} once, in one pass: what is filled in is never looked at again."""
    return _PLACE.sub(lambda place: values[place[1]], template)


def _part(name: str) -> str:
    return resources.files("app.export").joinpath(name).read_text("utf-8")


def _script() -> str:
    body = "\n".join(_part(f"{name}.js") for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{body}\n}})();\n'


def _policy(style: str, script: str) -> str:
    """Return a policy under which only this style, this script and embedded fonts do anything."""
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "font-src data:; img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
