"""`draftscope check greedy` on a tiny pair of models."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from app.cli import check_greedy as check_module
from app.cli.main import main
from engine.check.greedy import Cell
from engine.comparison import Gap
from engine.trace.events import Difference, Settings
from tests.app.cli.pairs import write_pair
from tests.app.cli.streams import Screen

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def pair(tmp_path: Path) -> list[str]:
    """Arguments that name a tiny target and a drafter near it."""
    return write_pair(tmp_path)


def test_check_greedy_tells_the_whole_matrix(
    pair: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["check", "greedy", *pair, "--k", "1", "3", "--max-new-tokens", "12", "--json"]
    assert main([*arguments, "--prompt", "hello", "what now"]) == 0
    output = capsys.readouterr()
    assert output.err == ""
    report = json.loads(output.out)
    assert len(report["cells"]) == 2 * 2 * 2 * 2  # prompts, laws, drafters, k
    assert report["identical"] + report["ties"] == 16
    assert report["faults"] == 0
    assert {cell["k"] for cell in report["cells"]} == {1, 3}
    assert {cell["law"] for cell in report["cells"]} == {"plain", "penalised"}
    assert any(cell["accepted"] for cell in report["cells"])


def test_check_greedy_prints_a_line_a_run(
    pair: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["check", "greedy", *pair, "--k", "2", "--prompt", "hello"]
    assert main([*arguments, "--max-new-tokens", "8"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert all(" identical " in line for line in lines[:4])
    assert lines[-1].endswith("4 of 4 texts identical to the plain target's, 0 ties, 0 faults")


@pytest.mark.parametrize(("kind", "code"), [("tie", 0), ("fault", 1)])
def test_a_difference_is_told_with_both_logits_and_the_rounding(
    pair: list[str],
    kind: str,
    code: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = Difference(
        position=5,
        speculative_id=3,
        plain_id=7,
        speculative_logit=17.25,
        plain_logit=17.5,
        kind=kind,  # type: ignore[arg-type]  # one of the two
    )
    monkeypatch.setattr("engine.check.greedy.first_gap", lambda *_: Gap(found, 0.25))
    arguments = ["check", "greedy", *pair, "--k", "1", "--max-new-tokens", "4", "--prompt", "hi"]
    assert main(arguments) == code
    out = capsys.readouterr().out
    assert f" {kind} " in out
    assert "at token 5: 3 with the logit 17.25, plain 7 with 17.5; passes round 0.2 apart" in out


def test_a_text_that_ended_is_told_so() -> None:
    cell = Cell(
        drafter="ngram",
        k=2,
        law="plain",
        settings=Settings(drafter="ngram", k=2, temperature=0.0),
        prompt="hello",
        tokens=3,
        rounds=1,
        accepted=2,
        identical=False,
        first_difference=Difference(position=3, speculative_id=None, plain_id=9),
    )
    line = check_module.cell_line(cell)
    assert " fault " in line
    assert line.endswith("at token 3: the speculative text had ended")


def test_check_greedy_shows_on_a_terminal_where_it_stands(
    pair: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    arguments = ["check", "greedy", *pair, "--k", "1", "--max-new-tokens", "4", "--prompt", "hi"]
    assert main([*arguments, "--json"]) == 0
    shown = screen.getvalue()
    assert "Loading" in shown
    assert "Comparing texts [" in shown
    assert "4 of 4" in shown
    assert json.loads(capsys.readouterr().out)["faults"] == 0


@pytest.mark.parametrize("kind", ["greedy", "law"])
def test_a_wrong_drafter_is_said_before_anything_long_runs(
    pair: list[str], kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    at = pair.index("--drafter")
    arguments = ["check", kind, *pair[:at], "--drafter", "ngram", "nothing", *pair[at + 3 :]]
    assert main(arguments) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert "There is no drafter called 'nothing'" in output.err


@pytest.mark.parametrize("kind", ["greedy", "law"])
def test_a_prompt_that_is_no_text_is_said_in_a_sentence(
    pair: list[str], kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", kind, *pair, "--prompt", "caf\udce9"]) == 1
    assert "not UTF-8" in capsys.readouterr().err
