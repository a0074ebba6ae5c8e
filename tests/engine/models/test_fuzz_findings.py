"""What fuzzing and its preparation found, one test for each kind, so that it stays mended."""

from __future__ import annotations

import json
import tracemalloc
import warnings
from typing import TYPE_CHECKING, Any

import pytest
from tokenizers import Tokenizer as Backend

from engine.errors import DraftscopeError
from engine.models.formats.weights import open_checkpoint
from engine.models.text import tokenizer as module
from engine.models.text.chat import ChatTemplate
from engine.models.text.end_tokens import end_tokens_of_folder
from engine.models.text.tokenizer import Tokenizer
from tests.engine.models.formats.model_files import (
    CONFIG,
    byte_level_backend,
    tensors,
    write_folder,
    write_gguf,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("key", ["llama.expert_count", "general.architecture"])
def test_a_long_value_that_is_not_supported_makes_no_long_sentence(
    tmp_path: Path, key: str
) -> None:
    path = write_gguf(tmp_path / "a.gguf", tensors(), {key: "long" * 5000})
    with pytest.raises(DraftscopeError, match="not supported") as caught:
        open_checkpoint(path)
    assert len(str(caught.value)) < 400


def test_a_long_model_type_makes_no_long_sentence(tmp_path: Path) -> None:
    config = {**CONFIG, "model_type": "long" * 5000}
    with pytest.raises(DraftscopeError, match="not supported") as caught:
        open_checkpoint(write_folder(tmp_path, tensors(), config))
    assert len(str(caught.value)) < 400


def test_an_added_token_that_is_only_a_text_names_no_end(tmp_path: Path) -> None:
    """It was asked for its id, which ended in an error without a sentence."""
    (tmp_path / "tokenizer_config.json").write_text('{"eos_token": "<e>"}')
    (tmp_path / "tokenizer.json").write_text('{"added_tokens": ["<e>"]}')
    assert end_tokens_of_folder(tmp_path) == ()


def test_a_vocabulary_with_a_huge_id_is_refused_without_walking_up_to_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Describing such a tokenizer as a whole takes minutes: every id below it is looked at."""
    model = {"type": "BPE", "vocab": {"a": 2**31}, "merges": []}
    backend = Backend.from_str(json.dumps({"model": model, "decoder": {"type": "Fuse"}}))

    class Watched:
        def __getattr__(self, name: str) -> Any:
            assert name != "to_str"
            return getattr(backend, name)

    with pytest.raises(DraftscopeError, match="the id 2147483648"):
        Tokenizer(Watched())  # type: ignore[arg-type]


def test_a_format_that_asks_for_a_wide_field_is_refused_before_it_is_made() -> None:
    """Jinja wraps `str.format` for its own checks, and the bound was asked about the wrapper."""
    tracemalloc.start()
    try:
        with pytest.raises(DraftscopeError, match="too much text"):
            ChatTemplate("{{ '{:1000000000}'.format(1) }}").render([])
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_no_remark_of_python_on_a_templates_code_is_heard() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DraftscopeError, match="failed"):
            ChatTemplate("{{ (1)[x] }}{{ none[0] }}{{ 1 / 0 }}").render([])


def test_scales_that_are_not_finite_are_refused_without_a_remark(tmp_path: Path) -> None:
    from gguf.constants import GGMLQuantizationType as Kind

    path = write_gguf(tmp_path / "a.gguf", tensors(), kind=Kind.Q8_0)
    content = bytearray(path.read_bytes())
    content[-34:-32] = b"\x00\x7c"  # the last block's scale is infinite
    content[-32:] = bytes(32)  # times zero
    path.write_bytes(content)
    checkpoint = open_checkpoint(path)
    with pytest.raises(DraftscopeError, match="not finite"):
        [checkpoint.tensor(name) for name in checkpoint.names]


def test_a_package_that_panics_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        pass

    class Panicking:
        def encode(self, *arguments: object, **named: object) -> None:
            raise PanicException("index out of bounds\nnote: run with a backtrace")

    tokenizer = Tokenizer(byte_level_backend())
    monkeypatch.setattr(tokenizer, "_backend", Panicking())
    with pytest.raises(DraftscopeError, match="fails on this text"):
        tokenizer.encode("a")


def test_a_wish_to_end_is_no_fault_of_a_tokenizer() -> None:
    def stopped() -> None:
        with module._sentence("It fails"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
