"""What the browser tests look for in the page, and what the window shows at the same moment."""

from __future__ import annotations

import base64
import json
import re
import zlib
from typing import TYPE_CHECKING, Any

import msgspec

from app.viewmodels.document import Document
from app.viewmodels.presentation import Presentation
from app.viewmodels.strip import StripModel
from engine.trace.events import Fate, Round

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.trace.events import Event
    from engine.trace.markers import Marker, SessionNote
    from tests.chromium import Page

    Open = Callable[..., Page]

READY = "document.documentElement.hasAttribute('data-ready')"
SHOWN_CHIPS = """[...document.querySelectorAll('#text .chip')].map((chip) => [
    Number(chip.dataset.round), Number(chip.dataset.slot),
    [...chip.classList].find((name) => name.startsWith('fate-')).slice(5)])"""
FIGURES = """[...document.querySelectorAll('.figure')].map((card) => [
    card.querySelector('strong').textContent, card.querySelector('.detail').textContent])"""

# Puts the page's clock into the test's hands: `pump(ms)` is one frame, that much later.
VIRTUAL_TIME = """(() => { let now = 0; let waiting = [];
    performance.now = () => now;
    window.requestAnimationFrame = (call) => waiting.push(call);
    window.pump = (ms) => { now += ms; const due = waiting; waiting = [];
        for (const call of due) call(now); }; })()"""


def unpacked(page: str) -> dict[str, Any]:
    """What a page holds, unpacked as a browser does."""
    (packed,) = re.findall(
        r'<script type="application/octet-stream" id="data">(.*?)</script>', page
    )
    data = zlib.decompress(base64.b64decode(packed, validate=True), -zlib.MAX_WBITS)
    held: dict[str, Any] = json.loads(data)
    return held


def text_at(page: Page, selector: str) -> str:
    found: str = page.evaluate(f"document.querySelector({json.dumps(selector)}).textContent")
    return found


def chips_of_window(strip: StripModel) -> list[list[object]]:
    """The chips that the window's strip shows at its presentation's cursor."""
    strip.refresh()
    return [[c.ref.round, c.ref.slot, c.fate] for c in strip.chips if not c.ref.in_prompt]


def window(events: Sequence[Event]) -> tuple[Presentation, StripModel]:
    document = Document(events)
    presentation = Presentation(document, speed=1.0)
    return presentation, StripModel(document, presentation)


def first_with_fate(events: Sequence[Event], fate: Fate) -> tuple[Round, int]:
    for event in events:
        if isinstance(event, Round):
            for slot, token in enumerate(event.drafted):
                if token.fate is fate:
                    return event, slot
    raise AssertionError(f"no token was {fate}")


def chip(one: Round, slot: int) -> str:
    return f'#text [data-round="{one.index}"][data-slot="{slot}"]'


def pump(page: Page, seconds: float) -> None:
    """Let presentation time pass in a page that was opened with `VIRTUAL_TIME`."""
    page.evaluate(f"(() => {{ for (let i = 0; i < {seconds * 4}; i += 1) pump(250); }})()")


def shown(page: Page, selector: str) -> bool:
    found: bool = page.evaluate(
        f"document.querySelector({json.dumps(selector)}).getClientRects().length > 0"
    )
    return found


def marked(events: Sequence[Event], *markers: Marker | SessionNote) -> list[Event]:
    """Events with markers of their run."""
    run = events[0].run
    return [*events, *(msgspec.structs.replace(marker, run=run) for marker in markers)]
