"""Each supported family against transformers: logits, greedy texts, windows after rejections."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.cache import KVCache
from engine.decoder import Choice, Decoder
from engine.drafters.protocol import Proposal
from engine.emission import Limits
from engine.errors import DraftscopeError
from engine.loading import load_model
from engine.models.formats.weights import open_checkpoint
from engine.models.plans.packed import PackedPlan
from engine.models.text.streaming import TextStream
from engine.sampling import Sampling
from engine.sequence import Sequence
from tests.engine.decoding import Scripted, decode
from tests.engine.drafters.making import made
from tests.engine.models.family_files import FAMILY, VOCABULARY, edit_config, load, make, write

if TYPE_CHECKING:
    from pathlib import Path

    from transformers import PreTrainedModel

    from engine.drafters.protocol import Context, DraftRequest
    from engine.loading import LoadedModel

CONTEXT = [(37 * i + i * i) % 256 for i in range(100)]
WINDOWED = [name for name in FAMILY if "window" in name or "partial" in name]


@torch.inference_mode()
def their_logits(theirs: PreTrainedModel, tokens: list[int]) -> torch.Tensor:
    return theirs(torch.tensor([tokens])).logits[0]


@torch.inference_mode()
def our_logits(ours: LoadedModel, tokens: list[int], chunk: int) -> torch.Tensor:
    """Return logits of all positions, read in chunks; [T, V]."""
    model = ours.transformer
    cache = KVCache(model.new_pool())
    rows = [
        model.logits(model.forward(tokens[begin : begin + chunk], cache))
        for begin in range(0, len(tokens), chunk)
    ]
    return torch.cat(rows)


@pytest.mark.parametrize("name", FAMILY)
def test_logits_equal_those_of_transformers(tmp_path: Path, name: str) -> None:
    theirs = make(name)
    ours = load(write(theirs, tmp_path / "model"))
    expected = their_logits(theirs, CONTEXT)
    assert expected.shape[1] == ours.transformer.vocabulary == VOCABULARY
    assert float(expected.std()) > 0.5  # they could differ
    for chunk in (1, 7, 100):
        assert float((our_logits(ours, CONTEXT, chunk) - expected).abs().max()) < 1e-4, chunk


@pytest.mark.parametrize("window", [8, 300])
def test_windows_hold_far_beyond_a_block_of_attention(tmp_path: Path, window: int) -> None:
    theirs = make("mistral window", sliding_window=window, max_position_embeddings=1024)
    ours = load(write(theirs, tmp_path / "model"))
    tokens = [(41 * i + i * i) % 256 for i in range(600)]
    expected = their_logits(theirs, tokens)
    whole = our_logits(ours, tokens, 600)
    assert float((whole - expected).abs().max()) < 1e-4
    assert float((our_logits(ours, tokens, 64) - expected).abs().max()) < 1e-4


class Wrong(Scripted):
    """Proposes a text with wrong tokens in it, so that rounds accept none, some and all."""

    def __init__(self, text: list[int], prompt_length: int) -> None:
        wrong = [(token + 1) % 256 for token in text]
        super().__init__(
            [wrong[at] if at % 11 in (1, 5, 6) else text[at] for at in range(len(text))]
        )
        self._prompt_length = prompt_length

    def propose(self, context: Context, request: DraftRequest) -> Proposal:
        at = len(context.tokens) - self._prompt_length
        return Proposal(tuple(self._text[at : at + request.k]))


@pytest.mark.parametrize("name", FAMILY)
def test_greedy_texts_equal_those_of_transformers(tmp_path: Path, name: str) -> None:
    theirs = make(name)
    ours = load(write(theirs, tmp_path / "model"))
    prompt = CONTEXT[:20]
    with torch.inference_mode():
        whole = theirs.generate(torch.tensor([prompt]), do_sample=False, max_new_tokens=64)
    expected = whole[0, 20:].tolist()
    assert len(expected) == 64
    assert decode(ours, None, prompt=prompt, count=64)[0] == expected
    drafted, rounds, _ = decode(ours, Wrong(expected, 20), k=4, prompt=prompt, count=64)
    assert drafted == expected
    assert {one.accepted for one in rounds} >= {0, 1, 3, 4}  # also after rejections


@pytest.mark.parametrize("name", WINDOWED)
@pytest.mark.case("A36")
def test_after_rejections_a_windowed_cache_holds_what_a_fresh_prefill_gives(
    tmp_path: Path, name: str
) -> None:
    # window 8, prompt 7, k 4: the draft burst crosses the window's edge
    ours = load(write(make(name), tmp_path / "model"), torch.float64)
    model, prompt = ours.transformer, CONTEXT[:7]
    assert model.config.window == 8
    text = decode(ours, None, prompt=prompt, count=40)[0]
    sequence = Sequence(model, model.new_pool(), prompt)
    sequence.prefill()
    choice = Choice(Wrong(text, 7), 4, Sampling())
    limits = Limits(7, 40, ours.info.context_length)
    decoder = Decoder(sequence, ours.tokenizer, TextStream(ours.tokenizer), choice, limits, seed=0)
    accepted = set()
    for one in decoder.rounds():
        accepted.add(one.accepted)
        with torch.inference_mode():
            length = sequence.cache.length
            found = model.logits(model.forward(sequence.tokens[-1:], sequence.cache))[-1]
            sequence.cache.truncate(length)
            fresh = model.forward(sequence.tokens, KVCache(model.new_pool()))
        assert float((found - model.logits(fresh)[-1]).abs().max()) < 1e-9
    assert sequence.tokens[7:] == text
    assert accepted >= {0, 1, 3, 4}


def test_a_window_is_the_layers_own(tmp_path: Path) -> None:
    configs = {
        name: open_checkpoint(write(make(name), tmp_path / name)).config
        for name in ("mistral", "mistral window", "qwen2", "qwen2 window", "qwen3 window", "phi3")
    }
    windows = {name: (config.window, config.windowed) for name, config in configs.items()}
    assert windows == {
        "mistral": (None, ()),
        "mistral window": (8, (0, 1)),
        "qwen2": (None, ()),
        "qwen2 window": (8, (1,)),
        "qwen3 window": (8, (0,)),
        "phi3": (None, ()),
    }


@pytest.mark.parametrize("name", ["llama biased", "qwen2", "qwen3", "mistral window"])
def test_packed_rows_carry_biases_and_do_not_depend_on_the_width(tmp_path: Path, name: str) -> None:
    theirs = make(name)
    folder = write(theirs, tmp_path / "model")
    ours = load_model(folder, device="cpu", plan="packed" if PackedPlan.available() else "eager")
    expected = their_logits(theirs, CONTEXT)
    rows = our_logits(ours, CONTEXT, 1)
    assert float((rows - expected).abs().max()) < 0.05 * float(expected.std())
    for chunk in (3, 5, 12):
        wide = our_logits(ours, CONTEXT, chunk)
        if ours.transformer.plan.rounds_alike:
            assert torch.equal(wide, rows), chunk
        else:
            torch.testing.assert_close(wide, rows, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.case("C17")
def test_half_width_checkpoints_run_on_a_cpu(tmp_path: Path, dtype: torch.dtype) -> None:
    folder = write(make("qwen2").to(dtype), tmp_path / "model")
    theirs = make("qwen2")
    with torch.no_grad():
        for weight in theirs.parameters():  # not its buffers, which would lose frequencies
            weight.copy_(weight.to(dtype))
    ours = load_model(folder, device="cpu")
    widened = [note for note in ours.info.notes if "float16" in note]
    assert len(widened) == (dtype == torch.float16)
    assert ours.info.dtype in ("float16 weights, float32 sums", "float32")
    expected = their_logits(theirs, CONTEXT)
    assert float((our_logits(ours, CONTEXT, 10) - expected).abs().max()) < 1e-3


@pytest.mark.case("C10")
def test_a_file_without_a_head_is_tied_with_a_note(tmp_path: Path) -> None:
    theirs = make("llama tied")
    folder = write(theirs, tmp_path / "model")
    edit_config(folder, tie_word_embeddings=False)
    one, other = load(folder), load(folder)
    assert any("tied to embed_tokens" in note for note in one.info.notes)
    found = our_logits(one, CONTEXT, 100)
    assert torch.equal(found, our_logits(other, CONTEXT, 100))  # never a random head
    assert float((found - their_logits(theirs, CONTEXT)).abs().max()) < 1e-4


@pytest.mark.case("C13")
def test_a_redundant_head_changes_nothing(tmp_path: Path) -> None:
    folder = write(make("qwen3"), tmp_path / "model")
    tensors = load_file(folder / "model.safetensors")
    texts = []
    for head in ({}, {"lm_head.weight": tensors["model.embed_tokens.weight"].clone()}):
        save_file({**tensors, **head}, folder / "model.safetensors")
        texts.append(decode(load(folder), None, prompt=CONTEXT[:9], count=8)[0])
    assert len(texts[0]) == 8
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("prefix", "head"),
    [
        ("language_model.model.", "language_model.lm_head."),
        ("model.language_model.", "lm_head."),
        ("model.text_model.", "lm_head."),
    ],
)
@pytest.mark.case("C12")
def test_the_language_model_of_a_model_that_sees_is_used_alone(
    tmp_path: Path, prefix: str, head: str
) -> None:
    theirs = make("mistral window")
    folder = write(theirs, tmp_path / "model")
    stored = {
        name.replace("model.", prefix, 1).replace("lm_head.", head, 1): tensor
        for name, tensor in load_file(folder / "model.safetensors").items()
    }
    seeing = {
        "vision_tower.patch.weight": torch.ones(2, 2),
        "multi_modal_projector.linear.bias": torch.ones(2),
    }
    save_file({**stored, **seeing}, folder / "model.safetensors")
    inside = json.loads((folder / "config.json").read_text())
    outside = {"model_type": "llava", "scale_factor": 4, "text_config": inside}
    (folder / "config.json").write_text(json.dumps(outside))
    ours = load(folder)
    left_out = next(note for note in ours.info.notes if "left out" in note)
    assert "vision_tower" in left_out
    assert "multi_modal_projector" in left_out
    found = our_logits(ours, CONTEXT, 100)
    assert float((found - their_logits(theirs, CONTEXT)).abs().max()) < 1e-4
    save_file({**stored, "adapter.weight": torch.ones(2, 2)}, folder / "model.safetensors")
    with pytest.raises(DraftscopeError, match=r"adapter\.weight"):
        load(folder)


@pytest.mark.case("C12")
def test_a_tie_that_is_stated_inside_counts(tmp_path: Path) -> None:
    theirs = make("llama tied")
    folder = write(theirs, tmp_path / "model")
    edit_config(folder, tie_word_embeddings=False, text_config={"tie_word_embeddings": True})
    ours = load(folder)
    assert ours.transformer.config.tied
    assert not any("tied to embed_tokens" in note for note in ours.info.notes)
    found = our_logits(ours, CONTEXT, 100)
    assert float((found - their_logits(theirs, CONTEXT)).abs().max()) < 1e-4


@pytest.mark.case("C18")
def test_heads_wider_than_the_model_load_also_for_a_head_that_drafts(tmp_path: Path) -> None:
    ours = load(write(make("llama wide heads"), tmp_path / "model"), torch.float64)
    config = ours.transformer.config
    assert (config.width, config.heads, config.head_dim) == (64, 4, 32)
    head = made(ours, "head of two blocks", tmp_path)
    plain = decode(ours, None, prompt=CONTEXT[:9], count=24)[0]
    drafted, rounds, _ = decode(ours, head, k=3, prompt=CONTEXT[:9], count=24)
    assert drafted == plain
    assert len(rounds[0].drafted) == 3
