"""What the dialog holds becomes exactly the command that was meant, or a sentence why not."""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec
import pytest

from app.cli.export import asked_for
from app.cli.parser_export import add_export
from app.export import figure, film, gif, video
from app.export.formats import FORMATS
from app.export.options import Options
from app.viewmodels.document import Document
from app.viewmodels.export_plan import SIDES, ExportPlan, moments_offered, recalled
from app.viewmodels.presentation import Cursor
from engine.trace.markers import Marker
from tests.traces import make_trace

TRACE, OUT = Path("/t/session.jsonl"), Path("/t/-out")
NAMES = [made.name for made in FORMATS]

EVERYTHING = ExportPlan(
    theme="dark",
    size="phone",
    font_scale=1.25,
    title="--theme=light",
    captions=False,
    panel="court",
    at="3:verify:1",
    begin="2",
    end="5",
    speed=2.5,
    frame_rate=12.0,
    title_card=False,
    drafts=False,
    told="4",
    svg_text="outlines",
    most_rounds=7,
    run=1,
    withhold_prompt=True,
    withhold_machine=True,
)


def test_a_previews_size_is_what_the_writers_take_where_nothing_was_chosen() -> None:
    assert ExportPlan(format="mp4").frame == video.SIZE
    assert ExportPlan(format="gif").frame == gif.SIZE
    assert ExportPlan(format="png").frame == ExportPlan(format="svg").frame == figure.SLIDE
    assert ExportPlan(format="pdf").frame == figure.PAPER
    assert SIDES["film"] == (film.LEAST_EDGE, film.MOST_EDGE)


def understood(plan: ExportPlan) -> Options:
    """Return what the command makes of the plan's arguments."""
    parser = argparse.ArgumentParser()
    add_export(parser)
    return asked_for(parser.parse_args(plan.arguments(TRACE, OUT)), plan.made)


@pytest.fixture
def document() -> Document:
    events = make_trace(rounds=9)
    run = events[0].run
    return Document(
        [
            *events,
            Marker(run=run, id="m1", round=-1, title="Begin"),
            Marker(run=run, id="m2", round=4, phase="verify"),
        ]
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_command_understands_a_fresh_plan_as_its_own_defaults(name: str) -> None:
    assert understood(ExportPlan(format=name)) == ExportPlan(format=name).options == Options()


@pytest.mark.parametrize("name", NAMES)
def test_the_command_takes_every_option_that_its_format_takes(name: str) -> None:
    plan = msgspec.structs.replace(EVERYTHING, format=name)
    made = understood(plan)
    assert made == plan.options
    changed = {
        field for field in vars(Options()) if getattr(made, field) != getattr(Options(), field)
    }
    assert changed == plan.made.takes
    if "title" in plan.made.takes:
        assert made.title == "--theme=light"
    if "size" in plan.made.takes:
        assert made.size == (1080, 1920)


def test_a_moment_that_is_not_there_is_refused_in_a_sentence(document: Document) -> None:
    assert "Round 99 is not in this run" in ExportPlan(format="png", at="99").problem(document)
    assert ExportPlan(format="png", at="9").problem(document) == ""
    assert ExportPlan(format="csv", at="99").problem(document) == ""  # means nothing to it


def test_a_film_that_ends_before_it_begins_is_refused(document: Document) -> None:
    backwards = ExportPlan(format="mp4", begin="7", end="3")
    assert "end before it begins" in backwards.problem(document)
    assert ExportPlan(format="mp4", begin="m1", end="m2").problem(document) == ""
    assert ExportPlan(format="mp4", begin="9", end="").problem(document) == ""


@pytest.mark.parametrize(("size", "sound"), [("640x480", True), ("8x8", False), ("big", False)])
def test_sizes_are_presets_or_pixels(document: Document, size: str, sound: bool) -> None:
    plan = ExportPlan(format="png", size=size)
    assert (plan.problem(document) == "") is sound
    assert (plan.pixels == (640, 480)) is (size == "640x480")


def test_what_concerns_one_session_is_not_remembered() -> None:
    kept = recalled(EVERYTHING.kept())
    assert (kept.title, kept.at, kept.begin, kept.end, kept.told, kept.run) == (
        "", "", "", "", "", 0,
    )  # fmt: skip
    assert kept.withhold_prompt
    assert kept.theme == "dark"


@pytest.mark.parametrize("text", ["", "{", '{"format":"doc"}', '{"speed":"fast"}', "[]"])
def test_a_memory_that_makes_no_sense_is_forgotten(text: str) -> None:
    assert recalled(text) == ExportPlan()


def test_an_unknown_theme_leaves_the_format() -> None:
    assert recalled('{"format":"gif","theme":"pink"}') == ExportPlan(format="gif")


def test_moments_offered_are_what_the_command_calls_them(document: Document) -> None:
    offered = dict(moments_offered(document, Cursor(2, "verify", 1)))
    assert offered["Here: round 3"] == "3:verify"
    assert offered["Begin (start)"] == "m1"
    assert offered["m2 (round 5)"] == "m2"
    plan = ExportPlan(format="png")
    for value in offered.values():
        assert msgspec.structs.replace(plan, at=value).problem(document) == ""


def test_a_file_name_is_one_and_keeps_the_end_that_was_typed() -> None:
    plan = ExportPlan(format="perfetto.json")
    assert plan.file_name("Why: the sky/is blue?") == "why-the-sky-is-blue.perfetto.json"
    assert plan.file_name("../..") == "session.perfetto.json"
    assert plan.with_suffix(Path("/t/a")) == Path("/t/a.perfetto.json")
    assert plan.with_suffix(Path("/t/a.perfetto.json")) == Path("/t/a.perfetto.json")
    assert ExportPlan(format="html").with_suffix(Path("/t/a.HTM")) == Path("/t/a.HTM")


@pytest.mark.parametrize("size", ["1280x720", "1280 x 720", "1280X720", " 1280 × 720 "])
def test_a_size_may_be_written_as_the_list_writes_it(tmp_path: Path, size: str) -> None:
    plan = ExportPlan(format="png", size=size)
    assert plan.pixels == (1280, 720)
    assert "--size=1280x720" in plan.arguments(tmp_path / "a.jsonl", tmp_path / "a.png")
