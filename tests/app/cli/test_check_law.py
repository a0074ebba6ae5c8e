"""`draftscope check law` on a tiny pair of models."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import engine.decoder as decoder_module
from app.cli.main import main
from app.cli.parser import command_parser
from engine.check.law import DRAWS, TOY_DRAWS
from tests.app.cli.pairs import write_pair
from tests.app.cli.streams import Screen
from tests.engine.check.test_law import keeps_all

if TYPE_CHECKING:
    from pathlib import Path

FEW = ["--draws", "120", "--toy-draws", "300", "--k", "2", "--temperature", "1.5"]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder: Path = tmp_path_factory.mktemp("pair")
    return [*write_pair(folder), "--raw", "--prompt", "xyxyx"]


def test_each_test_is_told_with_what_it_rests_on(
    pair: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "law", *pair, *FEW]) == 0
    output = capsys.readouterr()
    assert output.err == ""
    lines = output.out.splitlines()
    assert sum(line.startswith("toy pair") for line in lines) == 4
    assert sum("against the drafter's law" in line for line in lines) == 3
    assert sum(" of freedom, p = " in line for line in lines) >= 4 + 2
    assert sum("120 draws" in line for line in lines) >= 2
    assert sum("expected sum(min(p_target, q_draft))" in line for line in lines) == 4 + 2
    assert lines[-1].endswith("all of them hold")


def test_programs_get_one_object(pair: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "law", *pair, *FEW, "--json", "--top-p", "0.9"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["failures"] == 0
    assert report["settings"]["top_p"] == 0.9
    assert [toy["pair"]["name"] for toy in report["toys"]] == [
        *("unlike", "one-hot drafter", "equal", "disjoint")
    ]
    for context in report["contexts"]:
        fit = context["first"]
        assert fit["draws"] == 120
        assert fit["freedom"] == fit["cells"] - 1
        assert fit["pooled"] > 0
        assert context["acceptance"]["trials"] == 120
    assert all(test["follows"] for test in report["tests"])
    assert report["level"] == pytest.approx(1e-3 / len(report["tests"]))


def test_what_does_not_follow_is_named_and_gives_exit_code_1(
    pair: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoder_module, "accept", keeps_all)
    assert main(["check", "law", *pair, *FEW]) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert "do not hold: " in last
    assert "ngram, acceptance" in last


def test_a_terminal_sees_where_it_stands(
    pair: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    arguments = ["--draws", "60", "--toy-draws", "2000", "--k", "2"]
    assert main(["check", "law", *pair, *arguments, "--json"]) == 0
    shown = screen.getvalue()
    assert "Drawing from the toy pair 'unlike' [" in shown
    assert "Decoding with ngram [" in shown
    assert json.loads(capsys.readouterr().out)["draws"] == 60


def test_the_parsers_numbers_are_the_checks() -> None:
    options = command_parser().parse_args(["check", "law"])
    assert (options.draws, options.toy_draws) == (DRAWS, TOY_DRAWS)
    assert options.drafter is None
    assert options.prompt is None
