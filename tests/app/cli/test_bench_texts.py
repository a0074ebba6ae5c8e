"""Reports of benchmarks as people read them: every figure has its unit, every share its divisor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from app.cli.bench_memory import text as memory_text
from app.cli.main import main
from engine.benchmarks import limits
from engine.benchmarks.header import header
from engine.benchmarks.memory import Memory, plan_memory
from tests.engine.benchmarks.test_memory import STAGES
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(limits, "_READ_BYTES", {"cpu": 2**16})
    monkeypatch.setattr(limits, "_SIDE", {"cpu": 32})
    folder = str(write_tiny_folder(tmp_path / "tiny", endless=True))
    return ["--target", folder, "--device", "cpu", "--plan", "eager", "--repeats", "1"]


def lines_of(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [line.strip() for line in capsys.readouterr().out.splitlines()]


def test_pass_cost(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "pass-cost", *arguments, "--widths", "1", "4", "--contexts", "8"]) == 0
    lines = lines_of(capsys)
    (read,) = [line for line in lines if line.startswith("reading 65.5 kB")]
    assert read.endswith("/s median")
    assert any("GFLOP/s at best" in line for line in lines)
    assert any(line.startswith("eager plan (float32): ") for line in lines)
    (row,) = [line for line in lines if line.startswith("8  ") and " 4 " in line]
    assert row.endswith("%")
    assert "s (" in row  # a time and the middle half of its samples


def test_round_anatomy(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--drafter", "ngram", "--k", "2", "--max-new-tokens", "6"]
    assert main(["bench", "round-anatomy", *arguments, *options]) == 0
    lines = lines_of(capsys)
    names = [line.split()[0] for line in lines if line.endswith(" %")]
    assert names == ["draft", "verify", "accept", "commit", "observe", "python"]
    assert any(line.startswith("transfer to the host: ") for line in lines)
    assert any(line.startswith("if only weights were read: ") for line in lines)
    assert any(line.startswith("3 tokens after 128 ") for line in lines)


def test_growth(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--contexts", "100", "--tokens", "80", "--k", "2"]
    assert main(["bench", "growth", *arguments, *options]) == 0
    lines = lines_of(capsys)
    assert any(line.startswith("100  ") and "s (" in line for line in lines)
    assert any(line.startswith("64 to 100 ") for line in lines)
    (session,) = [line for line in lines if line.startswith("80  ")]
    assert session.endswith(" kB")  # written to the journal


def test_memory() -> None:
    report = Memory(
        header=header("memory", settings={}),
        target_ratio=1.3,
        plans=(plan_memory("eager", STAGES),),
        left_out=("packed: it cannot.",),
    )
    text = memory_text(report)
    rows = {line.split("  ")[0]: line.rpartition("  ")[2] for line in text.splitlines()}
    assert rows["peak while loading"] == "200 bytes"
    assert rows["peak while decoding"] == "240 bytes"
    assert rows["ratio"] == "1.50"
    assert "packed: it cannot." in rows
    assert "1.3 is to be reached" in text
