"""The engine on a CUDA device: the same text, the same rule, honest phases."""

from __future__ import annotations

import threading
import warnings
from typing import TYPE_CHECKING

import pytest
import torch

import engine.decoder as decoder_module
from engine import RunRequest, Session, Settings
from engine.cache import KVCache
from engine.check.greedy import LAWS, PROMPTS, check_greedy
from engine.drafters.small import SmallModelDrafter
from engine.loading import load_model
from engine.models.plans.graphs import GraphPlan
from engine.prompting import prompt_tokens
from engine.sampling import sound_ids
from engine.trace.events import Round
from tests.lawful import assert_lawful

if TYPE_CHECKING:
    from pathlib import Path

    from engine.judgement import Judged
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


def test_a_greedy_verdict_takes_one_transfer() -> None:
    scores = torch.randn(5, 50_000, device="cuda")
    expected = scores.argmax(dim=-1).tolist()
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("warn")
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = sound_ids(scores, "target")
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert found == expected
    assert len([one for one in caught if "synchronizing" in str(one.message)]) == 1


def test_nothing_of_a_pass_is_left_for_the_next_phase(
    tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    idle = []
    accept = decoder_module.Decoder._accept

    def watched(self: decoder_module.Decoder, *arguments: object) -> Judged:
        idle.append(torch.cuda.current_stream().query())
        return accept(self, *arguments)  # type: ignore[arg-type]  # passed on

    monkeypatch.setattr(decoder_module.Decoder, "_accept", watched)
    rounds = rounds_of(Session(load_model(tiny_folder)), "ngram", 1.0)
    assert idle == [True] * len(rounds)


# Passes replayed from recorded graphs


def recorded(path: Path, dtype: torch.dtype | None = None) -> tuple[LoadedModel, GraphPlan]:
    """Load a target under the compiled plan; recording works on this device."""
    target = load_model(path, device="cuda", plan="compiled", dtype=dtype)
    plan = target.transformer.plan
    assert isinstance(plan, GraphPlan)
    assert plan.recordings.recorder is not None, plan.notes
    return target, plan


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_greedy_text_of_replayed_passes_is_the_plain_targets_or_tied(
    tiny_folder: Path, near_folder: Path, dtype: torch.dtype
) -> None:
    target, plan = recorded(tiny_folder, dtype)
    report = check_greedy(Session(target), ("ngram", f"model:{near_folder}", "early:1"), laws=LAWS)
    assert report.faults == 0
    assert plan.recordings.replays > 100
    assert plan.notes == ()
    if plan.rounds_alike or dtype == torch.float64:
        assert report.identical == len(report.cells)


def test_replayed_text_is_the_references_in_float64(tiny_folder: Path) -> None:
    targets = [
        load_model(tiny_folder, device="cuda", plan=plan, dtype=torch.float64)
        for plan in ("eager", "compiled")
    ]
    for drafter in ("none", "ngram", "early:1"):
        texts = [
            [one.emitted_ids for one in rounds_of(Session(target), drafter, 0.0)]
            for target in targets
        ]
        assert texts[0] == texts[1]


@pytest.mark.model
def test_replayed_laws_of_the_default_model_overlap_the_references(
    default_model_path: Path, record_property: pytest.RecordProperty
) -> None:
    target, plan = recorded(default_model_path)
    assert target.info.dtype == "bfloat16, recorded graphs"
    for name, found in (("widths", plan.widths), ("rounds_alike", plan.rounds_alike)):
        record_property(name, str(found))
        print(f"{name}: {found}")
    tokens = prompt_tokens(target, PROMPTS[1], raw=False)
    laws = []
    for loaded in (target, load_model(default_model_path, device="cuda", plan="eager")):
        model = loaded.transformer
        cache = KVCache(model.new_pool())
        with torch.inference_mode():
            rows = [model.logits(model.forward([token], cache))[0] for token in tokens]
        laws.append(torch.stack(rows).softmax(dim=-1))
    assert plan.recordings.replays >= len(tokens) - 2
    assert float(torch.minimum(*laws).sum(dim=-1).min()) > 0.95
    report = check_greedy(with_itself(target), ("ngram", "head", "self", "early:25"))
    assert report.faults == 0


def test_graphs_are_recorded_and_replayed_off_the_main_thread(tiny_folder: Path) -> None:
    target, plan = recorded(tiny_folder)
    found: list[Round] = []
    thread = threading.Thread(target=lambda: found.extend(rounds_of(Session(target), "ngram", 1.0)))
    thread.start()
    thread.join()
    assert found
    assert plan.recordings.replays > 0
    assert plan.notes == ()


def test_a_replayed_pass_never_waits(tiny_folder: Path) -> None:
    target, plan = recorded(tiny_folder)
    model, ids = target.transformer, torch.tensor([5], device="cuda")
    cache = KVCache(model.new_pool())
    with torch.inference_mode():
        for _ in range(4):
            model.forward(ids, cache)
        before = plan.recordings.replays
        torch.cuda.synchronize()
        torch.cuda.set_sync_debug_mode("error")
        try:
            model.forward(ids, cache)
        finally:
            torch.cuda.set_sync_debug_mode("default")
    assert plan.recordings.replays == before + 1
