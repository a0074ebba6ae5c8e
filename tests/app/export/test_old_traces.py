"""A session that the first Draftscope recorded: it opens, it follows, it exports.

`tests/data/recorded-0.1.0-broken-off.jsonl.zst` holds the first 59 lines of the session that was
recorded before a prompt could be left out, texts of a baseline were kept, or a draft said why it
was short: as a journal that a crash left behind.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from app.export.exporting import export
from app.export.formats import FORMATS, format_named
from app.export.options import Options
from app.export.source import open_source
from engine.check.trace import check_trace
from engine.trace.events import Round
from engine.trace.reader import TraceReader

OLD = Path(__file__).parent.parent.parent / "data" / "recorded-0.1.0-broken-off.jsonl.zst"


def test_it_is_of_before_and_small() -> None:
    lines = TraceReader(OLD).plain.read_bytes().splitlines()
    assert len(lines) == 59
    assert b'"version":"0.1.0"' in lines[0]
    assert not any(b"draft_end" in line or b'"withheld"' in line for line in lines)
    assert OLD.stat().st_size < 60_000


@pytest.mark.case("E18")
def test_it_opens_whole() -> None:
    source = open_source(OLD)
    assert source.notices == ()
    assert len(source.document.rounds) == 50
    assert source.document.tokens.text(50).startswith("Alright buddy")


def test_it_follows_from_its_own_numbers_as_far_as_it_goes() -> None:
    report = check_trace(TraceReader(OLD))
    assert report.findings == ()
    assert (report.rounds, report.emitted, report.finished) == (50, 89, False)


def test_its_figures_count_what_it_holds() -> None:
    document = open_source(OLD).document
    figures = document.figures_at(50)
    rounds = [event for event in TraceReader(OLD) if isinstance(event, Round)]
    assert figures.emitted == sum(one.emitted for one in rounds) == 89
    assert figures.tested == figures.accepted + figures.rejected


@pytest.mark.parametrize("name", ["html"])
def test_it_exports(tmp_path: Path, name: str) -> None:
    assert name in [one.name for one in FORMATS]
    out = tmp_path / f"out.{name}"
    export(OLD, out, format_named(name), Options())
    assert out.stat().st_size > 10_000
