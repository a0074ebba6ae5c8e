from __future__ import annotations

from typing import TYPE_CHECKING

from app.cli import models
from app.cli.main import main
from engine.models.fetch import FetchCancelled
from engine.models.registry import DEFAULT_MODEL, models_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest


def test_an_absent_model_is_listed_with_how_to_fetch_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["models"]) == 0
    shown = capsys.readouterr().out
    assert f"{DEFAULT_MODEL}  absent  draftscope models fetch {DEFAULT_MODEL}" in shown
    assert str(models_folder()) in shown


def test_a_model_in_the_folder_is_listed_with_its_path(
    capsys: pytest.CaptureFixture[str],
) -> None:
    models_folder().mkdir(parents=True)
    file = models_folder() / "mine.gguf"
    file.write_bytes(b"GGUF")
    assert main(["models"]) == 0
    line = next(row for row in capsys.readouterr().out.splitlines() if row.startswith("mine"))
    assert line.split() == ["mine", "here", str(file)]


def test_an_unknown_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "fetch", "no-such-model"]) == 1
    assert "no-such-model" in capsys.readouterr().err


def test_fetching_says_where_the_model_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def fetch(
        name: str, progress: Callable[[int, int, str], None], cancelled: Callable[[], bool]
    ) -> Path:
        progress(1, 2, f"Fetching {name}")
        assert not cancelled()
        return tmp_path / "model.gguf"

    monkeypatch.setattr(models, "fetch", fetch)
    assert main(["models", "fetch", DEFAULT_MODEL]) == 0
    output = capsys.readouterr()
    assert str(tmp_path / "model.gguf") in output.out
    assert output.err == f"Fetching {DEFAULT_MODEL}\n"


def test_a_cancelled_fetch_is_exit_code_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(*arguments: object) -> Path:
        raise FetchCancelled

    monkeypatch.setattr(models, "fetch", fetch)
    assert main(["models", "fetch", DEFAULT_MODEL]) == 130
