"""Rotary frequencies and factors against transformers' own, and where the numbers are read."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from engine.errors import DraftscopeError
from engine.models.family import DEFAULTS
from engine.models.formats.config_folder import config_from_folder
from engine.models.rope_scaling import RopeScaling, scaling_of_folder, scaling_of_gguf
from engine.models.rotary import Rotary, frequencies, turn
from tests.engine.models.family_files import edit_config
from tests.engine.models.formats.model_files import CONFIG, tensors, write_folder

if TYPE_CHECKING:
    from pathlib import Path

LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32_768}


@pytest.mark.parametrize("base", [10_000.0, 500_000.0, 1e6])
@pytest.mark.parametrize("head_dim", [64, 128])
@pytest.mark.parametrize(
    "scaling",
    [
        LLAMA3,
        {**LLAMA3, "factor": 32.0, "low_freq_factor": 0.5, "high_freq_factor": 16.0},
        YARN,
        {**YARN, "beta_fast": 8.0, "beta_slow": 2.0},
        {**YARN, "truncate": False},
        {**YARN, "mscale": 0.7, "mscale_all_dim": 1.4},
        {**YARN, "mscale": 0.7},  # one of the two alone counts for nothing
        {**YARN, "attention_factor": 0.9, "mscale": 0.7, "mscale_all_dim": 1.4},
        {**YARN, "factor": 0.5},
        {**YARN, "original_max_position_embeddings": 64},
        {"rope_type": "linear", "factor": 4.0},
        {"rope_type": "dynamic", "factor": 4.0},
    ],
)
@pytest.mark.case("C14")
def test_frequencies_and_factor_equal_the_reference(
    scaling: dict[str, Any], head_dim: int, base: float
) -> None:
    values = {"max_position_embeddings": 131_072, "rope_theta": base, "rope_scaling": scaling}
    theirs = LlamaConfig(
        hidden_size=4 * head_dim,
        num_attention_heads=4,
        head_dim=head_dim,
        max_position_embeddings=131_072,
        rope_parameters={"rope_theta": base, **scaling},
    )
    expected, factor = ROPE_INIT_FUNCTIONS[scaling["rope_type"]](theirs)
    read = scaling_of_folder(values)
    assert read is not None
    for dtype in (torch.float32, torch.float64):
        found = frequencies(head_dim, base, read, dtype)
        assert float((found - expected).abs().max()) < 1e-6
        assert float((found / expected - 1).abs().max()) < 2e-6  # of small ones too
    assert read.attention_factor == pytest.approx(factor, rel=1e-12)


def test_plain_frequencies_fall_by_the_base() -> None:
    found = frequencies(64, 10_000.0, None, torch.float64)
    expected = [10_000.0 ** (-i / 32) for i in range(32)]
    torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float64))


def test_divisors_divide() -> None:
    scaling = RopeScaling("divisors", divisors=(1.0, 2.0, 8.0, 8.0))
    plain = frequencies(8, 100.0, None)
    divided = plain / torch.tensor([1.0, 2.0, 8.0, 8.0])
    assert torch.equal(frequencies(8, 100.0, scaling), divided)


@pytest.mark.parametrize(
    ("outside", "inside", "original"),
    [(None, None, 128), (None, 64, 64), (32, 64, 32), (32, None, 32)],
)
def test_the_original_length_outside_of_the_scaling_wins(
    outside: int | None, inside: int | None, original: int
) -> None:
    scaling = {**LLAMA3, "original_max_position_embeddings": inside}
    given = {} if outside is None else {"original_max_position_embeddings": outside}
    read = scaling_of_folder({"max_position_embeddings": 128, "rope_scaling": scaling, **given})
    assert read is not None
    assert read.original_length == original
    own = {key: value for key, value in scaling.items() if value is not None}
    theirs = LlamaConfig(
        hidden_size=64,
        num_attention_heads=4,
        max_position_embeddings=128,
        rope_parameters={"rope_theta": 10_000.0, **own},
        **given,
    )
    expected, _ = ROPE_INIT_FUNCTIONS["llama3"](theirs)
    assert float((frequencies(16, 10_000.0, read) - expected).abs().max()) < 1e-6


def test_dynamic_scaling_ends_at_the_trained_length_with_a_note(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "model", tensors())
    edit_config(folder, rope_scaling={"type": "dynamic", "factor": 2.0})
    config = config_from_folder(folder)
    assert config.context_length == CONFIG["max_position_embeddings"]
    (note,) = config.notes
    assert "dynamic" in note
    assert "128 tokens" in note


@pytest.mark.parametrize(
    ("original", "length"), [(None, 512), (128, 512), (32, 128)], ids=["absent", "same", "shorter"]
)
def test_yarn_lengthens_a_context_that_is_given_as_the_trained_one(
    tmp_path: Path, original: int | None, length: int
) -> None:
    folder = write_folder(tmp_path / "model", tensors())
    given = {} if original is None else {"original_max_position_embeddings": original}
    edit_config(folder, rope_scaling={"rope_type": "yarn", "factor": 4.0, **given})
    assert config_from_folder(folder).context_length == length


def test_a_part_of_a_head_turns_and_the_rest_passes() -> None:
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(5, 3, 16, generator=generator, dtype=torch.float64)
    cos, sin = Rotary(6, 100.0, torch.float64, "cpu").rows(7, 5)
    found = turn(x, cos, sin)
    assert torch.equal(found[..., 6:], x[..., 6:])
    pairs = torch.complex(x[..., :3], x[..., 3:6])
    positions = torch.arange(7, 12, dtype=torch.float64)[:, None]
    angles = positions * frequencies(6, 100.0, None, torch.float64)
    expected = pairs * torch.polar(torch.ones_like(angles), angles)[:, None]
    torch.testing.assert_close(torch.complex(found[..., :3], found[..., 3:6]), expected)


def test_tables_grow_and_stay_what_they_were() -> None:
    scaling = RopeScaling("yarn", 4.0, 512, attention_factor=1.25)
    rotary = Rotary(16, 10_000.0, torch.float32, "cpu", scaling)
    before = [table.clone() for table in rotary.rows(1000, 20)]
    rotary.rows(5000, 10)
    for one, other in zip(before, rotary.rows(1000, 20), strict=True):
        assert torch.equal(one, other)
    cos, sin = rotary.rows(0, 1)
    assert cos.unique().tolist() == [1.25]  # the factor scales what turns
    assert sin.abs().max() == 0


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({}, None),
        ({"rope.scaling.type": "none", "rope.scaling.factor": 4.0}, None),
        ({"rope.scaling.type": "linear", "rope.scaling.factor": 1.0}, None),
        ({"rope.scaling.factor": 4.0}, RopeScaling("linear", 4.0)),
        ({"rope.scale_linear": 2.0}, RopeScaling("linear", 2.0)),
        (
            {"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0},
            RopeScaling("yarn", 4.0, 1000, attention_factor=1 + 0.1 * math.log(4)),
        ),
        (
            {
                **{"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0},
                **{"rope.scaling.original_context_length": 500, "rope.scaling.attn_factor": 2.0},
                **{"rope.scaling.yarn_beta_fast": 16.0, "rope.scaling.yarn_beta_slow": 2.0},
                "rope.scaling.yarn_attn_factor": 0.5,
            },
            RopeScaling("yarn", 4.0, 500, slow=2.0, fast=16.0, attention_factor=1.0),
        ),
    ],
)
def test_scaling_in_gguf_metadata(metadata: dict[str, Any], expected: RopeScaling | None) -> None:
    assert scaling_of_gguf(metadata, 1000) == expected


NUMBERS = st.one_of(
    st.sampled_from([0, 1, -1, 0.5, 4.0, 64, 1e-300, 1e308, 10**400, math.inf, math.nan, True]),
    st.sampled_from([None, "4", [], [1], {}, {"a": 1}]),
    st.integers(-(2**70), 2**70),
    st.floats(),
)
ROPE_KEYS = ("rope_theta", "factor", "low_freq_factor", "high_freq_factor", "beta_fast", "mscale")
KEYS = ("head_dim", "rope_theta", "partial_rotary_factor", "sliding_window", "max_window_layers")


@given(
    kind=st.sampled_from(sorted(DEFAULTS)),
    scaling=st.sampled_from([{}, LLAMA3, YARN, {"type": "linear", "factor": 2.0}]),
    rope=st.dictionaries(
        st.sampled_from([*ROPE_KEYS, "beta_slow", "mscale_all_dim", "truncate", *YARN]), NUMBERS
    ),
    own=st.dictionaries(
        st.sampled_from([*KEYS, "max_position_embeddings", "use_sliding_window"]), NUMBERS
    ),
)
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_whatever_the_numbers_are_they_make_a_model_or_a_sentence(
    tmp_path: Path,
    kind: str,
    scaling: dict[str, Any],
    rope: dict[str, Any],
    own: dict[str, Any],
) -> None:
    values = {**CONFIG, "model_type": kind, "rope_scaling": {**scaling, **rope}, **own}
    (tmp_path / "config.json").write_text(json.dumps(values))
    try:
        config = config_from_folder(tmp_path)
    except DraftscopeError:
        return
    found = frequencies(min(config.rotary_dim, 512), config.rope_base, config.scaling)
    assert found.isfinite().all()
    assert (found >= 0).all()
