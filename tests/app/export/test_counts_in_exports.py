"""Every export counts alike: emitted tokens are the text's, accepted ones at most the drafted."""

from __future__ import annotations

import csv
import json
import re
from typing import TYPE_CHECKING

import pytest
from pptx import Presentation

from engine.trace.events import FinishReason, Round
from engine.trace.reader import read_trace
from engine.trace.text import text_of
from tests.app.export.looking import unpacked
from tests.app.export.trials import exported, write
from tests.traces import make_trace

if TYPE_CHECKING:
    from pathlib import Path

    from engine.trace.events import Event

Counts = tuple[int, int, int]  # drafted but for cut ones, accepted, emitted


@pytest.fixture(params=[FinishReason.END_TOKEN, FinishReason.LIMIT, FinishReason.CANCELLED])
def events(request: pytest.FixtureRequest) -> list[Event]:
    """A run whose last round is cut where its reason allows it."""
    return make_trace(rounds=14, k=4, seed=5, temperature=1.0, reason=request.param)


def counted(events: list[Event]) -> Counts:
    rounds = [event for event in events if isinstance(event, Round)]
    drafted = sum(one.accepted + one.rejected + one.discarded for one in rounds)
    return drafted, sum(one.accepted for one in rounds), sum(one.emitted for one in rounds)


def in_tokens(path: Path) -> Counts:
    with path.open(encoding="utf-8-sig", newline="") as file:
        fates = [(row["fate"], row["emitted"]) for row in csv.DictReader(file)]
    own = [fate for fate, _ in fates if fate in ("accepted", "rejected", "discarded")]
    emitted = sum(yes == "yes" for _, yes in fates)
    return len(own), own.count("accepted"), emitted


def in_rounds(path: Path) -> Counts:
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    names = ("accepted", "rejected", "discarded")
    accepted, rejected, discarded = (sum(int(row[name]) for row in rows) for name in names)
    return accepted + rejected + discarded, accepted, sum(int(row["emitted"]) for row in rows)


def in_timeline(path: Path) -> Counts:
    told = json.loads(path.read_text("utf-8"))
    rounds = [one["args"] for one in told["traceEvents"] if one.get("cat") == "round"]
    names = ("accepted", "rejected", "discarded")
    accepted, rejected, discarded = (sum(one[name] for one in rounds) for name in names)
    return accepted + rejected + discarded, accepted, sum(one["emitted"] for one in rounds)


def in_page(path: Path) -> Counts:
    final = unpacked(path.read_text("utf-8"))["final"]
    return final["drafted"], final["accepted"], final["emitted"]


def in_session(path: Path) -> Counts:
    return counted(read_trace(path))


def in_summary(path: Path) -> Counts:
    page = path.read_text("utf-8")
    return _told(page, r"\| draft yield .*?\| (\d+)/(\d+) drafted", r"\| (\d+)/\d+ passes")


def in_slides(path: Path) -> Counts:
    deck = Presentation(str(path))
    cells = [
        " ".join(cell.text for cell in row.cells)
        for slide in deck.slides
        for shape in slide.shapes
        if shape.has_table
        for row in shape.table.rows
    ]
    return _told("\n".join(cells), r"draft yield .*? (\d+)/(\d+) drafted", r"(\d+) emitted / \d+ r")


def _told(text: str, kept: str, emitted: str) -> Counts:
    shares, sums = re.search(kept, text), re.search(emitted, text)
    assert shares is not None, text
    assert sums is not None, text
    return int(shares[2]), int(shares[1]), int(sums[1])


READERS = {
    "csv": in_tokens,
    "rounds.csv": in_rounds,
    "perfetto.json": in_timeline,
    "html": in_page,
    "jsonl": in_session,
    "jsonl.zst": in_session,
    "md": in_summary,
    "pptx": in_slides,
}


@pytest.mark.case("E19")
@pytest.mark.parametrize("name", READERS)
def test_counts_are_those_of_the_rounds(tmp_path: Path, events: list[Event], name: str) -> None:
    trace = write(tmp_path / "t.jsonl", events)
    expected = counted(events)
    assert 0 < expected[1] <= expected[0]
    out = tmp_path / f"out.{name}"
    exported(trace, out, name)
    assert READERS[name](out) == expected
    if name == "html":
        assert unpacked(out.read_text("utf-8"))["text"] == text_of(events)
