"""A trace as one HTML page that replays it offline: no request leaves it, no token can be markup.

Knows how the page's parts are put together and guarded. What the page holds is `replay`'s, how it
looks the style sheets' and the theme's, how it moves the scripts'.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from importlib import resources
from typing import TYPE_CHECKING

import msgspec

from app.export.options import Options, silent
from app.export.packing import pack
from app.export.race import run_names, runs_race
from app.export.replay import MAX_ROUNDS, replay_of, source_of
from app.export.styles import icon, style_sheet
from app.theme import DARK, LIGHT
from app.viewmodels.court import ONE_HOT_TARGET, RAW_LAW, UNOBSERVED
from app.viewmodels.document import Document
from app.viewmodels.meanings import MEANINGS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from app.export.options import Progress
    from app.export.source import Source
    from app.theme import Theme
    from engine.trace.events import Event

# In the order in which they are read: each uses what stands before it.
SCRIPTS = (
    *("dom", "unpack", "clock", "strip", "arrow", "court", "tip", "figures", "overview"),
    *("markers", "predict", "race", "about", "screen", "player", "links", "keys", "page"),
)
STYLES = ("base", "text", "court", "panels", "race", "surroundings")

# What the court says of the bars.
_NOTES = {"raw": RAW_LAW, "one_hot": ONE_HOT_TARGET, "unobserved": UNOBSERVED}

_PLACE = re.compile(r"\{\{(\w+)\}\}")
_RUN = '<script type="application/octet-stream" id="run-{}">{}</script>'


def write_html(source: Source, out: Path, options: Options, progress: Progress) -> None:
    """Write the replay page of a trace."""
    out.write_bytes(render_page(source, options, progress).encode())


def render_html(
    events: Sequence[Event], *, max_rounds: int = MAX_ROUNDS, notices: Sequence[str] = ()
) -> str:
    """Return the page that replays these events of one run."""
    source = source_of(Document(events), notices)
    return render_page(source, Options(most_rounds=max_rounds))


def render_page(
    source: Source,
    options: Options,
    progress: Progress = silent,
    *,
    light: Theme = LIGHT,
    dark: Theme = DARK,
) -> str:
    """Return the page that replays a source's runs, the chosen one first.

    Parameters
    ----------
    light, dark
        The colours; the page follows the viewer's system, unless a theme was chosen, and has a
        switch.
    """
    most = options.most_rounds or MAX_ROUNDS
    packed, title = {}, ""
    for place, document in enumerate(source.runs):
        chosen = place == source.chosen
        named = options.title if chosen else None
        replay = replay_of(source, document, max_rounds=most, title=named, progress=progress)
        told: object = replay
        if chosen:
            names = [name for name in (replay.header.target, replay.header.drafter) if name]
            title = replay.header.title or f"Draftscope replay: {' and '.join(names)}"
            told = {**_common(source, light, most), **msgspec.to_builtins(replay)}
        packed[place] = pack(told)
    style = style_sheet(light, dark, "\n".join(_part(f"{name}.css") for name in STYLES))
    script = _script()
    others = [place for place in packed if place != source.chosen]
    theme = f' data-theme="{options.theme}"' if options.theme else ""
    return _fill(
        _part("page.html"),
        {
            "theme": theme,
            "policy": _policy(style, script),
            "generator": "Draftscope",
            "title": html.escape(title),
            "icon": icon(light),
            "style": style,
            "data": packed[source.chosen],
            "runs": "".join(_RUN.format(place, packed[place]) for place in others),
            "script": script,
        },
    )


def _common(source: Source, theme: Theme, rounds: int) -> dict[str, object]:
    """Return what the page holds once, whichever run is shown."""
    race = runs_race(source.runs, rounds)
    return {
        "fates": {
            name: {"mark": fate.mark, "label": fate.label, "meaning": MEANINGS[name]}
            for name, fate in theme.fates.items()
        },
        "notes": _NOTES,
        "runs": run_names(source.runs),
        "chosen": source.chosen,
        "runs_race": None if race is None else msgspec.to_builtins(race),
    }


def _fill(template: str, values: Mapping[str, str]) -> str:
    """Fill each {{place}} once, in one pass: what is filled in is never looked at again."""
    return _PLACE.sub(lambda place: values[place[1]], template)


def _part(name: str) -> str:
    return resources.files("app.export").joinpath("page", name).read_text("utf-8")


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
