"""Rounds that are queued whole: the same rounds, number for number, and one transfer for each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
import torch

from engine.decoder import Decoder
from engine.drafters.drafting import begin_draft
from engine.drafters.protocol import Context, DraftRequest, QueuedProposal
from engine.loading import load_model, make_drafter
from engine.observation import Look, Observer
from engine.packet import Packet
from engine.phases import Phases
from engine.plain import _choose
from engine.sampling import Sampling
from engine.trace.events import DraftEnd
from tests.engine.decoding import Scripted, decode
from tests.engine.drafters import making
from tests.engine.host_reads import HostReads

if TYPE_CHECKING:
    from pathlib import Path

    from engine.drafters.protocol import Drafter
    from engine.emission import Emission
    from engine.loading import LoadedModel
    from engine.trace.events import Laws, Round

KINDS = ("none", "scripted", "ngram", "model", "early", *making.SHAPES)
SAMPLINGS = {
    "greedy": Sampling(),
    "plain": Sampling(1.0),
    "cut": Sampling(1.2, top_k=60, top_p=0.9, min_p=0.01),
    "penalised": Sampling(
        0.9,
        top_p=0.95,
        repetition_penalty=1.2,
        presence_penalty=0.3,
        frequency_penalty=0.4,
        logit_bias=((97, 1.5), (97, 0.1), (3, 2.0), (250, -1.0)),
    ),
    "greedy, penalised": Sampling(frequency_penalty=0.7, logit_bias=((101, 2.0),)),
}


@pytest.fixture(scope="module")
def alike(tiny_folder: Path) -> LoadedModel:
    """A target whose rows round alike, so that a wider pass gives the same bits."""
    return load_model(tiny_folder, device="cpu", plan="packed")


@pytest.fixture
def drafter(
    request: pytest.FixtureRequest, alike: LoadedModel, near_folder: Path, tmp_path: Path
) -> Drafter | None:
    return made(request.param, alike, near_folder, tmp_path)


def made(kind: str, target: LoadedModel, near_folder: Path, folder: Path) -> Drafter | None:
    if kind == "scripted":
        return Scripted(decode(target, None, k=0, count=16)[0])
    if kind in making.SHAPES:
        return making.made(target, kind, folder)
    specs = {"model": f"model:{near_folder}", "early": "early:1"}
    return make_drafter(specs.get(kind, kind), target)


def records(rounds: list[Round]) -> list[dict[str, Any]]:
    """What rounds record, but for times, and for how far a draft that was cut had gone."""
    kept = []
    for one in rounds:
        record = msgspec.to_builtins(one)
        del record["times"]
        if one.draft_end is DraftEnd.UNSURE:
            record["target_cache"].pop("pages_peak", None)
            for name in ("peak", "pages_peak"):
                record.get("drafter_cache", {}).pop(name, None)
        kept.append(record)
    return kept


@pytest.mark.parametrize("drafter", KINDS, indirect=True)
@pytest.mark.parametrize("law", SAMPLINGS)
def test_a_queued_round_is_the_round_that_is_read_step_by_step(
    alike: LoadedModel, drafter: Drafter | None, law: str
) -> None:
    for own, confidence, k_min in ((None, 0.0, 0), (1.3, 0.8, 1)):
        both = [
            decode(
                alike,
                drafter,
                k=4 if drafter else 0,
                sampling=SAMPLINGS[law],
                drafter_sampling=None if own is None else Sampling(own),
                confidence=confidence,
                k_min=k_min,
                count=16,
                seed=3,
                queued=queued,
            )[1]
            for queued in (False, True)
        ]
        assert records(both[0]) == records(both[1])
        if confidence and drafter is not None and drafter.spec.startswith(("model", "early")):
            assert DraftEnd.UNSURE in {one.draft_end for one in both[1]}


@pytest.mark.parametrize("drafter", KINDS, indirect=True)
@pytest.mark.parametrize("law", SAMPLINGS)
@pytest.mark.parametrize("confidence", [0.0, 0.5])
def test_a_queued_round_is_read_once(
    alike: LoadedModel,
    drafter: Drafter | None,
    law: str,
    confidence: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted = HostReads(monkeypatch)
    begin, end = Phases.begin, Phases.end
    seen: list[tuple[list[str], int]] = []

    def entered(self: Phases) -> None:
        counted.__enter__()
        begin(self)

    def left(self: Phases) -> tuple[int, ...]:
        counted.__exit__(None, None, None)
        seen.append((counted.reads[:], counted.sent - counted.sent_at_once))
        counted.reads.clear()
        return end(self)

    monkeypatch.setattr(Phases, "begin", entered)
    monkeypatch.setattr(Phases, "end", left)
    _, rounds, _ = decode(
        alike, drafter, sampling=SAMPLINGS[law], confidence=confidence, queued=True, count=8
    )
    assert seen == [(["tolist"], 0)] * len(rounds)
    assert counted.sent_at_once >= len(rounds)


@pytest.mark.parametrize("drafter", ["none", "ngram", "head"], indirect=True)
@pytest.mark.parametrize("law", SAMPLINGS)
def test_a_device_looks_at_a_round_unasked_and_is_asked_once(
    alike: LoadedModel, drafter: Drafter | None, law: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = HostReads(monkeypatch)
    look, laws = Observer.look, Observer.laws
    order: list[str] = []

    def looked(*arguments: Any) -> Look:
        order.append("look")
        with counted:
            found = look(*arguments)
        assert counted.reads == []
        assert counted.sent == counted.sent_at_once
        return found

    def read(*arguments: Any, **named: Any) -> list[Laws]:
        order.append("read")
        with counted:
            found = laws(*arguments, **named)
        assert counted.reads == ["tolist"]
        counted.reads.clear()
        return found

    commit = Decoder._commit

    def committed(*arguments: Any) -> Emission:
        order.append("commit")
        return commit(*arguments)

    monkeypatch.setattr(Observer, "look", looked)
    monkeypatch.setattr(Observer, "laws", read)
    monkeypatch.setattr(Decoder, "_commit", committed)
    _, rounds, _ = decode(alike, drafter, sampling=SAMPLINGS[law], queued=True, count=8)
    assert order == ["look", "commit", "read"] * len(rounds)


def test_a_probe_chooses_on_a_device_as_on_a_host(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = torch.randn(1, 3_000, generator=torch.Generator().manual_seed(5))
    for sampling in SAMPLINGS.values():
        chosen = _choose(scores, sampling, queued=False)
        with HostReads(monkeypatch) as counted:
            assert _choose(scores, sampling, queued=True) == chosen
        assert len(counted.reads) == 1


def test_a_round_that_is_read_step_by_step_is_read_more_often(
    alike: LoadedModel, near_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the count itself can see
    drafter = make_drafter(f"model:{near_folder}", alike)
    with HostReads(monkeypatch) as counted:
        decode(alike, drafter, sampling=Sampling(1.0), count=8, queued=False)
    assert len(counted.reads) > 8 * 4
    assert counted.sent > counted.sent_at_once


@pytest.mark.parametrize(("beyond", "drafted"), [(-1e-9, 3), (0.0, 3), (1e-9, 0)])
def test_what_is_unsure_is_so_to_the_last_digit(beyond: float, drafted: int) -> None:
    # float32 holds one third as a little more; the confidence asked for has more digits than that
    flat = torch.zeros(1, 3)
    confidence = float(torch.tensor(1 / 3)) + beyond
    queue = torch.full((3,), 0.5, dtype=torch.float64)
    request = DraftRequest(3, Sampling(1.0), [0.5] * 3, 0, confidence)
    step, queued = (
        begin_draft(Context([0], torch.empty(1, 1)), asked, 3)
        for asked in (request, replace(request, queue=queue))
    )
    while not step.over:
        step.extend(flat)
    while not queued.over:
        queued.extend(flat)
    proposal = queued.proposal()
    assert isinstance(proposal, QueuedProposal)
    assert proposal.sure is not None
    assert len(step.proposal().tokens) == drafted
    assert proposal.sure.tolist() == [drafted == 3] * 3


def test_a_packet_gives_back_what_was_put_in() -> None:
    parts = {
        "ids": torch.tensor([3, 2**40 + 1]),
        "nothing": torch.empty(0),
        "law": torch.tensor([[0.1, 0.2]], dtype=torch.float32),
        "sound": torch.tensor([True, False]),
    }
    read = Packet.of(parts).read()
    assert read["ids"] == [3, 2**40 + 1]
    assert read["nothing"] == []
    assert read["law"] == parts["law"][0].tolist()
    assert read["sound"] == [1, 0]
