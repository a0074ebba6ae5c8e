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


class WindowHeader(msgspec.Struct):
    settings: dict[str, object]
    notes: tuple[str, ...] = ("Another drafter drafts.",)


class Window(msgspec.Struct):
    tokens: int
    header: WindowHeader
    identical: bool = True
    watched_over_command_line: Ratio = Ratio(value=1.5, low=1.4, high=1.6)
    ways: tuple[Way, ...] = (Way(),)
    lost: Ratio = Ratio(value=0.05, low=0.04, high=0.06)
    lost_wall: Ratio = Ratio(value=0.07, low=0.06, high=0.08)


@pytest.fixture
def arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A short measurement; the window's half stands in for itself."""
    module = ModuleType("app.benchmarks.window")

    def measure(target: str, *, repeats: int, progress: object, **options: object) -> Window:
        return Window(repeats, WindowHeader(options), identical=options["k"] != 3)

    module.measure = measure  # type: ignore[attr-defined]  # made here
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
    assert "wall: 1.50 (1.40 to 1.60)" in out
    assert "All runs emitted the same tokens." in out
    assert "Another drafter drafts." in out


def test_the_window_is_measured_under_the_options_of_the_report(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["--drafter", "early:1", "ngram", "none", "--k", "3", "--prompt", "a b"]
    assert main([*arguments, *more, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["window"]["header"]["settings"] == {
        **{"drafter": "ngram", "k": 3, "temperature": 0.0, "max_new_tokens": 6},
        **{"prompt": "a b", "device": "cpu", "plan": "eager"},
    }
    assert main([*arguments, *more]) == 0
    out = capsys.readouterr().out
    assert "the window's half: " in out
    assert "prompt a b" in out
    assert "different work" in out


def test_a_window_that_cannot_be_had_is_said_before_anything_is_measured(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "app.benchmarks.window", None)  # as where it cannot be loaded
    monkeypatch.setattr("engine.benchmarks.overhead.measure", lambda **_: pytest.fail("measured"))
    assert main(arguments) == 1
    assert "--no-window" in capsys.readouterr().err


def test_without_qt_the_window_alone_is_one_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "app.benchmarks.gui", None)
    assert main(["bench", "gui"]) == 1
    assert "PySide6" in capsys.readouterr().err


def test_the_window_can_be_left_out(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--no-window"]) == 0
    assert "The window was not measured." in capsys.readouterr().out
