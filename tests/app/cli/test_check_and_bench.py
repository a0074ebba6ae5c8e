"""`draftscope check greedy` and `draftscope bench` on a tiny pair of models."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from safetensors.torch import load_file, save_file

from app.cli import bench as bench_module
from app.cli import check_greedy as check_module
from app.cli.main import main
from engine import Session, load_model
from engine.benchmarks.decoding import Row
from engine.check.greedy import Cell
from engine.comparison import Gap
from engine.trace.events import Difference, Settings
from tests.app.cli.pairs import write_pair
from tests.app.cli.streams import Screen
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def tiny_looping(tmp_path: Path) -> Session:
    """A target that writes two ids at most: of 22 3-grams at least 14 have been there before."""
    folder = write_tiny_folder(tmp_path / "looping", tied=False, endless=True)
    weights = load_file(folder / "model.safetensors")
    weights["lm_head.weight"][:] = 0.0
    weights["lm_head.weight"][0, 0] = 1.0  # id 0 above all others, or below and id 1 the lowest
    save_file(weights, folder / "model.safetensors")
    return Session(load_model(folder, device="cpu", plan="eager"))


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


def test_bench_measures_each_drafter_against_plain_runs(
    pair: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["bench", *pair, "--k", "2", "--max-new-tokens", "8", "--prompt", "hello"]
    assert main([*arguments, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [row["k"] for row in report["rows"]] == [2, 2]
    for row in report["rows"]:
        assert row["emitted"] == 8
        assert row["repetitive"] in (0, 1)
        assert row["slowest"] <= row["speedup"] <= row["fastest"]
        assert row["identical"] in (0, 1)
    assert report["passes"][0]["cost"] == 1.0
    assert main(arguments) == 0
    assert "a pass on n tokens" in capsys.readouterr().out


def _row(**changes: object) -> Row:
    figures = {
        "drafter": "head",
        "k": 3,
        "prompts": 4,
        "emitted": 100,
        "acceptance": 0.4,
        "tokens_per_pass": 1.6,
        "tokens_per_second": 40.0,
        "plain_tokens_per_second": 50.0,
        "speedup": 1.2,
        "slowest": 0.7,
        "fastest": 1.3,
        "observation": 0.01,
        "identical": 4,
        "repetitive": 0,
    }
    return Row(**figures | changes)  # type: ignore[arg-type]  # of mixed types


@pytest.mark.case("A58")
@pytest.mark.parametrize(
    ("speedup", "flagged"), [(0.99, True), (0.996, False), (1.0, False), (1.2, False)]
)
def test_bench_says_where_a_drafter_does_not_pay(
    speedup: float, flagged: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    bench_module._print_row(_row(speedup=speedup))
    assert ("slower than plain" in capsys.readouterr().out) is flagged


@pytest.mark.case("A65")
def test_bench_says_where_texts_repeat_themselves(capsys: pytest.CaptureFixture[str]) -> None:
    bench_module._print_row(_row(repetitive=2))
    line = capsys.readouterr().out
    assert line.rstrip().endswith("repetition in 2/4: acceptance not meaningful")
    bench_module._print_row(_row())
    assert "repetition" not in capsys.readouterr().out


@pytest.mark.case("A65")
def test_bench_counts_the_prompts_whose_text_repeats_itself(tiny_looping: Session) -> None:
    report = bench_module.measure(
        tiny_looping, ["ngram"], drafted=[2], prompts=["aaaa", "bbbb"], max_new_tokens=24
    )
    (row,) = report.rows
    assert row.repetitive == row.prompts == 2
