"""`draftscope bench decoding` on a tiny pair of models."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from safetensors.torch import load_file, save_file

from app.cli.bench_decoding import flags
from app.cli.main import main
from engine import Session, load_model
from engine.benchmarks.decoding import Row, bench
from tests.app.cli.pairs import write_pair
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


def test_bench_measures_each_drafter_against_plain_runs(
    pair: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [
        "bench",
        "decoding",
        *pair,
        "--k",
        "2",
        "--max-new-tokens",
        "8",
        "--prompt",
        "hello",
    ]
    assert main([*arguments, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [row["k"] for row in report["rows"]] == [2, 2]
    for row in report["rows"]:
        assert row["emitted"] == 8
        assert row["runs"] == 1
        assert row["repetitive"] in (0, 1)
        assert row["low"] == row["speedup"] == row["high"]  # of one run
        assert row["slowest"] <= row["speedup"] <= row["fastest"]
        assert row["identical"] in (0, 1)
    assert report["passes"][0]["cost"] == 1.0
    assert main(arguments) == 0
    assert "cost over one token" in capsys.readouterr().out


def _row(**changes: object) -> Row:
    figures = {
        "drafter": "head",
        "k": 3,
        "prompts": 4,
        "runs": 4,
        "emitted": 100,
        "acceptance": 0.4,
        "tokens_per_pass": 1.6,
        "tokens_per_second": 40.0,
        "plain_tokens_per_second": 50.0,
        "speedup": 1.2,
        "low": 0.9,
        "high": 1.25,
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
def test_bench_says_where_a_drafter_does_not_pay(speedup: float, flagged: bool) -> None:
    assert ("slower than plain" in flags(_row(speedup=speedup))) is flagged


@pytest.mark.case("A65")
def test_bench_says_where_texts_repeat_themselves() -> None:
    assert flags(_row(repetitive=2)).endswith("repetition in 2/4: acceptance not meaningful")
    assert flags(_row()) == ""


@pytest.mark.case("A65")
def test_bench_counts_the_prompts_whose_text_repeats_itself(tiny_looping: Session) -> None:
    report = bench(
        tiny_looping, ["ngram"], drafted=[2], prompts=["aaaa", "bbbb"], max_new_tokens=24
    )
    (row,) = report.rows
    assert row.repetitive == row.runs == 2
