"""`overhead`, the engine's half: what is compared with what, by hand and on a tiny model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from engine.benchmarks import overhead
from engine.benchmarks.overhead import compare, measure
from engine.benchmarks.rounds import Timed, in_lockstep
from engine.errors import DraftscopeError
from tests.engine.benchmarks.test_round_anatomy import timed
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path

    from engine.request import RunRequest
    from engine.session import Session


def test_runs_are_compared_by_hand() -> None:
    observed = [
        [timed(30, 0, 8, 1, 1, 5), timed(30, 0, 8, 1, 1, 5)],
        [timed(66, 0, 20, 0, 0, 5)] * 2,
    ]
    unobserved = [[timed(25, 0, 8, 1, 1, 0)] * 2, [timed(60, 0, 20, 0, 0, 0)] * 2]
    found = compare("ngram", 4, observed, unobserved)
    assert (found.rounds, found.identical) == (2, True)
    assert (found.observed.median_ns, found.unobserved.median_ns) == (96, 85)
    assert found.ratio.value == pytest.approx(96 / 85)
    assert (found.ratio.low, found.ratio.high) == (pytest.approx(132 / 120), pytest.approx(60 / 50))
    assert found.observe.median_ns == 5
    assert found.share == 20 / 60


def test_runs_of_different_texts_are_said_to_be() -> None:
    one, other = timed(1, 0, 1, 0, 0, 0), timed(1, 0, 1, 0, 0, 0)
    assert compare("none", 0, [[one, other]], [[one]]).identical is False


def test_observation_is_the_only_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[RunRequest, RunRequest]] = []

    def ran(runs: list[tuple[Session, RunRequest]]) -> list[list[Timed]]:
        (one, observed), (other, unobserved) = runs
        assert one is not other  # a drafter follows one text at a time
        asked.append((observed, unobserved))
        return in_lockstep(runs)

    monkeypatch.setattr(overhead, "in_lockstep", ran)
    folder = str(write_tiny_folder(tmp_path / "tiny", endless=True))
    report = measure(
        target=folder,
        drafter=["none", "early:1"],
        k=2,
        temperature=1.0,
        max_new_tokens=10,
        repeats=2,
        device="cpu",
        plan="eager",
    )
    assert [(one.drafter, one.k) for one in report.drafters] == [("none", 0), ("early:1", 2)]
    for one in report.drafters:
        assert one.identical
        assert one.observed.samples == one.unobserved.samples == 2
        assert one.observe.fastest_ns > 0  # and the other runs' observation is in no figure
        assert one.share > 0
    assert report.header.settings["top_n"] == 8
    assert len(asked) == 2 * (2 + 1)  # drafters, repeats and a warm-up
    for observed, unobserved in asked:
        assert (observed.top_n, unobserved.top_n) == (8, 0)
        assert replace(observed, top_n=0) == unobserved


def test_a_run_of_one_round_is_refused(tmp_path: Path) -> None:
    folder = str(write_tiny_folder(tmp_path / "tiny", endless=True))
    with pytest.raises(DraftscopeError, match=r"too few rounds.*--max-new-tokens"):
        measure(target=folder, drafter=["none"], max_new_tokens=1, repeats=1, device="cpu")


def test_the_usual_drafters_leave_out_a_head_that_does_not_fit(tmp_path: Path) -> None:
    folder = str(write_tiny_folder(tmp_path / "tiny", endless=True))
    report = measure(target=folder, max_new_tokens=10, repeats=1, device="cpu", plan="eager")
    assert [one.drafter for one in report.drafters] == ["none", "ngram"]
    assert report.header.settings["drafters"] == "none, ngram"
    assert any(note.startswith("Without the head: ") for note in report.header.notes)
