"""The models that `peers` builds in transformers: the same weights, the same k, the same texts."""

from __future__ import annotations

import sys
import tomllib
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch

from engine.benchmarks.peers_timing import Arrivals
from engine.benchmarks.peers_transformers import TransformersPeer, Weights, library
from engine.cache import KVCache
from engine.errors import DraftscopeError
from engine.loading import load_model
from engine.models.formats.weights import open_checkpoint
from tests.engine.benchmarks.peer_models import PROMPT, peer_of
from tests.engine.decoding import decode
from tests.engine.models.family_files import FAMILY, load, make, write
from tests.tiny_model import VOCABULARY, tiny_config, tiny_weights, write_tiny_folder

if TYPE_CHECKING:
    from engine.loading import LoadedModel

PADDED = VOCABULARY - 258  # rows of the tiny table that stand for no token


class Plan:
    """Says only what a peer asks of a plan."""

    def __init__(self, kept: torch.dtype, dtype: torch.dtype = torch.float32) -> None:
        self.device, self.dtype = torch.device("cpu"), dtype
        self._kept = kept

    def table(self, weight: torch.Tensor) -> torch.Tensor:
        return weight.to(self._kept)


@pytest.mark.parametrize("name", FAMILY)
def test_each_family_gives_our_logits_and_our_texts(tmp_path: Path, name: str) -> None:
    folder = write(make(name), tmp_path / "model")
    ours = load(folder)
    peer = peer_of(folder, ours)
    model = ours.transformer
    with torch.inference_mode():
        expected = model.logits(model.forward(PROMPT, KVCache(model.new_pool())))[-1]
    rows = peer.rows(PROMPT, (1, 2, 3, 5, 9, 30, 31))
    assert rows.shape[0] == 6  # there is no pass on 31 of 30 tokens
    assert float((rows - expected).abs().max()) < 1e-4
    text = decode(ours, None, prompt=PROMPT, count=30)[0]
    for drafter in ("none", "ngram", "model"):
        assert list(peer.decode(PROMPT, drafter, 4, 30).token_ids) == text, drafter


@pytest.mark.parametrize("k", [1, 4, 7])
def test_an_assistant_with_the_targets_weights_drafts_k_and_is_always_accepted(
    tiny_target: LoadedModel, tiny_folder: Path, k: int
) -> None:
    peer = peer_of(tiny_folder, tiny_target)
    assert 0 in PROMPT
    whole = peer.decode(PROMPT, "model", k, 5 * (k + 1))
    assert len(whole.token_ids) == 5 * (k + 1)
    assert whole.passes == 5
    assert whole.tokens == 4 * (k + 1)  # the first burst is the clock's start
    assert peer.decode(PROMPT, "none", k, 12).passes == 12


@pytest.mark.parametrize("k", [2, 5])
def test_look_up_drafts_k(
    tiny_target: LoadedModel, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch, k: int
) -> None:
    bursts: list[int] = []
    honest = Arrivals.put

    def noting(self: Arrivals, tokens: list[int]) -> None:
        bursts.append(len(tokens))
        honest(self, tokens)

    peer = peer_of(tiny_folder, tiny_target)
    expected = peer.decode(PROMPT, "none", 0, 60)  # it comes to repeat itself
    monkeypatch.setattr(Arrivals, "put", noting)
    copied = peer.decode(PROMPT, "ngram", k, 60)
    assert copied.token_ids == expected.token_ids
    assert max(bursts) == k + 1
    assert (copied.passes, sum(bursts)) == (len(bursts), 60)
    assert copied.passes < expected.passes == 60


def test_matrices_are_rounded_as_the_plan_keeps_them_and_vectors_are_not() -> None:
    config = tiny_config(layers=1)
    tensors = {
        name: weight * 1.0001 + 1e-5 for name, weight in tiny_weights(config, seed=3).items()
    }
    rounding = Weights(config, 258, tensors.__getitem__, Plan(torch.float16))
    exact = Weights(config, 258, tensors.__getitem__, Plan(torch.float32))
    inner, norm = "model.layers.0.mlp.down_proj.weight", "model.norm.weight"
    assert rounding.kept == torch.float16
    assert torch.equal(rounding.named(inner), tensors[inner].half().float())
    assert not torch.equal(rounding.named(inner), tensors[inner])
    assert torch.equal(rounding.named(norm), tensors[norm])
    assert not torch.equal(tensors[norm].half().float(), tensors[norm])
    assert torch.equal(exact.named(inner), tensors[inner])
    table = tensors["model.embed_tokens.weight"]
    assert torch.equal(rounding.named("model.embed_tokens.weight"), table[:258].half().float())
    half = Weights(config, 258, tensors.__getitem__, Plan(torch.bfloat16, torch.bfloat16))
    assert half.named(norm).dtype == torch.bfloat16


def test_under_the_plan_that_users_get_logits_are_those_of_the_same_weights(tmp_path: Path) -> None:
    folder = write(make("llama"), tmp_path / "model")
    ours = load_model(folder, device="cpu")
    model = ours.transformer
    with torch.inference_mode():
        expected = model.logits(model.forward(PROMPT, KVCache(model.new_pool())))[-1]
    assert float((peer_of(folder, ours).rows(PROMPT, (1,)) - expected).abs().max()) < 1e-4


def test_padding_of_the_table_is_not_scored(tiny_target: LoadedModel, tiny_folder: Path) -> None:
    assert peer_of(tiny_folder, tiny_target).rows(PROMPT, (1,)).shape == (1, VOCABULARY - PADDED)


def test_end_tokens_end_a_text_on_both_sides(tmp_path: Path) -> None:
    folder = write_tiny_folder(tmp_path / "model")
    target = load_model(folder, device="cpu", plan="eager")
    text = peer_of(folder, target).decode(PROMPT, "none", 0, 20).token_ids
    ending = replace(target, end_tokens=frozenset({text[6], 256}))
    peer = peer_of(folder, ending)
    first = text.index(text[6]) + 1
    for drafter in ("none", "ngram", "model"):
        assert peer.decode(PROMPT, drafter, 4, 20).token_ids == text[:first], drafter
    ours, _, _ = decode(target, None, prompt=PROMPT, count=20, ends=ending.end_tokens)
    assert tuple(ours) == text[:first]


def test_a_model_that_the_library_refuses_is_named(tmp_path: Path) -> None:
    folder = write_tiny_folder(tmp_path / "model")
    target = load_model(folder, device="cpu", plan="eager")
    with closing(open_checkpoint(folder)) as checkpoint:
        config = replace(checkpoint.config, heads=6)  # 32 is no multiple of it
        weights = Weights(config, 258, checkpoint.tensor, target.transformer.plan)
        with pytest.raises(DraftscopeError, match="transformers cannot build this llama model"):
            TransformersPeer(weights, ())
        config = replace(checkpoint.config, head_norms=True)
        weights = Weights(config, 258, checkpoint.tensor, target.transformer.plan)
        with pytest.raises(DraftscopeError, match=r"disagree about the tensor .*k_norm"):
            TransformersPeer(weights, ())


def test_without_the_library_one_sentence_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(DraftscopeError, match="extra named peers") as caught:
        library()
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    (wanted,) = project["optional-dependencies"]["peers"]
    assert f"pip install '{wanted}'" in str(caught.value)
    assert wanted in project["optional-dependencies"]["test"]


def test_memory_that_runs_out_is_told(
    tiny_target: LoadedModel, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr("transformers.AutoModelForCausalLM.from_config", full)
    with pytest.raises(DraftscopeError, match="memory does not hold"):
        peer_of(tiny_folder, tiny_target)
