"""Invariant 4: a trace alone redraws every picture. No weights, no torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from app.assets import asset_path

PROGRAM = Path(__file__).with_name("drawing_panels.py")
ROOT = PROGRAM.parents[2]
RECORDED = sorted(asset_path("demos").glob("*.jsonl.zst"))
PANELS = {
    "StripView",
    "CourtView",
    "AcceptanceView",
    "ThroughputView",
    "TimelineView",
    "CachesView",
}


def test_a_session_is_recorded() -> None:
    assert RECORDED


@pytest.mark.parametrize("session", RECORDED, ids=lambda path: path.stem)
def test_a_trace_alone_redraws_every_picture(session: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.app.drawing_panels", str(session)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = {
        name: (int(n), int(moved)) for name, n, moved in map(str.split, done.stdout.splitlines())
    }
    assert found.keys() == PANELS
    for name, (colours, moved) in found.items():
        assert colours > 12, name
        assert moved > 2_000, name  # pixels that are not those of an empty document
