"""The engine on a CUDA device: the same text, the same rule, honest phases."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest
import torch

from engine import RunRequest, Session, Settings
from engine.check.greedy import LAWS, PROMPTS, check_greedy
from engine.drafters.small import SmallModelDrafter
from engine.loading import load_model
from engine.models.plans.cuda_recorder import CudaRecorder
from engine.observation import Look, Observer
from engine.packet import Packet
from engine.phases import Phases
from engine.trace.events import Round
from tests.engine.decoding import decode
from tests.engine.test_queued import KINDS, SAMPLINGS, made
from tests.lawful import assert_lawful

if TYPE_CHECKING:
    from pathlib import Path

    from engine.loading import LoadedModel

pytestmark = pytest.mark.gpu


def with_itself(target: LoadedModel) -> Session:
    """Return a session in which "self" drafts with the target's own weights."""
    session = Session(target)
    drafter = SmallModelDrafter(target.transformer, target.info, "self", target.info.vocabulary)
    session.add_drafter("self", drafter)
    return session


def rounds_of(session: Session, drafter: str, temperature: float) -> list[Round]:
    settings = Settings(drafter=drafter, k=4, temperature=temperature)
    request = RunRequest(prompt=PROMPTS[0], settings=settings, max_new_tokens=40)
    events = list(session.run(request))
    assert_lawful(events)
    return [event for event in events if isinstance(event, Round)]


def overlaps(rounds: list[Round]) -> list[float]:
    laws = [token.laws for one in rounds for token in one.drafted]
    return [law.overlap for law in laws if law is not None and law.overlap is not None]


def test_the_default_plan_is_eager_bfloat16(tiny_folder: Path) -> None:
    target = load_model(tiny_folder)
    assert (target.info.plan, target.info.dtype) == ("eager", "bfloat16")
    assert target.info.device == torch.cuda.get_device_name()
    for temperature in (0.0, 1.0):
        assert rounds_of(Session(target), "ngram", temperature)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_greedy_text_of_a_tiny_model_is_the_plain_targets_or_tied(
    tiny_folder: Path, near_folder: Path, dtype: torch.dtype
) -> None:
    target = load_model(tiny_folder, device="cuda", dtype=dtype)
    drafters = ("ngram", f"model:{near_folder}", "early:1")
    report = check_greedy(Session(target), drafters, laws=LAWS)
    assert report.faults == 0
    if dtype == torch.float64:
        assert report.identical == len(report.cells)


@pytest.mark.model
def test_greedy_text_of_the_default_model_is_the_plain_targets_or_tied(
    default_model_path: Path,
) -> None:
    session = with_itself(load_model(default_model_path))
    report = check_greedy(session, ("ngram", "head", "self", "early:25"))
    assert report.faults == 0
    assert sum(cell.accepted for cell in report.cells) > 0


def test_the_targets_own_weights_are_always_accepted_in_float64(tiny_folder: Path) -> None:
    session = with_itself(load_model(tiny_folder, device="cuda", dtype=torch.float64))
    for temperature in (0.0, 1.0):
        rounds = rounds_of(session, "self", temperature)
        assert all(one.accepted == len(one.drafted) for one in rounds)
        assert min(overlaps(rounds)) > 1 - 1e-9


@pytest.mark.model
def test_the_targets_own_law_overlaps_itself_in_bfloat16(default_model_path: Path) -> None:
    # 1 less the kernels' difference between passes of one token and of five
    found = overlaps(rounds_of(with_itself(load_model(default_model_path)), "self", 1.0))
    assert sum(found) / len(found) > 0.95


@pytest.fixture
def strict(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Forbid every wait within draft, verify, accept and look, and note the transfers."""
    transfers: list[str] = []
    begin, end, look, read = Phases.begin, Phases.end, Observer.look, Packet.read

    def entered(self: Phases) -> None:
        torch.cuda.set_sync_debug_mode("error")
        begin(self)

    def left(self: Phases) -> tuple[int, ...]:
        torch.cuda.set_sync_debug_mode("default")
        transfers.append("end")
        return end(self)

    def looked(*arguments: object) -> Look:
        torch.cuda.set_sync_debug_mode("error")
        try:
            return look(*arguments)  # type: ignore[arg-type]  # passed on
        finally:
            torch.cuda.set_sync_debug_mode("default")

    def counted(self: Packet) -> dict[str, list[float]]:
        before = torch.cuda.get_sync_debug_mode()
        torch.cuda.set_sync_debug_mode("default")
        transfers.append("read")
        try:
            return read(self)
        finally:
            torch.cuda.set_sync_debug_mode(before)

    monkeypatch.setattr(Phases, "begin", entered)
    monkeypatch.setattr(Phases, "end", left)
    monkeypatch.setattr(Observer, "look", looked)
    monkeypatch.setattr(Packet, "read", counted)
    return transfers


@pytest.mark.parametrize("confidence", [0.0, 0.5])
@pytest.mark.parametrize("law", SAMPLINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_round_is_read_once_and_waits_for_nothing_else(
    tiny_folder: Path,
    near_folder: Path,
    tmp_path: Path,
    strict: list[str],
    kind: str,
    law: str,
    confidence: float,
) -> None:
    target = load_model(tiny_folder, device="cuda", dtype=torch.float32)
    torch.cuda.set_sync_debug_mode("default")
    drafter = made(kind, target, near_folder, tmp_path)
    strict.clear()
    try:
        _, rounds, _ = decode(
            target, drafter, sampling=SAMPLINGS[law], confidence=confidence, count=16
        )
    finally:
        torch.cuda.set_sync_debug_mode("default")
    # the verdict's transfer within the round, the observation's outside it
    assert strict == ["read", "end", "read"] * len(rounds)


@pytest.mark.parametrize("law", SAMPLINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_queued_rounds_are_those_that_are_read_step_by_step(
    tiny_folder: Path, near_folder: Path, tmp_path: Path, kind: str, law: str
) -> None:
    target = load_model(tiny_folder, device="cuda", dtype=torch.float64)
    drafter = made(kind, target, near_folder, tmp_path)
    found = []
    for queued in (None, False):
        tokens, rounds, _ = decode(
            target, drafter, sampling=SAMPLINGS[law], confidence=0.5, k_min=1, queued=queued
        )
        found.append((tokens, [[(t.id, t.fate, t.u) for t in one.drafted] for one in rounds]))
    assert found[0] == found[1]


def test_phases_are_the_devices_own(tiny_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # a verify that keeps the device busy and the host not is a long verify, and no long draft
    target = load_model(tiny_folder)
    forward = target.transformer.forward

    def busy(*arguments: object) -> torch.Tensor:
        torch.cuda._sleep(200_000_000)  # cycles: some 100 ms
        return forward(*arguments)  # type: ignore[arg-type]  # passed on

    rounds_of(Session(target), "ngram", 1.0)  # warm
    monkeypatch.setattr(target.transformer, "forward", busy)
    sequence_rounds = rounds_of(Session(target), "ngram", 1.0)
    for one in sequence_rounds:
        times = one.times
        assert min(times.draft, times.verify, times.accept) >= 0
        assert times.verify > 10 * (times.draft + times.commit)
        assert times.verify > 2 * times.accept


def test_graphs_are_recorded_again_after_all_others_have_gone() -> None:
    recorder, number = CudaRecorder(torch.device("cuda")), torch.zeros(1, device="cuda")
    for turn in range(3):
        recording = recorder.record(lambda: 2 * number)
        number.fill_(turn)
        recording.replay()
        assert recording.output.item() == 2 * turn
        del recording
        gc.collect()
