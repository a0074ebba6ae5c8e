"""`draftscope bench overhead`: both halves in one report."""

from __future__ import annotations

import json
import sys
from types import ModuleType
from typing import TYPE_CHECKING

import msgspec
import pytest

from app.cli.main import main
from engine.benchmarks.figures import Ratio, spread
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path


class Way(msgspec.Struct):
    name: str = "watched"
    tokens_per_second: float = 12.5
    round: object = spread([1e6])
    wall: object = spread([2e6])


class Window(msgspec.Struct):
    tokens: int
    ways: tuple[Way, ...] = (Way(),)
    lost: Ratio = Ratio(value=0.05, low=0.04, high=0.06)
    lost_wall: Ratio = Ratio(value=0.07, low=0.06, high=0.08)


@pytest.fixture
def arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A short measurement; the window's half stands in for itself."""
    module = ModuleType("app.benchmarks.window")
    module.measure = lambda target, *, repeats, progress: Window(repeats)  # type: ignore[attr-defined]  # made here
    monkeypatch.setitem(sys.modules, "app.benchmarks.window", module)
    folder = str(write_tiny_folder(tmp_path / "tiny", endless=True))
    return [
        *("bench", "overhead", "--target", folder, "--device", "cpu", "--plan", "eager"),
        *("--drafter", "ngram", "--max-new-tokens", "6", "--repeats", "2"),
    ]


def test_both_halves_are_in_the_report(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [one["drafter"] for one in report["drafters"]] == ["ngram"]
    assert report["window"]["tokens"] == 2
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert "observed over unobserved" in out
    assert "engine speed lost to the window, by summed round times: 5.0 % (4.0 % to 6.0 %)" in out


def test_the_window_can_be_left_out(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--no-window"]) == 0
    assert "The window was not measured." in capsys.readouterr().out
