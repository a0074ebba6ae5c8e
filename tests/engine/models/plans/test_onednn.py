"""The packed plan by oneDNN: right, alike at its widths, and the same text whatever drafts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from torch.nn import functional

import engine.models.plans.onednn as onednn_module
from engine.cache import KVCache
from engine.loading import LoadedModel, load_model, make_drafter
from engine.models.plans.onednn import OneDnnPlan
from engine.models.plans.widths import WIDEST_PROBED
from tests.engine.decoding import decode
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    folder = write_tiny_folder(tmp_path_factory.mktemp("models") / "tiny", layers=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("engine.loading.choose_plan", lambda *_, **__: OneDnnPlan())
        return load_model(folder, device="cpu")


@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_a_product_is_torchs_own(biased: bool, dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(1)
    weight = torch.randn(96, 40, generator=generator).to(dtype)
    bias = torch.randn(96, generator=generator).to(dtype) if biased else None
    layer = OneDnnPlan().linear(weight, bias)
    norm = torch.rand(40, generator=generator)
    for rows in (1, 2, 3, 8, 17, 130):
        x = torch.randn(rows, 40, generator=generator)
        added = None if bias is None else bias.float()
        expected = functional.linear(x, weight.float(), added)
        torch.testing.assert_close(layer(x), expected, atol=1e-5, rtol=1e-5)
        expected = functional.linear(functional.rms_norm(x, (40,), norm), weight.float(), added)
        torch.testing.assert_close(layer.normed(x, norm, 0.0), expected, atol=1e-5, rtol=1e-5)


def test_a_models_logits_are_the_references(target: LoadedModel, tmp_path: Path) -> None:
    assert target.info.plan == "packed"
    assert target.info.dtype == "float32 weights, packed by oneDNN"
    folder = write_tiny_folder(tmp_path / "tiny", layers=3)
    eager = load_model(folder, device="cpu", plan="eager").transformer
    tokens = [(7 * i) % 250 for i in range(70)]
    scores = []
    with torch.inference_mode():
        for model in (target.transformer, eager):
            scores.append(model.logits(model.forward(tokens, KVCache(model.new_pool()))))
    torch.testing.assert_close(*scores, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("context", [1, 40, 250, 530])
def test_rows_do_not_depend_on_the_width(target: LoadedModel, context: int) -> None:
    model = target.transformer
    tokens = [(11 * i) % 250 for i in range(context + 24)]
    with torch.inference_mode():
        cache = KVCache(model.new_pool())
        model.forward(tokens[:context], cache)
        one_by_one = [model.logits(model.forward([token], cache))[0] for token in tokens[context:]]
        for width in (2, 3, 5, 8, 12):
            cache.truncate(context)
            rows = [
                model.logits(model.forward(tokens[begin : begin + width], cache))
                for begin in range(context, context + 24, width)
            ]
            assert torch.equal(torch.cat(rows)[:24], torch.stack(one_by_one)), width


def test_passes_are_padded_to_widths_that_were_seen_alike() -> None:
    plan = OneDnnPlan()
    odd = torch.arange(WIDEST_PROBED) % 2

    def run(width: int) -> torch.Tensor:
        rows = torch.arange(WIDEST_PROBED)[:width]
        return rows if width % 2 else rows + odd[:width]  # even widths round differently

    plan.calibrate(run)
    assert plan.widths == tuple(range(1, WIDEST_PROBED + 1, 2))
    assert [plan.width(rows) for rows in (1, 2, 8, 33, 34)] == [1, 3, 9, 33, 40]


@pytest.mark.parametrize("drafter", ["ngram", "early:1", "early:2"])
@pytest.mark.parametrize("k", [1, 4, 7])
def test_greedy_text_is_the_plain_targets(target: LoadedModel, drafter: str, k: int) -> None:
    plain = decode(target, None, k=0, count=40)[0]
    assert decode(target, make_drafter(drafter, target), k=k, count=40)[0] == plain
    assert len(plain) == 40


def test_a_build_without_the_kernels_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert OneDnnPlan.available()  # every build that Draftscope installs has them

    def missing(weight: torch.Tensor) -> torch.Tensor:
        raise RuntimeError("mkldnn is not compiled in")

    onednn_module._multiplies.cache_clear()
    try:
        with monkeypatch.context() as patch:
            patch.setattr(onednn_module, "_packed", missing)
            assert not OneDnnPlan.available()
    finally:
        onednn_module._multiplies.cache_clear()
