"""The model against Hugging Face's own, and the packed plan against the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from engine.cache import KVCache
from engine.loading import load_model
from engine.models.formats.weights import open_checkpoint
from engine.models.layout import expected_shapes
from engine.models.transformer import LowerRows
from engine.prompting import prompt_tokens
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path

    from engine.loading import LoadedModel
    from engine.models.config import ModelConfig

PROMPTS = (
    "Why is the sky blue?",
    "Write three short sentences about a lighthouse keeper.",
    "List the first ten prime numbers and explain what a prime number is.",
)


def reference(path: Path, config: ModelConfig, dtype: torch.dtype) -> LlamaForCausalLM:
    """Return Hugging Face's model with the weights of a checkpoint."""
    theirs = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=config.vocabulary,
            hidden_size=config.width,
            intermediate_size=config.mlp_width,
            num_hidden_layers=config.layers,
            num_attention_heads=config.heads,
            num_key_value_heads=config.kv_heads,
            head_dim=config.head_dim,
            max_position_embeddings=config.context_length,
            rms_norm_eps=config.rms_epsilon,
            rope_parameters={"rope_type": "default", "rope_theta": config.rope_base},
            tie_word_embeddings=config.tied,
        )
    )
    checkpoint = open_checkpoint(path)
    weights = {name: checkpoint.tensor(name) for name in expected_shapes(config)}
    checkpoint.close()
    missing, surplus = theirs.load_state_dict(weights, strict=False)
    assert not surplus
    assert set(missing) <= ({"lm_head.weight"} if config.tied else set())
    theirs.tie_weights()
    return theirs.to(dtype).eval()


@torch.inference_mode()
def our_logits(target: LoadedModel, tokens: list[int], chunk: int = 10**9) -> torch.Tensor:
    """Return logits of all positions, read in chunks; [T, V]."""
    model = target.transformer
    cache = KVCache(model.new_pool())
    rows = [
        model.logits(model.forward(tokens[begin : begin + chunk], cache))
        for begin in range(0, len(tokens), chunk)
    ]
    return torch.cat(rows)


@torch.inference_mode()
def their_logits(theirs: LlamaForCausalLM, tokens: list[int]) -> torch.Tensor:
    return theirs(torch.tensor([tokens])).logits[0]


@pytest.mark.parametrize("tied", [True, False])
def test_tiny_model_equals_transformers(tmp_path: Path, tied: bool) -> None:
    folder = write_tiny_folder(tmp_path / "model", seed=11, tied=tied, layers=3)
    ours = load_model(folder, device="cpu", plan="eager")
    theirs = reference(folder, open_checkpoint(folder).config, torch.float32)
    tokens = [(7 * i) % 250 for i in range(120)]
    scored = ours.tokenizer.vocabulary  # the padding of the table is not scored
    difference = our_logits(ours, tokens, chunk=37) - their_logits(theirs, tokens)[:, :scored]
    assert float(difference.abs().max()) < 1e-4


def test_chunks_and_cache_change_nothing(exact_target: LoadedModel) -> None:
    tokens = [(11 * i) % 250 for i in range(280)]
    whole = our_logits(exact_target, tokens)
    for chunk in (1, 5, 64):
        difference = our_logits(exact_target, tokens, chunk) - whole
        assert float(difference.abs().max()) < 1e-10


@pytest.fixture(scope="module")
def their_smollm2(default_model_path: Path) -> LlamaForCausalLM:
    config = open_checkpoint(default_model_path).config
    return reference(default_model_path, config, torch.float32)


@pytest.mark.model
def test_eager_smollm2_equals_transformers(
    smollm2_eager: LoadedModel, their_smollm2: LlamaForCausalLM
) -> None:
    for prompt in PROMPTS:
        tokens = prompt_tokens(smollm2_eager, prompt, raw=False)
        difference = our_logits(smollm2_eager, tokens) - their_logits(their_smollm2, tokens)
        assert float(difference.abs().max()) < 1e-4


@pytest.mark.model
def test_packed_laws_overlap_the_reference(
    smollm2: LoadedModel, smollm2_eager: LoadedModel
) -> None:
    if smollm2.info.plan != "packed":
        assert smollm2.info.plan == "eager"  # no x86 kernels here: the default is the reference
        return
    for prompt in PROMPTS:
        tokens = prompt_tokens(smollm2, prompt, raw=False)
        packed = torch.softmax(our_logits(smollm2, tokens), dim=-1)
        eager = torch.softmax(our_logits(smollm2_eager, tokens), dim=-1)
        overlap = torch.minimum(packed, eager).sum(dim=-1)
        assert float(overlap.min()) > 0.99


@pytest.mark.model
def test_rows_of_the_packed_plan_do_not_depend_on_the_width(smollm2: LoadedModel) -> None:
    # what makes plain and speculative text agree bit for bit (invariant 2)
    model = smollm2.transformer
    tokens = prompt_tokens(smollm2, PROMPTS[2], raw=False) * 7  # past one block of attention
    tokens = tokens[:290]
    with torch.inference_mode():
        cache = KVCache(model.new_pool())
        for begin in range(0, 240, 120):
            model.forward(tokens[begin : begin + 120], cache)
        one_by_one = []
        for token in tokens[240:]:
            one_by_one.append(model.logits(model.forward([token], cache))[0])
        for width in (2, 3, 5, 9, 12):
            cache.truncate(240)
            rows = []
            for begin in range(240, 290, width):
                hidden = model.forward(tokens[begin : begin + width], cache)
                rows.append(model.logits(hidden))
            together = torch.cat(rows)
            if smollm2.info.plan == "packed":
                assert torch.equal(together, torch.stack(one_by_one)), width
            else:
                assert float((together - torch.stack(one_by_one)).abs().max()) < 1e-3, width


@pytest.mark.parametrize("plan", ["eager", "packed"])
@pytest.mark.parametrize("done", [1, 2, 3])
def test_a_pass_goes_on_from_rows_of_its_lower_layers(
    tiny_folder: Path, plan: str, done: int
) -> None:
    model = load_model(tiny_folder, device="cpu", plan=plan).transformer
    ids = [7, 9, 11]
    with torch.inference_mode():
        whole, parts = KVCache(model.new_pool()), KVCache(model.new_pool())
        for cache in (whole, parts):
            model.forward([5] * 20, cache)
        rows = [model.run_lower([token], parts, 1, at) for at, token in enumerate(ids[:done])]
        lower = LowerRows(torch.cat(rows), 1)
        expected = model.forward(ids, whole)
        found = model.forward(ids, parts, lower)
    assert parts.length == whole.length == 23
    if model.plan.rounds_alike:
        assert torch.equal(found, expected)
    else:
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    for layer in range(model.config.layers):
        for one, other in zip(whole.view(layer, 0, 23), parts.view(layer, 0, 23), strict=True):
            torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)
