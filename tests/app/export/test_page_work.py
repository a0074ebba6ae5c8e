"""How much the page does: counted in DOM changes, never in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.app.export.looking import VIRTUAL_TIME
from tests.traces import make_trace

if TYPE_CHECKING:
    from tests.app.export.looking import Open
    from tests.chromium import Page

pytestmark = pytest.mark.browser

COUNT_WORK = """(() => { window.work = 0; window.frames_ = 0;
    const observer = new MutationObserver((records) => { window.work += records.length; });
    observer.observe(document.documentElement,
        { subtree: true, childList: true, attributes: true, characterData: true });
    window.taken = () => { window.work += observer.takeRecords().length;
        const done = window.work; window.work = 0; return done; }; })()"""


def worked(page: Page) -> int:
    """DOM changes since the last call."""
    changes: int = page.evaluate("window.taken()")
    return changes


def test_a_beat_late_in_a_long_run_changes_as_little_as_an_early_one(replay: Open) -> None:
    page = replay(make_trace(rounds=2000, seed=3, temperature=0.8))
    page.evaluate(COUNT_WORK)
    early: list[int] = []
    for _ in range(12):
        page.key("ArrowDown")
        early.append(worked(page))
    page.key("End")
    for _ in range(4):
        page.key("ArrowLeft")
    worked(page)
    late: list[int] = []
    for _ in range(12):
        page.key("ArrowDown")
        late.append(worked(page))
    assert max(late) <= max(early) + 40
    assert max(late) < 300  # of 20,000 elements


def test_frames_without_a_beat_change_nothing(replay: Open) -> None:
    page = replay(make_trace(rounds=20, seed=3, temperature=0.8), prelude=VIRTUAL_TIME)
    page.key(" ")
    page.evaluate("pump(170)")  # the first token appears after 160 ms, the second after 320
    page.evaluate(COUNT_WORK)
    for _ in range(8):
        page.evaluate("pump(16)")
    assert worked(page) == 0
    page.evaluate("[pump(16), pump(16)] && 0")
    assert worked(page) > 0
