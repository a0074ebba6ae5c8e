"""Every kind of run has its deck: what is told, which title, several runs, none of its rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from app.export.slide_told import most_telling
from app.viewmodels.document import Document
from engine.errors import DraftscopeError
from engine.trace.events import Baseline, Comparison, Event, Probe, Round
from tests.app.export.decks import charts, make_deck, marked, text_of, values
from tests.app.importing.imports import imported
from tests.app.importing.texts import VLLM_LINE
from tests.traces import make_trace

if TYPE_CHECKING:
    from pathlib import Path

    from pptx.slide import Slide


def test_the_title_can_be_chosen_and_is_the_sessions_or_the_models(tmp_path: Path) -> None:
    events = make_trace(rounds=2, temperature=0.7)
    assert make_deck(tmp_path, events).titles[0] == "tiny-drafter drafts for tiny-target"
    named = marked(events, title="A talk")
    assert make_deck(tmp_path, named).titles[0] == "A talk"
    made = make_deck(tmp_path, named, title="Another")
    assert made.titles[0] == made.deck.core_properties.title == "Another"


def test_a_marker_of_a_draft_shows_what_is_pending(tmp_path: Path) -> None:
    events = marked(make_trace(rounds=5, temperature=0.7), {"round": 3, "phase": "draft"})
    slide = make_deck(tmp_path, events).slide("Round 4, drafted")
    assert "pending" in text_of(slide)
    assert "Round 4, drafted token 1" in text_of(slide)
    assert list(values(charts(slide)["Court"])) == ["q_draft"]  # the target has not spoken yet


def test_the_round_that_is_told_can_be_chosen(tmp_path: Path) -> None:
    events = make_trace(rounds=9, temperature=0.7)
    made = make_deck(tmp_path, events, told="1")
    told = [title for title in made.titles if title.startswith("Round 1: ")]
    assert any("a bonus" in title for title in told)
    assert not any(title.startswith("Round 2: ") for title in made.titles)
    with pytest.raises(DraftscopeError, match="before the first round"):
        make_deck(tmp_path, events, told="start")


def test_the_most_telling_round_has_a_rejection_in_its_middle() -> None:
    events = make_trace(rounds=30, temperature=0.9, k=6, seed=2)
    found = most_telling(Document(events))
    assert found is not None
    rounds = [event for event in events if isinstance(event, Round)]

    def tells(one: Round) -> bool:
        return bool(one.accepted and one.rejected and one.discarded)

    assert tells(rounds[found])
    assert not any(tells(one) for one in rounds[:found])


def without(events: list[Event], *kinds: type) -> list[Event]:
    return [event for event in events if not isinstance(event, kinds)]


@pytest.mark.parametrize(
    ("events", "least"),
    [
        (without(make_trace(rounds=1), Round, Baseline, Comparison, Probe), 4),
        (make_trace(rounds=1, temperature=0.7), 9),
        (make_trace(rounds=12), 9),
        (make_trace(rounds=12, temperature=0.7, top_n=0, k=12, baseline=False, probe_every=0), 9),
        (make_trace(rounds=12, drafter="ngram", k=9, temperature=0.7), 9),
        (make_trace(rounds=9, paced=True), 9),
        (make_trace(rounds=6, k=0, temperature=0.7), 7),
    ],
    ids=["no rounds", "one round", "greedy", "not observed", "n-gram", "paced", "k is 0"],
)
def test_every_kind_of_run_has_its_deck(tmp_path: Path, events: list[Event], least: int) -> None:
    made = make_deck(tmp_path, marked(events, {"round": 0}, {"round": 99, "slot": 7}))
    assert len(made.slides) >= least
    assert made.titles[-1].startswith("How this was measured")
    blind = made.source.started.top_n == 0
    assert blind != any("Court" in charts(slide) for slide in made.slides) or not len(
        made.source.document.rounds
    )


def test_several_runs_stand_side_by_side(tmp_path: Path) -> None:
    events = [
        *make_trace(rounds=12, temperature=0.7, seed=3),
        *make_trace(rounds=9, temperature=0.7, seed=4),
    ]
    made = make_deck(tmp_path, events)
    slide = made.slide("2 runs of one recording")
    table = next(shape.table for shape in slide.shapes if shape.has_table)
    assert len(table.rows) == 3
    for row, run in zip(list(table.rows)[1:], made.source.runs, strict=True):
        acceptance = run.figures_at(len(run.rounds)).acceptance
        assert row.cells[3].text_frame.text == f"{100 * acceptance:.1f} %"
    rates = [run.figures_at(len(run.rounds)).tokens_per_second for run in made.source.runs]
    assert values(charts(slide)["Tokens per second"])["this run"] == rates


def test_a_marked_round_with_a_rejection_is_told_before_others() -> None:
    events = make_trace(rounds=30, temperature=0.9, k=6, seed=2)
    first = most_telling(Document(events))
    rounds = [event for event in events if isinstance(event, Round)]
    kept = next(one for one in rounds if one.drafted and not one.rejected)
    late = [one for one in rounds if one.rejected and one.index != first][-1]
    start, end = {"round": -1}, {"round": len(rounds) - 1}
    at_rejection = marked(events, start, {"round": kept.index}, {"round": late.index}, end)
    told = most_telling(Document(at_rejection))
    assert told in (late.index, len(rounds) - 1)
    assert told is not None
    assert rounds[told].rejected
    beside = marked(events, start, {"round": kept.index})
    assert most_telling(Document(beside)) == first


def test_an_imported_run_stands_beside_the_told_one_with_what_it_lacks(tmp_path: Path) -> None:
    counted = imported(tmp_path, VLLM_LINE)
    slide = make_deck(tmp_path, [*make_trace(rounds=5), *counted]).slide("2 runs of one recording")
    (table,) = [shape.table for shape in slide.shapes if shape.has_table]
    rows = [[cell.text for cell in row.cells] for row in table.rows]
    assert [len(row) for row in rows] == [8, 8, 8]
    assert rows[2][2].startswith("imported from vLLM")
    assert rows[2][3] == "70.5 %"  # 146 accepted of 207 tested
    assert rows[2][5:] == ["–", "–", "–"]  # it tells no rate, no plain target and no speed-up
    assert "run 2: not known" in " ".join(spoken(slide))
    assert "run 2: 0.0" not in " ".join(spoken(slide))


def spoken(slide: Slide) -> list[str]:
    """Return what is said of each shape to whoever cannot see it."""
    return [str(found) for found in slide._element.xpath("//p:cNvPr/@descr")]
