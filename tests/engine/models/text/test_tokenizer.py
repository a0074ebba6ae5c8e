"""Tokenizers from folders and from GGUF metadata: one behaviour, and what is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer as Backend
from tokenizers import decoders, models, pre_tokenizers, processors

from engine.errors import DraftscopeError
from engine.models.text.gguf_tokenizer import backend_from_gguf
from engine.models.text.tokenizer import Tokenizer, open_tokenizer
from tests.engine.models.formats.model_files import CONFIG, byte_level_backend, tensors, write_gguf
from tests.engine.models.text.test_gguf_tokenizer import ENTRIES, METADATA, from_metadata

if TYPE_CHECKING:
    from pathlib import Path


def write_tokenizer(folder: Path, backend: Backend) -> Path:
    folder.mkdir(exist_ok=True)
    backend.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps(CONFIG))
    return folder


def test_folder_and_gguf_file_of_one_model_agree(tmp_path: Path) -> None:
    backend = backend_from_gguf(METADATA, "a.gguf")
    folder = open_tokenizer(write_tokenizer(tmp_path / "folder", backend))
    file = open_tokenizer(write_gguf(tmp_path / "a.gguf", tensors(), METADATA))
    assert folder.identical_to(file) is None
    assert (folder.end_tokens, folder.bos) == ((2,), 1)  # of config.json
    assert (file.end_tokens, file.bos) == ((1,), 0)
    for text in ("hello world 12", "  é中😊\n", "<|turn|>x"):
        assert folder.encode(text) == file.encode(text)


def test_the_first_differing_entry_is_named() -> None:
    tokenizer, other = from_metadata(), from_metadata(tokens=[*ENTRIES[:-1], "Ġv"], merges=[])
    last = len(ENTRIES) - 1
    assert tokenizer.identical_to(other) == (
        f"The vocabularies differ, first at token {last} ('Ġw' and 'Ġv')."
    )
    shorter = Tokenizer(byte_level_backend())
    assert "differ in size" in str(tokenizer.identical_to(shorter))


@given(st.text())
def test_every_text_comes_back_as_it_was(text: str) -> None:
    tokenizer = from_metadata()
    assert tokenizer.decode(tokenizer.encode(text), skip_special=False) == text


def test_pieces_put_together_are_the_text_without_any_cleaning() -> None:
    tokenizer = from_metadata()
    text = "x != y and a.b == c , d ."
    ids = tokenizer.encode(text)
    assert b"".join(map(tokenizer.piece, ids)).decode() == tokenizer.decode(ids) == text


def test_ids_outside_the_vocabulary_have_no_text() -> None:
    tokenizer = from_metadata()
    for token in (-1, tokenizer.vocabulary, 2**40):
        assert tokenizer.piece(token) == b""
    assert tokenizer.decode([tokenizer.vocabulary]) == ""


def test_surrogates_are_joined_or_replaced_but_never_an_error() -> None:
    tokenizer = from_metadata()
    assert tokenizer.decode(tokenizer.encode("\ud83d\ude0a \ud800x")) == "😊 �x"


def test_truncation_and_padding_of_a_file_are_not_applied(tmp_path: Path) -> None:
    backend = byte_level_backend()
    backend.enable_truncation(2)
    backend.enable_padding(length=8)
    tokenizer = open_tokenizer(write_tokenizer(tmp_path / "a", backend))
    assert len(tokenizer.encode("hello")) == 5


def test_a_files_own_template_is_added_only_where_asked(tmp_path: Path) -> None:
    backend = byte_level_backend()
    backend.post_processor = processors.TemplateProcessing(
        single="<|begin|> $A", special_tokens=[("<|begin|>", 0)]
    )
    tokenizer = open_tokenizer(write_tokenizer(tmp_path / "a", backend))
    assert tokenizer.encode("x", add_special=True) == [0, *tokenizer.encode("x")]


@pytest.mark.case("C32")
@pytest.mark.parametrize("only", ["tokenizer.model", "vocab.json", "tekken.json"])
def test_a_folder_without_tokenizer_json_says_which_file_is_needed(
    tmp_path: Path, only: str
) -> None:
    with pytest.raises(DraftscopeError, match=r"no tokenizer\.json"):
        open_tokenizer(tmp_path)
    (tmp_path / only).write_bytes(b"\n")
    with pytest.raises(DraftscopeError, match=rf"only {only}; tokenizer\.json is needed"):
        open_tokenizer(tmp_path)


def described(vocabulary: dict[str, int]) -> str:
    model = {"type": "BPE", "vocab": vocabulary, "merges": []}
    return json.dumps({"model": model, "decoder": {"type": "Fuse"}})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("version https://git-lfs.github.com/spec/v1", "Git LFS pointer"),
        ("{", "not valid JSON"),
        ("{}", "not understood"),
        ('{"model": {"type": "Unheard"}}', "not understood"),
        ("<!DOCTYPE html>", "web page"),
        (described({"a": 2**31}), "the id 2147483648"),
        (described({"a": 0, "b": 0}), "one id"),
    ],
)
def test_a_damaged_tokenizer_json_is_a_sentence(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "tokenizer.json").write_text(content)
    with pytest.raises(DraftscopeError, match=said):
        open_tokenizer(tmp_path)


@pytest.mark.parametrize(
    ("decoder", "named"),
    [
        (decoders.WordPiece(), "WordPiece"),
        (decoders.Sequence([decoders.Fuse(), decoders.Strip("x", 1, 0)]), "Strip"),
        (decoders.Strip(" ", 1, 0), "Strip"),
        (None, "no decoder"),
    ],
)
def test_decoders_that_are_not_supported_are_refused_by_name(decoder: Any, named: str) -> None:
    backend = Backend(models.BPE(vocab={"a": 0}, merges=[]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel()
    if decoder is not None:
        backend.decoder = decoder
    with pytest.raises(DraftscopeError, match=named):
        Tokenizer(backend)


# Ids that the model's own tokenizer.json gives, as published by several users of the model.
QUESTION = (
    "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face"
    "<|im_end|>\n<|im_start|>user\nWhat is the capital of France?<|im_end|>\n"
    "<|im_start|>assistant\n"
)
GOLDEN = {
    QUESTION: [
        *(1, 9690, 198, 2683, 359, 253, 5356, 5646, 11173, 3365, 3511, 308, 34519, 28, 7018, 411),
        *(407, 19712, 8182, 2, 198, 1, 4093, 198, 1780, 314, 260, 3575, 282, 4649, 47, 2, 198, 1),
        *(520, 9531, 198),
    ],
    "Quelle est la capitale de la France ? Réponds en une phrase.": [
        *(65, 2726, 290, 1264, 2618, 47765, 1121, 367, 2618, 4649, 9148, 428, 2756, 96, 19870),
        *(430, 16520, 8715, 30),
    ],
    "hello world": [28120, 905],
}


@pytest.mark.model
def test_default_models_ids_are_those_of_its_own_tokenizer(default_model_path: Path) -> None:
    tokenizer = open_tokenizer(default_model_path)
    for text, ids in GOLDEN.items():
        assert tokenizer.encode(text) == ids
        assert tokenizer.decode(ids, skip_special=False) == text
    assert (tokenizer.vocabulary, tokenizer.end_tokens, tokenizer.bos) == (49152, (0, 2), 1)


@pytest.mark.model
def test_default_model_answers_in_the_transformers_library(default_model_path: Path) -> None:
    """Weights read here and run there: wrong rows or a wrong split would give no sentence."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    from engine.models.formats.weights import open_checkpoint

    checkpoint = open_checkpoint(default_model_path)
    sizes = checkpoint.config
    with torch.device("meta"):
        model = LlamaForCausalLM(
            LlamaConfig(
                vocab_size=sizes.vocabulary,
                hidden_size=sizes.width,
                num_hidden_layers=sizes.layers,
                num_attention_heads=sizes.heads,
                num_key_value_heads=sizes.kv_heads,
                head_dim=sizes.head_dim,
                intermediate_size=sizes.mlp_width,
                rms_norm_eps=sizes.rms_epsilon,
                rope_parameters={"rope_type": "default", "rope_theta": sizes.rope_base},
                tie_word_embeddings=sizes.tied,
            )
        )
    model.model.rotary_emb = type(model.model.rotary_emb)(model.config)
    state = {name: checkpoint.tensor(name) for name in checkpoint.names}
    model.load_state_dict(state, strict=False, assign=True)
    model.tie_weights()
    ids = GOLDEN[QUESTION]
    answer: list[int] = []
    with torch.inference_mode():
        while len(answer) < 12 and not set(answer) & set(sizes.end_tokens):
            logits = model(torch.tensor([ids + answer])).logits
            answer.append(int(logits[0, -1].argmax()))
    assert open_tokenizer(default_model_path).decode(answer) == "The capital of France is Paris."
