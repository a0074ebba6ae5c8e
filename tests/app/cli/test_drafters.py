"""`draftscope drafters`: what is listed, for people and for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import torch
from msgspec.structs import replace

from app.cli.main import main
from engine.drafters.file import read_drafter
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


def test_what_a_drafted_token_costs_is_measured_and_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_tiny_folder(tmp_path / "tiny")
    target = load_model(folder, device="cpu", plan="eager")
    paths = [
        write_for(drafters_folder() / f"{kind}.safetensors", target, SHAPES[kind])
        for kind in ("head", "small")
    ]
    before = [read_drafter(path) for path in paths]
    asked = ["drafters", "--target", str(folder), "--measure", "trained:head", str(paths[1])]
    assert main(asked) == 0
    said = capsys.readouterr().out
    for path, was in zip(paths, before, strict=True):
        found = read_drafter(path)
        c = found.metadata.held_out.c
        assert was.metadata.held_out.c == 0.1
        assert c not in (None, 0.1)
        assert 0.0 < c < 10.0
        assert f"; c {c:.2g}" in said
        assert replace(found.metadata.held_out, c=0.1) == was.metadata.held_out
        assert found.tensors.keys() == was.tensors.keys()
        assert all(torch.equal(found.tensors[name], was.tensors[name]) for name in was.tensors)


def test_what_is_not_there_is_not_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_tiny_folder(tmp_path / "tiny")
    assert main(["drafters", "--target", str(folder), "--measure", "trained:nothing"]) == 1
    assert "No drafter called 'nothing' was trained here" in capsys.readouterr().err
