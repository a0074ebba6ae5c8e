"""Damaged files by the hundred: a sentence each time, or the model that the file really holds.

The loads run in a process of their own, with bounded memory, a time limit on each and the fault
handler on. A failure prints a recipe; this makes it again:

    python -m tests.engine.models.fuzz_program SEED COUNT KIND INDEX
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.errors import DraftscopeError
from tests.engine.models import fuzz_program
from tests.engine.models.fuzz_samples import SAMPLES

ROOT = Path(__file__).parents[3]
SEED, COUNT = "1", 250  # of each kind; other seeds by hand


@pytest.mark.timeout(600)
def test_every_damaged_file_is_a_sentence_or_the_model_that_it_holds(tmp_path: Path) -> None:
    current = tmp_path / "current"
    finished = subprocess.run(
        [sys.executable, "-m", "tests.engine.models.fuzz_program", SEED, str(COUNT)],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "FUZZ_CURRENT": str(current)},
        capture_output=True,
        encoding="utf-8",
        errors="backslashreplace",
        check=False,
    )
    told = f"{finished.stdout}\n{finished.stderr}\nlast tried: {current.read_text('utf-8')}"
    assert finished.returncode == 0, told
    summaries = [json.loads(line) for line in finished.stdout.splitlines() if line[:1] == "{"]
    assert [summary["kind"] for summary in summaries] == [sample.kind for sample in SAMPLES]
    for summary in summaries:  # harmless damage and fatal damage both occur
        assert summary["refused"] + summary["loaded"] == COUNT
        assert min(summary["refused"], summary["loaded"]) > 0, summary


@pytest.mark.parametrize(
    "said",
    [
        "a\nb c",
        "words " * 100,
        "Oneword",
        "It does not fit into the memory of cpu; choose another.",
    ],
)
def test_the_program_knows_what_is_no_sentence(said: str) -> None:
    error = DraftscopeError("")
    error.args = (said,)
    with pytest.raises(fuzz_program.FaultError):
        fuzz_program.check_sentence(error)
    fuzz_program.check_sentence(DraftscopeError("The file is damaged. Download it again."))


def test_the_program_sees_a_weight_that_is_not_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for sample in SAMPLES:
        sample.write(tmp_path / sample.kind)
    paths = [tmp_path / "weights", tmp_path / "shards", tmp_path / "gguf-q8" / "model.gguf"]
    for path in paths:
        fuzz_program.check_weights(path)
    read = fuzz_program.written_numbers

    def other(path: Path, config: object) -> object:
        numbers = read(path, config)
        numbers["model.layers.0.self_attn.k_proj.weight"][0, 0] += 1
        return numbers

    monkeypatch.setattr(fuzz_program, "written_numbers", other)
    for path in paths:
        with pytest.raises(fuzz_program.FaultError, match="k_proj"):
            fuzz_program.check_weights(path)


@pytest.mark.parametrize("fault", [ValueError("bare"), fuzz_program.TimedOutError(), MemoryError()])
def test_the_program_prints_the_recipe_of_what_must_not_be(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    fault: BaseException,
) -> None:
    def load(*arguments: object) -> None:
        raise fault

    monkeypatch.setattr(fuzz_program, "load_mutant", load)
    (template,) = (sample for sample in SAMPLES if sample.kind == "template")
    template.write(tmp_path)
    assert fuzz_program.try_mutant(template, tmp_path, "template 1 0", None) == "fault"
    assert "FAULT template 1 0: " in capsys.readouterr().out


def test_a_load_that_does_not_end_is_ended() -> None:
    def endless() -> None:
        with fuzz_program.guarded(1):
            while True:
                pass

    with pytest.raises(fuzz_program.TimedOutError):
        endless()
