"""One browser for the export tests; every page of it must stay free of errors and requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from app.export.html import render_html, render_page
from app.export.options import Options
from app.export.source import Source
from tests.app.export.looking import READY
from tests.chromium import Chromium

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from engine.trace.events import Event
    from tests.chromium import Page


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Chromium]:
    with Chromium(chromium) as running:
        yield running


@pytest.fixture
def replay(browser: Chromium, tmp_path: Path) -> Iterator[Callable[..., Page]]:
    """Open the page of some events, or of a source with its options.

    Afterwards: no console message, no request but the file's.
    """
    opened: list[Page] = []

    def open_page(
        shown: Sequence[Event] | Source, export: Options | None = None, **options: Any
    ) -> Page:
        path = tmp_path / f"replay-{len(opened)}.html"
        if isinstance(shown, Source):
            path.write_text(render_page(shown, export or Options()), "utf-8")
        else:
            path.write_text(render_html(shown), "utf-8")
        page = browser.open(path, **options)
        opened.append(page)
        page.wait(READY)
        return page

    yield open_page
    for page in opened:
        page.evaluate("0")  # takes in what the browser still had to say
        assert page.errors == []
        assert [url for url in page.requests if not url.startswith("file:")] == []
        assert len(page.requests) == 1
        page.close()
