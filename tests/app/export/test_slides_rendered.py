"""A deck as LibreOffice draws it, where LibreOffice is installed."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from pypdf import PdfReader

from tests.app.export.decks import make_deck, marked
from tests.traces import make_trace

if TYPE_CHECKING:
    from pathlib import Path

OFFICE = shutil.which("soffice")


def test_every_slide_is_drawn_with_its_text(tmp_path: Path) -> None:
    if OFFICE is None:
        pytest.skip("needs LibreOffice")
    events = marked(
        make_trace(rounds=12, temperature=0.7),
        {"round": 1, "phase": "verify", "slot": 0, "title": "Look here", "note": "Say this."},
    )
    made = make_deck(tmp_path, events, theme="dark")
    profile = (tmp_path / "profile").as_uri()
    command = [OFFICE, f"-env:UserInstallation={profile}", "--headless", "--convert-to", "pdf"]
    command += ["--outdir", str(tmp_path), str(made.path)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    pages = PdfReader(tmp_path / "deck.pdf").pages
    assert len(pages) == len(made.slides)
    shown = [" ".join(page.extract_text().split()) for page in pages]
    assert "Say this." in shown[1]
    for page, title in zip(shown, made.titles, strict=True):
        assert title.split(":")[0] in page
    assert "acceptance" in shown[-1]
    assert "p_target" in shown[1]
