"""`draftscope drafters`: what is listed, for people and for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from app.cli.main import main
from engine.drafters.names import BUNDLED
from engine.drafters.registry import drafters_folder
from engine.loading import load_model
from tests.engine.drafters.making import SHAPES, write_for
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_drafters_are_listed_with_whether_they_fit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_tiny_folder(tmp_path / "tiny")
    target = load_model(folder, device="cpu", plan="eager")
    path = write_for(drafters_folder() / "mine.safetensors", target, SHAPES["head"])
    assert main(["drafters", "--target", str(folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["problem"] == ""
    records = {one["spec"]: one for one in found["drafters"]}
    assert [*records] == [*BUNDLED, "trained:mine"]
    mine = records["trained:mine"]
    assert (mine["fits"], mine["kind"], mine["bytes"]) == (True, "head", path.stat().st_size)
    assert mine["held_out"]["greedy"] == [0.5, 0.25]
    assert records["head"]["fits"] is False
    assert main(["drafters", "--target", str(folder)]) == 0
    said = capsys.readouterr().out
    (line,) = (line for line in said.splitlines() if line.startswith("trained:mine"))
    assert line.endswith(f"fits {folder}")
    assert "0.50, 0.25" in said
    assert "for SmolLM2-135M-Instruct.Q4_1" in said
    assert str(drafters_folder()) in said


def test_without_the_target_the_list_says_that_it_is_not_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (drafters_folder()).mkdir(parents=True)
    (drafters_folder() / "torn.safetensors").write_bytes(b"{")
    assert main(["drafters", "--target", str(tmp_path / "nothing.gguf")]) == 0
    said = capsys.readouterr().out
    assert "Whether they fit is not known: There is no file" in said
    assert "cannot be used: torn.safetensors is not a safetensors file" in said
    assert main(["drafters", "--target", str(tmp_path / "nothing.gguf"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["problem"]
    assert [one["fits"] for one in found["drafters"] if not one["problem"]] == [None] * sum(
        not one["problem"] for one in found["drafters"]
    )
