"""GGUF files of the family against the folders that they were made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from engine.cache import KVCache
from engine.errors import DraftscopeError
from engine.models.formats.weights import open_checkpoint
from engine.models.plans.eager import EagerPlan
from engine.models.rotary import frequencies
from engine.models.transformer import Transformer
from tests.engine.models.family_files import LLAMA3, make, write, write_gguf

if TYPE_CHECKING:
    from pathlib import Path

CONTEXT = [(31 * i + i * i) % 256 for i in range(100)]
YARN: dict[str, Any] = {
    "rope.scaling.type": "yarn",
    "rope.scaling.factor": 4.0,
    "rope.scaling.original_context_length": 64,
}


@torch.inference_mode()
def logits(path: Path) -> torch.Tensor:
    """Return logits of the context; [T, V] in float64, where rounding hides nothing."""
    checkpoint = open_checkpoint(path)
    plan = EagerPlan(torch.device("cpu"), torch.float64)
    model = Transformer(checkpoint.config, checkpoint.tensor, plan)
    return model.logits(model.forward(CONTEXT, KVCache(model.new_pool())))


def llama3_divisors() -> np.ndarray:
    """Return what llama.cpp's converter writes for the family's llama3 scaling."""
    plain = 1.0 / 5e5 ** (np.arange(0, 16, 2) / 16)
    divisors = []
    for frequency in plain:
        wavelength = 2 * np.pi / frequency
        if wavelength < 64 / LLAMA3["high_freq_factor"]:
            divisors.append(1.0)
        elif wavelength > 64 / LLAMA3["low_freq_factor"]:
            divisors.append(LLAMA3["factor"])
        else:
            smooth = (64 / wavelength - 1.0) / (4.0 - 1.0)
            divisors.append(1 / ((1 - smooth) / LLAMA3["factor"] + smooth))
    return np.array(divisors, np.float32)


@pytest.mark.parametrize(
    ("name", "metadata", "extra"),
    [
        ("llama tied", {}, {}),
        ("llama biased", {}, {}),
        ("llama wide heads", {}, {}),
        ("llama linear", {"rope.scaling.type": "linear", "rope.scaling.factor": 4.0}, {}),
        ("llama llama3", {}, {"rope_freqs.weight": llama3_divisors()}),
        ("llama yarn", YARN, {}),
        ("mistral window", {"attention.sliding_window": 8}, {}),
        ("qwen2", {}, {}),
        (
            "qwen2 yarn",
            {
                **YARN,
                "rope.scaling.yarn_attn_factor": 0.8,
                "rope.scaling.yarn_beta_fast": 16.0,
                "rope.scaling.yarn_beta_slow": 2.0,
            },
            {},
        ),
        ("qwen3", {}, {}),
    ],
)
def test_a_gguf_file_equals_its_folder(
    tmp_path: Path, name: str, metadata: dict[str, Any], extra: dict[str, np.ndarray]
) -> None:
    theirs = make(name)
    folder = write(theirs, tmp_path / "model")
    file = write_gguf(theirs, tmp_path / "model.gguf", metadata, extra)
    difference = logits(file) - logits(folder)
    assert float(difference.abs().max()) < 1e-5
    one, other = open_checkpoint(file).config, open_checkpoint(folder).config
    assert (one.width, one.head_dim, one.windowed) == (other.width, other.head_dim, other.windowed)


@pytest.mark.parametrize("name", ["llama biased", "llama llama3", "qwen2", "qwen3", "llama yarn"])
def test_what_sets_a_model_apart_counts(tmp_path: Path, name: str) -> None:
    # without the biases, norms or frequencies the comparison above could not hold
    theirs = make(name)
    folder = write(theirs, tmp_path / "model")
    with torch.no_grad():
        for part, weight in theirs.named_parameters():
            if "bias" in part:
                weight.zero_()
            elif "q_norm" in part or "k_norm" in part:
                weight.fill_(1.0)
    changed = logits(write_gguf(theirs, tmp_path / "model.gguf", {}))
    assert float((changed - logits(folder)).abs().max()) > 0.01


def test_divisors_are_the_scaling_that_they_were_made_from(tmp_path: Path) -> None:
    theirs = make("llama llama3")
    extra = {"rope_freqs.weight": llama3_divisors()}
    config = open_checkpoint(write_gguf(theirs, tmp_path / "model.gguf", {}, extra)).config
    found = frequencies(16, config.rope_base, config.scaling)
    assert float((found - theirs.model.rotary_emb.inv_freq).abs().max()) < 1e-6


def test_a_part_of_a_head_may_turn_in_qwen_files_alone(tmp_path: Path) -> None:
    theirs = make("qwen2")
    file = write_gguf(theirs, tmp_path / "part.gguf", {"rope.dimension_count": 8})
    whole = write_gguf(theirs, tmp_path / "whole.gguf", {})
    assert open_checkpoint(file).config.rotary_dim == 8
    assert float((logits(file) - logits(whole)).abs().max()) > 0.01
    llama = write_gguf(make("llama"), tmp_path / "llama.gguf", {"rope.dimension_count": 8})
    with pytest.raises(DraftscopeError, match="dimension_count is 8"):
        open_checkpoint(llama)


@pytest.mark.parametrize(
    ("name", "metadata", "extra", "said"),
    [
        ("qwen2", {"attention.sliding_window": 8}, {}, "sliding_window is 8"),
        ("qwen2", {}, {"rope_freqs.weight": np.ones(8, np.float32)}, "rope_freqs"),
        ("llama", YARN, {"rope_freqs.weight": np.ones(8, np.float32)}, "beside rotary scaling"),
        ("llama", {}, {"rope_factors_long.weight": np.ones(8, np.float32)}, "rope_factors_long"),
        ("llama", {}, {"blk.0.attn_q_norm.weight": np.ones(16, np.float32)}, "q_norm"),
        ("llama", {}, {"blk.1.attn_q.bias": np.ones(64, np.float32)}, "q_proj.bias"),
        ("llama", {}, {"output.bias": np.ones(258, np.float32)}, "output.bias"),
    ],
)
def test_what_a_file_adds_is_refused_by_name(
    tmp_path: Path,
    name: str,
    metadata: dict[str, Any],
    extra: dict[str, np.ndarray],
    said: str,
) -> None:
    file = write_gguf(make(name), tmp_path / "model.gguf", metadata, extra)
    with pytest.raises(DraftscopeError, match=said) as caught:
        open_checkpoint(file)
    assert "Supported are the model types" in str(caught.value)
