"""A pass taken apart: which products are timed, and how parts add up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from engine import load_model
from engine.benchmarks.pass_parts import as_deep, linear_layers, measure_parts
from engine.benchmarks.work import matrix_weights
from engine.models.plans.packed import PackedPlan
from tests.engine.benchmarks.test_limits_and_work import rates
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path

    from engine.models.transformer import Transformer


@pytest.fixture
def model(tmp_path: Path) -> Transformer:
    return load_model(write_tiny_folder(tmp_path / "tiny"), device="cpu", plan="eager").transformer


def test_the_products_of_a_pass_are_all_its_matrices(model: Transformer) -> None:
    layers = linear_layers(model)
    assert len(layers) == 4 * model.config.layers + 1
    outs = [layer(torch.zeros(1, width)).shape[-1] for width, layer in layers]
    multiplied = sum(width * out for (width, _), out in zip(layers, outs, strict=True))
    assert multiplied == matrix_weights(model.config, model.vocabulary)


def test_a_model_as_deep_runs_under_the_same_plan(tmp_path: Path) -> None:
    folder = write_tiny_folder(tmp_path / "deep", layers=5)
    for plan in ("eager", *(["packed"] if PackedPlan.available() else [])):
        model = load_model(folder, device="cpu", plan=plan).transformer
        other = as_deep(model)
        assert (other.config.layers, other.plan.name) == (5, plan)
        assert other.config.heads == model.config.heads
        assert other.plan is not model.plan  # a plan learns the widths of its own model


def test_parts_add_up(model: Transformer) -> None:
    limits = rates(1e9, 1e9)
    parts = measure_parts(model, limits, widths=(1, 3), context=16, repeats=3)
    assert [(one.tokens, one.context) for one in parts] == [(1, 16), (3, 16)]
    for one in parts:
        known = one.linear.median_ns + one.fixed.median_ns + one.rest_ns
        assert known == pytest.approx(one.whole.median_ns)
        assert one.weights_ns == pytest.approx(4 * matrix_weights(model.config, model.vocabulary))
        assert one.whole.samples == one.linear.samples == one.fixed.samples == 3
