"""Models under the compiled plan: the family's logits, exact laws, and when it is chosen."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch

from engine import DraftscopeError
from engine.check.greedy import LAWS, check_greedy
from engine.loading import LoadingCancelled, load_model, make_drafter
from engine.models.native import build
from engine.models.plans.choice import choose_plan
from engine.sampling import Sampling
from engine.session import Session
from engine.trace.events import Fate
from tests.engine.decoding import decode
from tests.engine.models.family_files import FAMILY, make, write
from tests.engine.models.test_family import CONTEXT, our_logits, their_logits

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.loading import LoadedModel

    Load = Callable[[Path], LoadedModel]

pytestmark = pytest.mark.compiler


@pytest.fixture
def kernels(built_library: Path) -> Path:
    """Put the built library into the test's own data folder."""
    folder = Path(os.environ["DRAFTSCOPE_DATA"]) / "kernels"
    folder.mkdir()
    for file in (built_library, built_library.with_suffix(".json")):
        (folder / file.name).write_bytes(file.read_bytes())
    return folder


@pytest.mark.parametrize("name", FAMILY)
def test_logits_equal_those_of_transformers(tmp_path: Path, name: str, load_compiled: Load) -> None:
    theirs = make(name)
    with torch.no_grad():
        for weight in theirs.parameters():
            if weight.ndim > 1:
                weight.copy_(weight.half().float())
    ours = load_compiled(write(theirs, tmp_path / "model"))
    expected = their_logits(theirs, CONTEXT)
    rows = [our_logits(ours, CONTEXT, chunk) for chunk in (1, 7, 100)]
    assert float((rows[0] - expected).abs().max()) < 2e-4
    assert torch.equal(rows[0], rows[1])
    assert torch.equal(rows[0], rows[2])


def test_greedy_text_is_the_plain_targets(
    tiny_folder: Path, near_folder: Path, load_compiled: Load, kernels: Path
) -> None:
    session = Session(load_compiled(tiny_folder))
    report = check_greedy(session, ("ngram", f"model:{near_folder}", "early:1"), laws=LAWS)
    assert report.identical == len(report.cells)
    assert sum(cell.accepted for cell in report.cells) > 0


@pytest.mark.parametrize("temperature", [0.0, 0.7, 1.0])
def test_the_targets_own_weights_are_always_accepted_and_their_laws_are_equal(
    tiny_folder: Path, load_compiled: Load, kernels: Path, temperature: float
) -> None:
    target = load_compiled(tiny_folder)
    drafter = make_drafter(f"model:{tiny_folder}", target)
    for k in (1, 3, 8):
        _, rounds, _ = decode(
            target, drafter, k=k, sampling=Sampling(temperature=temperature), count=40
        )
        drafted = [token for one in rounds for token in one.drafted]
        assert drafted
        assert all(token.fate is Fate.ACCEPTED for token in drafted)
        assert all(token.p_target == token.q_draft for token in drafted)


def test_a_growing_store_is_followed(tiny_folder: Path, load_compiled: Load) -> None:
    target = load_compiled(tiny_folder)
    model = target.transformer
    pool = model.new_pool()
    from engine.cache import KVCache

    text = [(11 * i) % 250 for i in range(400)]
    whole = KVCache(model.new_pool())
    with torch.inference_mode():
        expected = model.logits(model.forward(text, whole))
        caches = [KVCache(pool) for _ in range(6)]  # more than the store holds at first
        before = pool.generation
        for begin in range(0, 400, 50):
            for cache in caches:
                got = model.logits(model.forward(text[begin : begin + 50], cache))
                assert torch.equal(got, expected[begin : begin + 50])
    assert pool.generation > before


@pytest.mark.model
def test_the_default_models_text_is_the_plain_targets(
    default_model_path: Path, load_compiled: Load
) -> None:
    target = load_compiled(default_model_path)
    assert target.info.plan == "compiled"
    report = check_greedy(
        Session(target), ("ngram", "head", "early:25"), prompts=("Why is the sky blue?",)
    )
    assert report.identical == len(report.cells)


def test_without_a_tried_library_packed_stays_the_default(tiny_folder: Path) -> None:
    assert load_model(tiny_folder, device="cpu").info.plan == "packed"


def test_a_library_that_was_worth_it_is_the_default(tiny_folder: Path, kernels: Path) -> None:
    assert load_model(tiny_folder, device="cpu").info.plan == "compiled"
    assert load_model(tiny_folder, device="cpu", plan="packed").info.plan == "packed"


@pytest.mark.parametrize("ratio", [0.91, 1.0, float("nan")])
def test_a_library_that_gains_less_than_a_tenth_is_not_the_default(
    tiny_folder: Path, kernels: Path, ratio: float
) -> None:
    record = build.record_path()
    record.write_text(f'{{"over_packed": {ratio if ratio == ratio else "null"}, "difference": 0}}')
    assert load_model(tiny_folder, device="cpu").info.plan == "packed"


def test_a_library_that_cannot_be_loaded_is_named_with_what_to_do(kernels: Path) -> None:
    build.library_path().write_bytes(b"no library")
    with pytest.raises(DraftscopeError, match=r"warm-up --again.*--plan packed"):
        choose_plan("compiled", torch.device("cpu"))


def test_by_default_packed_serves_where_the_library_cannot_be_loaded(
    tiny_folder: Path, kernels: Path
) -> None:
    build.library_path().write_bytes(b"built on another machine")
    assert load_model(tiny_folder, device="cpu").info.plan == "packed"


def test_asked_for_by_name_it_is_built_with_progress_and_can_be_cancelled(
    tiny_folder: Path,
) -> None:
    said: list[str] = []
    with pytest.raises(LoadingCancelled):
        load_model(
            tiny_folder,
            device="cpu",
            plan="compiled",
            progress=lambda *step: said.append(step[2]),
            cancelled=lambda: bool(said),
        )
    assert said == ["Compiling for this processor"]
    assert build.tried() is None
