"""`draftscope check greedy` and `draftscope bench` on a tiny pair of models."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from app.cli.main import main
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def pair(tmp_path: Path) -> list[str]:
    """Arguments that name a tiny target and a drafter near it."""
    target = write_tiny_folder(tmp_path / "target")
    drafter = write_tiny_folder(tmp_path / "drafter", noise=0.1)
    return [
        "--target",
        str(target),
        "--drafter",
        f"model:{drafter}",
        "ngram",
        "--plan",
        "eager",
        "--device",
        "cpu",
    ]


def test_check_greedy_tells_the_whole_matrix(
    pair: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["check", "greedy", *pair, "--k", "1", "3", "--max-new-tokens", "12", "--json"]
    assert main([*arguments, "--prompt", "hello", "what now"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert len(report["cells"]) == 2 * 2 * 2
    assert report["identical"] + report["ties"] == 8
    assert report["faults"] == 0
    assert {cell["k"] for cell in report["cells"]} == {1, 3}
    assert any(cell["accepted"] for cell in report["cells"])


def test_check_greedy_prints_a_line_a_run(
    pair: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "greedy", *pair, "--k", "2", "--prompt", "hello"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[-1].endswith("0 faults")


def test_bench_measures_each_drafter_against_plain_runs(
    pair: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["bench", *pair, "--k", "2", "--max-new-tokens", "8", "--prompt", "hello"]
    assert main([*arguments, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [row["k"] for row in report["rows"]] == [2, 2]
    for row in report["rows"]:
        assert row["emitted"] == 8
        assert row["slowest"] <= row["speedup"] <= row["fastest"]
        assert row["identical"] in (0, 1)
    assert report["passes"][0]["cost"] == 1.0
    assert main(arguments) == 0
    assert "a pass on n tokens" in capsys.readouterr().out
