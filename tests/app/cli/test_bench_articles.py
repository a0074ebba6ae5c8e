"""`draftscope bench articles`: the tables, the page, and the folder that `--out` writes."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import msgspec
import pytest

from app.cli import bench_articles
from app.cli.bench_articles import markdown, measure, text
from app.cli.bench_articles_tables import sections, way_words
from app.cli.main import main
from app.cli.parser import command_parser
from engine.benchmarks.articles import Report
from engine.errors import DraftscopeError
from tests.app.articles_report import report
from tests.app.cli.streams import Screen
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path


def cells(title: str, made: Report) -> list[dict[str, str]]:
    """The rows of the section of this title, by their heads; heads that recur have a number."""
    (found,) = [one for one in sections(made) if one.title == title]
    head = [f"{name} {i}" if name in found.rows[0][:i] else name
            for i, name in enumerate(found.rows[0])]  # fmt: skip
    return [dict(zip(head, row, strict=True)) for row in found.rows[1:]]


def test_a_row_of_the_beginnings_in_words() -> None:
    rows = cells("Beginnings gone on with, greedy", report())
    (found,) = [one for one in rows if one["drafter"] == "head" and one["k"] == "2 *"]
    assert found == {
        "drafter": "head", "k": "2 *", "tokens/s": "240.0", "plain": "160.0",
        "speed-up (95 %)": "1.50 (1.40 to 1.60)", "identical": "8/8", "acceptance": "0.60",
        "by position": "0.70 0.50", "tokens/pass": "2.00", "c": "0.080", "v": "1.10",
        "fixed": "0.030", "one a": "1.53", "apart": "+2.0 %", "by position 14": "1.47",
        "apart 15": "-2.0 %",
    }  # fmt: skip


def test_the_quickest_k_and_the_quickest_stop_are_marked() -> None:
    rows = cells("Beginnings gone on with, greedy", report())
    marked = [(one["drafter"], one["k"]) for one in rows if one["k"].endswith("*")]
    assert marked == [("ngram", "1 *"), ("head", "2 *"), ("head", "<= 4, unsure at 0.5 *")]
    assert way_words(8, 0.0) == "8"


def test_sampled_rows_show_the_overlap_in_place_of_identity() -> None:
    rows = cells("Beginnings gone on with, temperature 1", report())
    assert {one["overlap"] for one in rows} == {"0.55"}
    assert "identical" not in rows[0]


def test_kinds_and_repetition_are_told_apart() -> None:
    rows = cells("By kind of prompt, greedy", report())
    assert [one["kind"] for one in rows[:3]] == ["story", "summary", "all kinds"]
    assert rows[0]["acceptance at 1"] == "0.70"
    assert [one["identical"] for one in rows if one["drafter"] == "ngram"] == ["5/6, 1 tie"] * 3
    again = cells("Repetition, apart", report())
    assert len(again) == 3
    assert (again[0]["repeat"], again[0]["tokens"], again[0]["speed-up"]) == ("3/6", "90", "2.40")


def test_the_models_alone_and_the_costs_are_told() -> None:
    (alone,) = cells("The models alone, temperature 1", report())
    assert alone["covered"] == "90.0 %"
    assert (alone["nats/byte"], alone["target's there"]) == ("1.125", "0.800")
    (costs,) = cells("What predictions by position come from", report())
    assert (costs["c"], costs["v of tokens drafted"]) == ("0.080", "0:1.00 2:1.10")


def test_what_is_missing_is_a_dash_and_an_empty_table_is_left_out() -> None:
    made = report()
    bare = msgspec.structs.replace(
        made.rows[0], speedup=None, one_acceptance=None, by_position=None, acceptance=None,
        positions=(), c=None, v=None,
    )  # fmt: skip
    made = msgspec.structs.replace(made, rows=(bare,), best=(), kinds=(), alone=(), models=())
    (only,) = sections(made)
    assert only.rows[1][4:] == (
        *("-", "8/8", "-", "-", "2.00", "-", "-", "0.030", "-", "-", "-", "-"),
    )


def test_the_text_names_drafters_that_were_left_out() -> None:
    told = text(report())
    assert told.endswith("Not measured here:\nsmall-2: it is not here.")
    assert "The quickest of each drafter on the beginnings\ndrafter" in told


def test_a_page_has_its_figures_and_every_table(tmp_path: Path) -> None:
    page = markdown(report(), {"Speed-up": tmp_path / "speed.png"})
    assert "![Speed-up](speed.png)" in page
    assert str(tmp_path) not in page
    assert "- small-2: it is not here." in page
    for one in sections(report()):
        assert f"## {one.title}\n\n| {one.rows[0][0]} |" in page
    table = page.split("## By kind")[1].split("##")[0]
    assert {line.count("|") for line in table.splitlines() if "|" in line} == {10}  # in every row


@pytest.fixture
def measured(tmp_path: Path) -> list[str]:
    folder = str(write_tiny_folder(tmp_path / "tiny", endless=True))
    return [
        *("bench", "articles", "--target", folder, "--device", "cpu", "--plan", "eager"),
        *("--drafter", "ngram", "early:1", "--k", "1", "2", "--confidence", "0.5"),
        *("--temperature", "0", "--tokens", "6", "--beginnings", "1", "--prompts", "1"),
    ]


def test_a_short_run_writes_the_page_and_the_figures(
    measured: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], qapp: object
) -> None:
    out = tmp_path / "made" / "here"
    assert main([*measured, "--json", "--out", str(out)]) == 0
    output = capsys.readouterr()
    made = msgspec.json.decode(output.out, type=Report)
    assert json.loads(output.out)["header"]["benchmark"] == "articles"
    names = {path.name for path in out.iterdir()}
    assert "results.md" in names
    for name in ("speedup-by-k-greedy", "speedup-by-kind-greedy"):
        assert {f"{name}.png", f"{name}.svg"} <= names
    assert [row.k for row in made.rows] == [1, 2, 1, 2, 2]
    assert "results.md and its figures are ready." in output.err
    assert "ngram, temperature 0\n" in output.err  # a word for a log


def test_on_a_terminal_the_bar_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    told: list[str] = []
    monkeypatch.setattr(
        bench_articles,
        "measure_articles",
        lambda *, progress: progress(0, 1, "head") or report(),
    )
    measure(progress=lambda done, total, what: told.append(what))
    assert (told, screen.getvalue()) == (["head"], "")


def test_a_folder_that_cannot_be_made_is_said_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_articles, "measure_articles", lambda **_: pytest.fail("measured"))
    (tmp_path / "file").write_text("")
    with pytest.raises(DraftscopeError, match="cannot be made"):
        measure(out=tmp_path / "file" / "below")


def test_the_defaults_are_the_articles_experiment() -> None:
    options = command_parser().parse_args(["bench", "articles"])
    assert (options.k, options.temperature) == (tuple(range(1, 9)), (0.0, 1.0))
    assert (options.tokens, options.beginnings, options.prompts) == (200, 8, 6)
    assert options.drafter is None
    assert command_parser().parse_args(["bench", "articles", "--confidence"]).confidence == []
