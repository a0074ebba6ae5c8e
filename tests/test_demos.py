"""The recorded sessions are talks that can be given: what is said of them is true of their runs."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from app.export.source import Source, open_source
from engine.check.trace import RunsChecker
from engine.trace.events import ClosingKind, Fate
from engine.trace.markers import Marker, SessionNote
from engine.trace.reader import TraceReader
from engine.trace.text import text_of

if TYPE_CHECKING:
    from app.viewmodels.document import Document
    from engine.trace.figures import Figures

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "assets" / "demos"
NAMES = (
    "1-copying",
    "2-code",
    "3-story",
    "4-failure",
    "5-head-or-small",
    "6-k-too-long",
    "7-change",
    "8-french",
)


def path_of(name: str) -> Path:
    return FOLDER / f"{name}.jsonl.zst"


@cache
def source_of(name: str) -> Source:
    return open_source(path_of(name))


def runs_of(name: str) -> tuple[Document, ...]:
    return source_of(name).runs


def figures_of(name: str) -> list[Figures]:
    return [run.statistics.figures() for run in runs_of(name)]


@cache
def script() -> Any:
    """Return packaging/demos.py, which is no package's module."""
    spec = importlib.util.spec_from_file_location("demos", ROOT / "packaging" / "demos.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["demos"] = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    spec.loader.exec_module(module)
    sys.path[:] = before
    return module


def said(name: str, title: str, run: int = 0) -> Marker:
    """Return the marker of a title."""
    return next(marker for marker in runs_of(name)[run].markers if marker.title == title)


def test_gallery_has_eight_sessions_of_at_most_200_kb_packed() -> None:
    found = sorted(FOLDER.iterdir())
    assert [path.name for path in found] == [f"{name}.jsonl.zst" for name in NAMES]
    assert all(path.stat().st_size < 200_000 for path in found)


@pytest.mark.parametrize("name", NAMES)
def test_recorded_session_holds_its_laws(name: str) -> None:
    checker = RunsChecker()
    for event in TraceReader(path_of(name)):
        checker.add(event)
    reports = checker.reports()
    assert len(reports) == len(runs_of(name))
    assert not any(report.findings for report in reports)


@pytest.mark.parametrize("name", NAMES)
def test_every_run_has_a_title_a_note_and_markers_that_stand_somewhere(name: str) -> None:
    for run in runs_of(name):
        assert run.session_note.title
        assert run.session_note.note
        assert len(run.markers) >= 3
        moments = [(marker.round, marker.phase) for marker in run.markers]
        assert len(set(moments)) == len(moments)
        for marker in run.markers:
            assert marker.title
            assert marker.note
            assert -1 <= marker.round < len(run.rounds)
            if marker.slot is not None:
                one = run.rounds[marker.round]
                assert marker.slot < len(one.drafted)
                assert marker.slot >= 0 or (one.closing is not None and marker.phase == "done")


@pytest.mark.parametrize("name", NAMES)
def test_marking_anew_finds_every_moment_and_says_what_is_said(name: str) -> None:
    (demo,) = script().talks([name])
    anew = script().told_anew(path_of(name), demo)
    assert [event for events in anew for event in events] == list(TraceReader(path_of(name)))
    for take, events in zip(demo["take"], anew, strict=True):
        run = take.get("name")
        asked = [mark for mark in demo["mark"] if mark.get("take", run) == run]
        assert sum(isinstance(event, Marker) for event in events) == len(asked)


def test_marking_anew_keeps_every_line_of_the_run(tmp_path: Path) -> None:
    name = NAMES[4]
    (demo,) = script().talks([name])
    demo |= {"title": "Another title", "about": "Another note.", "mark": demo["mark"][:1]}
    written = script().write(tmp_path, demo, script().told_anew(path_of(name), demo))
    kept = [
        [event for event in TraceReader(path) if not isinstance(event, Marker | SessionNote)]
        for path in (path_of(name), written)
    ]
    assert kept[0] == kept[1]
    source = open_source(written)
    assert source.note.title == "Another title: head"
    assert [len(run.markers) for run in source.runs] == [1, 1]


def test_copying_is_drafted_by_look_up_and_faster_than_plain() -> None:
    (run,), (figures,) = runs_of("1-copying"), figures_of("1-copying")
    assert run.started is not None
    assert run.started.settings.drafter == "ngram"
    assert figures.speedup_low is not None
    assert figures.speedup_low > 1
    wrong = run.rounds[said("1-copying", "Found, and wrong").round]
    assert wrong.match is not None
    assert run.rounds[wrong.index - 1].texts[-1] == " list"
    assert [token.fate for token in wrong.drafted] == [Fate.REJECTED, *7 * [Fate.DISCARDED]]
    right = run.rounds[said("1-copying", "Found, and right").round]
    assert right.match is not None
    assert right.accepted == len(right.drafted)


def test_most_of_the_code_is_drafted_and_the_rejected_token_was_the_better_one() -> None:
    (run,), (figures,) = runs_of("2-code"), figures_of("2-code")
    assert figures.accepted > figures.emitted / 2
    one = run.rounds[said("2-code", "The rejected token was the better one").round]
    assert b"".join(token.piece for token in one.drafted).startswith(b"stack.pop")
    assert "return self.pop()" in text_of(run.events)


def test_story_is_sampled_and_its_close_call_is_told_before_its_residual() -> None:
    (run,) = runs_of("3-story")
    assert run.started is not None
    assert run.started.settings.temperature == 1
    call, left = said("3-story", "A close call"), said("3-story", "Drawn from what is left")
    assert call.round == left.round
    one = run.rounds[call.round]
    assert call.slot is not None
    token = one.drafted[call.slot]
    assert token.fate is Fate.REJECTED
    assert token.u is not None
    assert f"{token.u:.3f}" in call.note
    assert one.discarded
    assert one.closing is not None
    assert one.closing.kind is ClosingKind.CORRECTION


def test_failure_keeps_next_to_nothing_and_is_slower_than_plain() -> None:
    (run,), (figures,) = runs_of("4-failure"), figures_of("4-failure")
    assert figures.acceptance is not None
    assert figures.acceptance < 0.2
    assert figures.speedup_high is not None
    assert figures.speedup_high < 1
    assert run.comparison is not None
    assert run.comparison.identical
    none = run.rounds[said("4-failure", "Nothing kept").round]
    assert [token.fate for token in none.drafted] == [Fate.REJECTED, *3 * [Fate.DISCARDED]]


def test_head_keeps_more_than_small_costs_more_and_comes_out_nearly_level() -> None:
    (head, small), (first, second) = runs_of("5-head-or-small"), figures_of("5-head-or-small")
    assert text_of(head.events) == text_of(small.events)
    assert first.acceptance is not None
    assert second.acceptance is not None
    assert first.acceptance > second.acceptance
    assert (first.tokens_per_pass or 0) > (second.tokens_per_pass or 0)
    assert (first.c or 0) > (second.c or 0)
    assert abs(first.round_ns / second.round_ns - 1) < 0.05
    for run in (head, small):
        at = run.markers[1].round
        assert run.rounds[at].accepted
        assert not any(run.rounds[index].accepted for index in range(at))


def test_twelve_a_round_takes_fewer_passes_than_two_and_more_time() -> None:
    (twelve, two), (many, few) = runs_of("6-k-too-long"), figures_of("6-k-too-long")
    assert twelve.started is not None
    assert two.started is not None
    assert (twelve.started.settings.k, two.started.settings.k) == (12, 2)
    assert many.rounds < few.rounds
    assert many.round_ns > few.round_ns
    kept = [position.accepted for position in many.positions]
    assert kept == sorted(kept, reverse=True)
    none = twelve.rounds[said("6-k-too-long", "Twelve drafted, none kept").round]
    assert [token.fate for token in none.drafted] == [Fate.REJECTED, *11 * [Fate.DISCARDED]]


def test_drafter_changes_twice_while_it_runs_and_the_text_is_the_target_s() -> None:
    (run,) = runs_of("7-change")
    assert [change.settings.drafter for change in run.changes] == ["head", "none"]
    places = [said("7-change", title).round for title in ("Now a head", "Now nobody drafts")]
    assert places == [change.before_round for change in run.changes]
    looked_up = [run.rounds[index] for index in range(places[0])]
    assert 2 * sum(not one.drafted for one in looked_up) == len(looked_up)
    assert run.rounds[places[0]].target_cache.before == run.rounds[places[0] - 1].target_cache.after
    assert run.comparison is not None
    assert run.comparison.identical


def test_french_mistake_is_the_target_s_own() -> None:
    (run,) = runs_of("8-french")
    assert run.started is not None
    assert "Chaque matin" in run.started.prompt
    assert run.baseline is not None
    assert run.baseline.text.startswith("La chère matin, l'été")
    at = said("8-french", "Whose mistake?").round
    opening = [run.rounds[index] for index in range(at + 1)]
    assert "".join(text for one in opening for text in one.texts) == "La chère"
    kinds = [one.closing.kind for one in opening if one.closing is not None]
    assert kinds == 3 * [ClosingKind.CORRECTION]
    assert not any(one.accepted for one in opening)
