"""The compiled plan of a CUDA device, on a CPU: the same bodies, recorded by a stand-in."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
import torch

import engine.models.plans.graphs as graphs_module
from engine.bounds import MOST_DRAFTED
from engine.cache import BLOCK, KVCache
from engine.loading import LoadedModel, load_model, make_drafter
from engine.models.blocks import BlockStack
from engine.models.plans.graphs import WIDTHS, GraphPlan, GraphStack
from engine.models.plans.recordings import MOST, USES_BEFORE, Recordings
from engine.sampling import Sampling
from tests.engine.decoding import decode
from tests.engine.models.plans.replaying import Replaying
from tests.engine.models.random_layers import KINDS, rows
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path

    from engine.models.plans.recordings import Recorder

CPU = torch.device("cpu")
DOUBLE = torch.float64


def new_plan(recorder: Recorder | None = None, dtype: torch.dtype = DOUBLE) -> GraphPlan:
    return GraphPlan(CPU, dtype, recordings=Recordings(recorder or Replaying()))


def loaded(folder: Path, plan: GraphPlan) -> LoadedModel:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("engine.loading.choose_plan", lambda *_, **__: plan)
        return load_model(folder, device="cpu")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_folder(tmp_path_factory.mktemp("models") / "deep", layers=3, endless=True)


@pytest.fixture(scope="module")
def plan() -> GraphPlan:
    return new_plan()


@pytest.fixture(scope="module")
def target(folder: Path, plan: GraphPlan) -> LoadedModel:
    return loaded(folder, plan)


def random_stack(
    recordings: Recordings, dtype: torch.dtype = DOUBLE
) -> tuple[GraphStack, BlockStack]:
    kind = KINDS["all"]
    made, rotary = kind.layers(dtype), kind.rotary(dtype)
    return GraphStack(made, rotary, recordings, CPU, dtype), BlockStack(made, rotary)


def test_a_growing_text_is_the_references_whether_recorded_or_not() -> None:
    # widths change from pass to pass, rows are rejected, the context passes into another block
    recordings, kind = Recordings(Replaying()), KINDS["all"]
    stack, reference = random_stack(recordings)
    ours, theirs = kind.filled(BLOCK - 60), kind.filled(BLOCK - 60)
    generator = torch.Generator().manual_seed(8)
    with torch.inference_mode():
        for turn in range(60):
            width = WIDTHS[turn % 4]
            x = torch.randn(width, 24, generator=generator, dtype=DOUBLE)
            found = stack.run(x, ours, slice(None))
            expected = reference.run(x, theirs, slice(None))
            assert float((found - expected).abs().max()) < 1e-12
            for cache in (ours, theirs):
                cache.append(width)
                cache.truncate(cache.length - width // 2)
    assert ours.length > BLOCK
    assert recordings.made == 8  # four widths in two blocks of context
    assert recordings.replays == 60 - 8 * USES_BEFORE


def test_a_store_that_has_moved_is_never_replayed_into() -> None:
    recordings, kind = Recordings(Replaying()), KINDS["plain"]
    made, rotary = kind.layers(), kind.rotary()
    stack, reference = GraphStack(made, rotary, recordings, CPU, DOUBLE), BlockStack(made, rotary)
    ours, theirs = kind.filled(30), kind.filled(30)
    with torch.inference_mode():
        for turn in range(12):
            if turn == 4:  # another sequence stands in the way: the run moves
                at, grown = ours.start, ours.pool.generation
                KVCache(ours.pool).reserve(1)
                ours.reserve(100)
                assert (ours.start != at, ours.pool.generation) == (True, grown)
            if turn == 8:  # the store grows
                KVCache(ours.pool).reserve(8000)
            x = rows(2)
            found = stack.run(x, ours, slice(None))
            assert float((found - reference.run(x, theirs, slice(None))).abs().max()) < 1e-12
            for cache in (ours, theirs):
                cache.append(2)
    assert ours.pool.generation == grown + 1
    assert recordings.made == 3


@pytest.mark.parametrize(("length", "made"), [(20, 2), (BLOCK - 1, 3)])
def test_layers_ahead_of_the_text_have_recordings_of_their_own(length: int, made: int) -> None:
    recordings, kind = Recordings(Replaying()), KINDS["all"]
    stack, reference = random_stack(recordings)
    ours, theirs = kind.filled(length), kind.filled(length)
    with torch.inference_mode():
        for _ in range(4):
            for layers, ahead in ((slice(1), 0), (slice(1), 1), (slice(1, None), 0)):
                x = rows(1)
                found = stack.run(x, ours, layers, ahead)
                expected = reference.run(x, theirs, layers, ahead)
                assert float((found - expected).abs().max()) < 1e-12
    assert recordings.made == made  # `ahead` is a position like any other


def test_prompts_are_not_recorded() -> None:
    recordings, kind = Recordings(Replaying()), KINDS["plain"]
    stack = GraphStack(kind.layers(), kind.rotary(), recordings, CPU, DOUBLE)
    cache = kind.filled(5)
    with torch.inference_mode():
        for _ in range(5):
            stack.run(rows(24), cache, slice(None))
    assert len(recordings) == 0


@pytest.mark.parametrize("drafter", ["ngram", "early:1", "model"])
@pytest.mark.parametrize("k", [1, 4, 9])
def test_greedy_text_is_the_plans_own_and_the_references(
    target: LoadedModel, folder: Path, plan: GraphPlan, drafter: str, k: int
) -> None:
    if drafter == "model":
        near = loaded(write_tiny_folder(folder.parent / "near", layers=3, noise=0.1), new_plan())
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("engine.loading.load_model", lambda *_, **__: near)
            made = make_drafter(f"model:{near.info.source}", target)
    else:
        made = make_drafter(drafter, target)
    before = plan.recordings.replays
    plain = decode(target, None, k=0, count=60)[0]
    assert decode(target, made, k=k, count=60)[0] == plain
    assert plan.recordings.replays > before + 60
    eager = load_model(folder, device="cpu", plan="eager", dtype=DOUBLE)
    assert decode(eager, None, k=0, count=60)[0] == plain
    assert len(plan.recordings) <= MOST


def test_sampled_text_is_the_references(target: LoadedModel, folder: Path) -> None:
    eager = load_model(folder, device="cpu", plan="eager", dtype=DOUBLE)
    texts = [
        decode(one, make_drafter("early:2", one), sampling=Sampling(0.9), count=60, seed=3)[0]
        for one in (target, eager)
    ]
    assert texts[0] == texts[1]


def test_a_recorder_that_fails_is_left_and_the_text_stays(folder: Path) -> None:
    plan = new_plan(Replaying(fails_after=2))
    target = loaded(folder, plan)
    assert target.info.dtype == "float64, recorded graphs"
    with pytest.warns(RuntimeWarning, match="without recorded graphs"):
        text = decode(target, make_drafter("ngram", target), count=40)[0]
    assert plan.description == "float64"
    assert plan.notes == (plan.recordings.note,)
    eager = load_model(folder, device="cpu", plan="eager", dtype=DOUBLE)
    assert decode(eager, None, k=0, count=40)[0] == text


def test_a_recorder_that_never_works_is_known_when_the_model_is_loaded(folder: Path) -> None:
    with pytest.warns(RuntimeWarning, match="without recorded graphs"):
        info = loaded(folder, new_plan(Replaying(fails_after=0))).info
    assert info.dtype == "float64"
    assert any("without recorded graphs" in note for note in info.notes)


def test_a_recorder_that_replays_something_else_is_found_out(folder: Path) -> None:
    class Wrong(Replaying):
        def record(self, body):  # type: ignore[no-untyped-def]  # as above
            return super().record(lambda: body() + 1)

    with pytest.warns(RuntimeWarning, match="gave other numbers"):
        loaded(folder, new_plan(Wrong()))


def test_a_stack_works_on_any_thread(target: LoadedModel, plan: GraphPlan) -> None:
    expected, texts = decode(target, None, k=0, count=30)[0], []

    def work() -> None:
        texts.append(decode(target, make_drafter("ngram", target), count=30)[0])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert texts == [expected]


@pytest.mark.parametrize(
    ("apart", "attends", "expected"),
    [
        ((), True, WIDTHS),
        ((1,), True, WIDTHS[1:]),
        ((1,), False, None),  # attention hangs on the width
        ((1, 2, 3, 4, 5, 6), True, None),  # too wide to be padded to
        ((6, 12), True, (1, 2, 3, 4, 5, 8, 16)),
        ((16,), True, None),  # rounds of 13 tokens would be padded to it
        ((32,), True, None),  # not recorded, but rounds may be so wide
        ((40,), True, None),
    ],
)
def test_widths_that_round_alike_are_used_where_narrow_ones_do(
    monkeypatch: pytest.MonkeyPatch,
    apart: tuple[int, ...],
    attends: bool,
    expected: tuple[int, ...] | None,
) -> None:
    monkeypatch.setattr(graphs_module, "attends_alike", lambda *_: attends)
    plan, kind = new_plan(), KINDS["plain"]
    plan.stack(kind.layers(), kind.rotary())
    probed: list[int] = []

    def run(width: int) -> torch.Tensor:
        probed.append(width)
        return rows(64)[:width] + (width in apart)

    plan.calibrate(run)
    assert {plan.width(count) for count in range(1, MOST_DRAFTED + 2)} <= set(probed)
    assert plan.rounds_alike == (expected is not None)
    assert plan.widths == (expected or WIDTHS)
    assert plan.width(1) == plan.widths[0]


def test_few_widths_are_used() -> None:
    plan = new_plan()
    asked = (1, 5, 7, 9, 16, 17, 64, 65, 128)
    assert [plan.width(one) for one in asked] == [1, 5, 8, 12, 16, 24, 64, 128, 128]
    assert {plan.width(one) for one in range(1, 17)} == set(WIDTHS)


@pytest.mark.parametrize("able", [True, False])
def test_a_device_without_bfloat16_gets_float32_and_a_sentence(
    monkeypatch: pytest.MonkeyPatch, able: bool
) -> None:
    monkeypatch.setattr(torch.cuda, "device", lambda _: torch.inference_mode())  # any context
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: able)
    plan = GraphPlan.on(torch.device("cuda"))
    assert plan.dtype == (torch.bfloat16 if able else torch.float32)
    assert plan.description == f"{str(plan.dtype).removeprefix('torch.')}, recorded graphs"
    assert len(plan.notes) == (0 if able else 1)
    assert GraphPlan.on(torch.device("cuda"), torch.float16).notes == ()
