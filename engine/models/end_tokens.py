"""Which tokens end a text, from a folder's files or a GGUF file's metadata. Knows no tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.models.files import read_json_if_there

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path


def end_tokens_of_folder(folder: Path, config: Mapping[str, Any] | None = None) -> tuple[int, ...]:
    """Unite the end tokens of config.json, generation_config.json and the tokenizer."""
    values = read_json_if_there(folder / "config.json") if config is None else config
    generation = read_json_if_there(folder / "generation_config.json")
    tokenizer = read_json_if_there(folder / "tokenizer_config.json")
    found = {*token_ids(values.get("eos_token_id")), *token_ids(generation.get("eos_token_id"))}
    eos = token_text(tokenizer.get("eos_token"))
    if eos is not None:
        added = tokenizer.get("added_tokens_decoder")
        listed = added if isinstance(added, dict) else {}
        ids = {
            int(key)
            for key, entry in listed.items()
            if key.isdecimal() and token_text(entry) == eos
        }
        found |= ids or set(_ids_in_tokenizer(folder, eos))
    return tuple(sorted(found))


def end_tokens_of_gguf(metadata: Mapping[str, Any]) -> tuple[int, ...]:
    """Unite the end-of-text, end-of-turn and end-of-message tokens of the metadata."""
    keys = (f"tokenizer.ggml.{name}_token_id" for name in ("eos", "eot", "eom"))
    return tuple(sorted({token for key in keys for token in token_ids(metadata.get(key))}))


def token_text(entry: object) -> str | None:
    """Return a token's text from a string or an added-token object."""
    content = entry.get("content") if isinstance(entry, dict) else entry
    return content if isinstance(content, str) else None


def token_ids(value: object) -> list[int]:
    """Return token ids from an id, a list of ids, or nothing."""
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, int) and not isinstance(item, bool)]


def _ids_in_tokenizer(folder: Path, text: str) -> Iterable[int]:
    tokenizer = read_json_if_there(folder / "tokenizer.json")
    added = tokenizer.get("added_tokens")
    for entry in added if isinstance(added, list) else ():
        if token_text(entry) == text:
            yield from token_ids(entry.get("id"))
    model = tokenizer.get("model")
    vocabulary = model.get("vocab") if isinstance(model, dict) else None
    if isinstance(vocabulary, dict):
        yield from token_ids(vocabulary.get(text))
