"""What a report says first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import torch

from engine import load_model
from engine.benchmarks.header import NO_GPU, header, listed
from engine.loading import machine
from engine.version import VERSION
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_target_brings_plan_type_and_device(tmp_path: Path) -> None:
    target = load_model(write_tiny_folder(tmp_path / "tiny"), device="cpu", plan="eager")
    about = header("pass-cost", settings={"repeats": 3}, target=target)
    assert (about.plan, about.dtype, about.device) == ("eager", "float32", "cpu")
    assert about.target == target.info.name
    assert about.threads == torch.get_num_threads()
    assert about.draftscope == VERSION
    assert about.notes == (NO_GPU,)
    assert msgspec.json.decode(msgspec.json.encode(about))["settings"] == {"repeats": 3}


def test_a_gpu_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _: "A Great GPU")
    assert machine(torch.device("cuda")).startswith("A Great GPU, CUDA ")
    assert "GPU" not in machine(torch.device("cpu"))
    about = header("pass-cost", settings={}, device=torch.device("cuda"))
    assert about.machine.startswith("A Great GPU")
    assert about.notes == ()


def test_a_list_of_settings_is_text() -> None:
    assert listed([1, 2, 4]) == "1, 2, 4"
    assert listed(("ngram",)) == "ngram"
