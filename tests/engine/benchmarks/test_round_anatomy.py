"""`round-anatomy` on a tiny model: rounds of every drafter, and parts that add up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine import DraftscopeError, RunRequest, Session, Settings, load_model
from engine.benchmarks import rounds as rounds_module
from engine.benchmarks.round_anatomy import PHASES, measure, parts_of
from engine.benchmarks.rounds import Timed, in_lockstep, run_in_turn, timed_rounds
from engine.benchmarks.work import work_of
from engine.models.layout import count_parameters
from engine.trace.events import ClosingKind, ClosingToken, Round, RoundTimes
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from engine.trace.events import Event


def timed(wall: int, *phases: int) -> Timed:
    """A plain round of these phases."""
    times = RoundTimes(**dict(zip(PHASES, phases, strict=True)))
    closing = ClosingToken(id=1, piece=b"a", kind=ClosingKind.PLAIN, probability=1.0)
    record = Round(run="r", index=0, position=1, drafter="none", k=0, drafted=(), closing=closing,
                   texts=("a",), times=times, target_cache=None)  # type: ignore[arg-type]  # of no use here  # fmt: skip
    return Timed(record=record, wall_ns=wall)


def test_parts_of_a_round_by_hand() -> None:
    found = {
        part.name: part for part in parts_of([timed(20, 1, 8, 2, 3, 4), timed(20, 3, 8, 2, 1, 4)])
    }
    assert list(found) == [*PHASES, "python"]
    assert found["draft"].time.median_ns == 2
    assert found["verify"].share == 16 / 40
    assert found["python"].time.median_ns == 2  # 20 - (1 + 8 + 2 + 3) - 4
    assert sum(part.share for part in found.values()) == pytest.approx(1)


def test_rounds_are_timed_from_outside(tmp_path: Path) -> None:
    session = Session(load_model(write_tiny_folder(tmp_path / "t", endless=True), device="cpu"))
    request = RunRequest(
        prompt="hello",
        settings=Settings(drafter="ngram", k=2, temperature=0.0),
        max_new_tokens=8,
        probes=False,
    )
    found = timed_rounds(session, request)
    assert sum(len(one.record.texts) for one in found) == 8
    assert all(one.between_ns >= 0 for one in found)


def test_runs_in_lockstep_take_turns_round_by_round(tmp_path: Path) -> None:
    target = load_model(write_tiny_folder(tmp_path / "t", endless=True), device="cpu")
    order: list[int] = []

    class Listed(Session):
        def run(self, request: RunRequest, control: object = None) -> Generator[Event, None, None]:
            for event in super().run(request):
                order.append(request.seed)
                yield event

    settings = Settings(drafter="none", k=0, temperature=0.0)
    runs = [
        (Listed(target), RunRequest(prompt="hi", settings=settings, seed=i, max_new_tokens=n,
                                    probes=False))
        for i, n in ((0, 4), (1, 6))
    ]  # fmt: skip
    found = in_lockstep(runs)
    assert [len(one) for one in found] == [4, 6]
    both = order[: 2 * (2 + 4)]  # the start, the prefill and four rounds of each
    assert all(set(both[i : i + 2]) == {0, 1} for i in range(0, len(both), 2))
    assert both[:4] == [0, 1, 1, 0]  # each is first in turn
    assert order.count(1) == 2 + 6 + 1


def test_drafters_run_in_turn_and_each_runs_first_round_is_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran: list[str] = []

    def rounds(session: object, request: str) -> list[Timed]:
        ran.append(request)
        return [timed(100, 1, 1, 1, 1, 1), timed(len(ran), 0, 0, 0, 0, 0)]

    monkeypatch.setattr(rounds_module, "timed_rounds", rounds)
    requests = {"none": "plain", "ngram": "look-up"}
    found = run_in_turn(None, requests, 2)  # type: ignore[arg-type]  # stand-ins
    assert ran == ["look-up", "plain", "plain", "look-up", "look-up", "plain"]
    walls = {name: [[one.wall_ns for one in run] for run in runs] for name, runs in found.items()}
    assert walls == {"none": [[3], [6]], "ngram": [[4], [5]]}  # the warm-up's are not there


def test_a_run_of_one_round_is_refused_in_a_sentence(tmp_path: Path) -> None:
    target = load_model(write_tiny_folder(tmp_path / "tiny"), device="cpu")
    short = RunRequest(
        prompt="a", settings=Settings(drafter="none", k=0, temperature=0.0), max_new_tokens=1
    )
    with pytest.raises(DraftscopeError, match=r"too few rounds.*--max-new-tokens"):
        run_in_turn(Session(target), {"none": short}, 1)


def test_every_drafter_is_taken_apart(tmp_path: Path) -> None:
    folder = write_tiny_folder(tmp_path / "target", endless=True)
    small = write_tiny_folder(tmp_path / "small", noise=0.1, endless=True)
    report = measure(
        target=str(folder),
        drafter=["none", "ngram", f"model:{small}", "early:1"],
        k=2,
        max_new_tokens=10,
        repeats=2,
        device="cpu",
        plan="eager",
    )
    kinds = [one.drafter.split(":")[0] for one in report.drafters]
    assert kinds == ["none", "ngram", "model", "early"]
    plain, _, model, early = report.drafters
    assert (plain.k, plain.drafted, plain.emitted, plain.rounds) == (0, 0, 1, 2 * 9)
    assert 0 < model.drafted <= 2
    target = load_model(folder, device="cpu", plan="eager").transformer
    own = 4 * count_parameters(target.config)  # the small model has the target's sizes
    read = work_of(target, 1, 0).weight_bytes
    assert model.weights_ns / plain.weights_ns == pytest.approx(1 + own * model.drafted / read)
    assert plain.weights_ns < early.weights_ns < model.weights_ns
    for one in report.drafters:
        assert sum(part.share for part in one.parts) == pytest.approx(1)
        assert one.reads > 0
        assert one.transfer_ns < one.wall.median_ns
        assert one.over_weights == pytest.approx(one.wall.median_ns / one.weights_ns)
    assert [one.tokens for one in report.passes] == [1, 3]
    assert report.header.settings["k"] == 2
