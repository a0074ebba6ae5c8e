"""The Markdown summary, read by a CommonMark parser that we did not write."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt  # comes with the tests' own tools

from app.export.markdown import escaped, paragraph, table
from app.export.options import Options
from app.viewmodels.characters import written
from engine.trace.events import FinishReason, Round
from engine.trace.statistics import statistics
from tests.app.export.trials import exported, hostile, marked, several, write
from tests.traces import make_trace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from engine.trace.events import Event

ALLOWED = {
    *("h1", "h2", "h3", "p", "ul", "li", "blockquote", "br"),
    *("table", "thead", "tbody", "tr", "th", "td"),
    *("ins", "del", "em", "strong", "sub"),
}


class Reading(HTMLParser):
    """What a browser makes of the rendered page: elements, and texts with where they stand."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self.texts: list[tuple[tuple[str, ...], str]] = []
        self.rows: list[list[str]] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag == "br":
            self.handle_data("\n")
            return
        self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag, "elements are closed in order"

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def handle_data(self, data: str) -> None:
        self.texts.append((tuple(self._open), data))
        if any(tag in ("td", "th") for tag in self._open):
            self.rows[-1][-1] += data


def rendered(text: str) -> Reading:
    return Reading(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text))


def summary(
    tmp_path: Path, events: Sequence[Event], options: Options | None = None
) -> tuple[str, Reading]:
    trace = write(tmp_path / "run.jsonl", events)
    text = exported(trace, tmp_path / "out.md", "md", options).decode()
    return text, rendered(text)


def plain(text: str) -> str:
    return " ".join(text.replace("\xa0", " ").split())


def test_hostile_session_makes_no_element_of_its_own(tmp_path: Path) -> None:
    text, page = summary(tmp_path, hostile(rounds=60))
    assert page.elements <= ALLOWED
    assert page.attributes <= {"style"}  # of a column's side
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
    assert page.rows[1][1].startswith("=evil<b>|`x` (")


@given(st.text())
def test_escaped_text_reads_as_it_was(text: str) -> None:
    text = text.replace("\r", "")
    for line in (f"word {escaped(text)} word", f"# word {escaped(text)} word"):
        page = rendered(line)
        assert page.elements <= {"p", "h1", "br"}
        shown = "".join(part for _, part in page.texts)
        assert plain(shown) == plain(f"word {written(text)} word".replace("\t", " "))


_MARKUP = st.sampled_from(
    [*"*_`~[]()<>!#-+=|\\&;:/$\n 1.", "http://", "www.", "&amp;", "<b>", "]: ", "```", "    "]
)


@given(st.lists(_MARKUP, max_size=14).map("".join))
def test_mixtures_of_markup_stay_text(text: str) -> None:
    page = rendered(paragraph(text) + "\n")
    assert page.elements <= {"p", "br"}
    assert plain("".join(part for _, part in page.texts)) == plain(text)
    cells = rendered(table(["a", "b"], [[text, "end"]])).rows
    assert [plain(cell) for cell in cells[1]] == [plain(text), "end"]


def test_text_with_its_fates_is_there_whole(tmp_path: Path) -> None:
    events = make_trace(rounds=30, seed=6, temperature=1.0, reason=FinishReason.LIMIT)
    _, page = summary(tmp_path, events)
    start = next(n for n, (_, t) in enumerate(page.texts) if t.startswith("Emitted, with"))
    by_fate: dict[tuple[str, ...], str] = {}
    for tags, text in page.texts[start + 1 :]:
        by_fate[tags[1:]] = by_fate.get(tags[1:], "") + text
    rounds = [event for event in events if isinstance(event, Round)]
    kept = "".join("".join(one.texts[: one.accepted]) for one in rounds)
    assert plain(by_fate["ins",]) == plain(written(kept))
    assert {("ins",), ("del",), ("del", "em"), ("strong",), ("strong", "em")} <= set(by_fate)


def test_figures_are_the_panels_own(tmp_path: Path) -> None:
    events = make_trace(rounds=30, seed=6, temperature=1.0)
    figures = statistics(events)
    _, page = summary(tmp_path, events)
    rows = {(row[0], row[2]): row for row in page.rows if len(row) == 5}
    assert rows["acceptance", "measured"][1] == f"{100 * (figures.acceptance or 0):.1f} %"
    assert rows["acceptance", "measured"][3] == f"{figures.accepted}/{figures.tested} tested"
    assert rows["speed-up", "measured"][1] == f"{figures.speedup:.2f}×"
    assert rows["speed-up", "predicted"][4].startswith("(1 - a^(k+1))")
    assert all(row[4] for row in rows.values()), "every figure has its definition"
    positions = [row for row in page.rows if len(row) == 3 and "/" in row[2]][1:]
    assert [row[2] for row in positions] == [
        f"{one.accepted}/{one.tested}" for one in figures.positions
    ]
    lengths = next(n for n, row in enumerate(page.rows) if row[0] == "accepted tokens in a round")
    counted = [int(row[1]) for row in page.rows[lengths + 1 :][: len(figures.accepted_lengths)]]
    assert tuple(counted) == figures.accepted_lengths


def test_markers_title_and_note_are_told(tmp_path: Path) -> None:
    text, page = summary(tmp_path, marked(make_trace()))
    assert text.startswith("# A talk\n\nWhat it is about.\n")
    assert ["round 2", "Look here", "The first rejection."] in page.rows
    assert ["the prompt", "Before", ""] in page.rows
    (tmp_path / "out.md").unlink()
    assert summary(tmp_path, make_trace(), Options(title="Mine"))[0].startswith("# Mine\n")


def test_runs_stand_side_by_side(tmp_path: Path) -> None:
    text, page = summary(tmp_path, several(3))
    assert page.rows[0] == ["", "run 1", "run 2", "run 3"]
    assert ["seed", "0", "1", "2"] in page.rows
    assert text.count("\n### Run ") == 3
    figures = next(row for row in page.rows if row[0] == "acceptance")
    assert len(figures) == 7


@pytest.mark.parametrize(
    "events",
    [
        make_trace()[:1],
        make_trace(rounds=1, drafter="none", top_n=0, baseline=False, probe_every=0),
        make_trace(rounds=3, paced=True),
    ],
)
def test_odd_runs_have_a_summary(tmp_path: Path, events: list[Event]) -> None:
    _, page = summary(tmp_path, events)
    assert page.elements <= ALLOWED
    assert any(row[0] == "acceptance" for row in page.rows)


def test_torn_file_is_said(tmp_path: Path) -> None:
    trace = write(tmp_path / "run.jsonl", make_trace(rounds=4))
    trace.write_bytes(trace.read_bytes()[:-9])
    text = exported(trace, tmp_path / "out.md", "md").decode()
    assert "\n> The last event of run.jsonl is incomplete" in text
