"""What a drafted token costs: from known times, and what is said where nothing can be measured."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from engine.benchmarks import drafting_cost as module
from engine.benchmarks.drafting_cost import check_kept, measure_cost
from engine.benchmarks.rounds import TooFewRounds
from engine.drafters.registry import drafters_folder
from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from pathlib import Path


def timed(draft: int, drafted: int, whole: int) -> Any:
    """Stand for a round of so many nanoseconds."""
    times = SimpleNamespace(draft=draft, round=whole)
    return SimpleNamespace(record=SimpleNamespace(times=times, drafted=range(drafted)))


def measured(monkeypatch: pytest.MonkeyPatch, plain: list[Any], drafted: list[Any]) -> float:
    asked: dict[str, Any] = {}

    def run_in_turn(session: Any, requests: Any, repeats: int, progress: Any) -> Any:
        asked.update(requests)
        return {"none": [plain], "head": [drafted[:1], drafted[1:]]}

    monkeypatch.setattr(module, "run_in_turn", run_in_turn)
    monkeypatch.setattr(module, "load_drafters", lambda session, names, progress: names)
    c = measure_cost(None, "head")  # type: ignore[arg-type]  # everything that asks is replaced
    assert [(name, one.settings.k) for name, one in asked.items()] == [("none", 0), ("head", 4)]
    return c


def test_c_is_the_median_time_of_a_drafted_token_over_that_of_a_plain_round(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = [timed(0, 0, whole) for whole in (90, 100, 700)]
    drafted = [timed(80, 4, 999), timed(30, 3, 999), timed(50, 1, 999), timed(7, 0, 999)]
    assert measured(monkeypatch, plain, drafted) == pytest.approx(20 / 100)


def test_where_nothing_is_drafted_a_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DraftscopeError, match="ends before anything is drafted"):
        measured(monkeypatch, [timed(0, 0, 100)], [timed(3, 0, 100)])

    def too_few(*_: Any) -> None:
        raise TooFewRounds("raise --max-new-tokens")

    monkeypatch.setattr(module, "run_in_turn", too_few)
    with pytest.raises(DraftscopeError, match="ends before anything is drafted") as told:
        measure_cost(None, "head")  # type: ignore[arg-type]  # likewise
    assert "--max-new-tokens" not in str(told.value)


def test_a_file_that_cannot_be_written_is_refused_before_it_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drafters_folder().mkdir(parents=True)
    (drafters_folder() / "mine.safetensors").write_bytes(b"{}")
    check_kept("trained:mine")
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(DraftscopeError, match="copy it to a folder of your own"):
        check_kept("trained:mine")
