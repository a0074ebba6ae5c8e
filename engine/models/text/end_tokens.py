"""Which tokens end a text, from a folder's files or a GGUF file's metadata. Knows no tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.models.formats.files import read_json_if_there

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path


# Control tokens that end a turn or a text, by their text as llama.cpp knows them: GGUF files often
# name one end token of several.
END_TEXTS = frozenset(
    {
        *("</s>", "<eos>", "<|end_of_text|>", "<|endoftext|>", "<｜end▁of▁sentence｜>"),
        *("<|eot_id|>", "<|eom_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>"),
        *("<EOT>", "_<EOT>", "[EOT]", "<end_of_utterance>"),
    }
)
_CONTROL = 3  # a token type of GGUF
_LONGEST_NUMBER = 10  # digits of an id that is written as text
_LARGEST_ID = 1 << 31


def end_tokens_of_folder(folder: Path, config: Mapping[str, Any] | None = None) -> tuple[int, ...]:
    """Unite the end tokens of config.json, generation_config.json and the tokenizer's files."""
    values = read_json_if_there(folder / "config.json") if config is None else config
    inside = values.get("text_config")
    generation = read_json_if_there(folder / "generation_config.json")
    given = [values, inside if isinstance(inside, dict) else {}, generation]
    found = {token for where in given for token in token_ids(where.get("eos_token_id"))}
    tokenizer = read_json_if_there(folder / "tokenizer_config.json")
    special = read_json_if_there(folder / "special_tokens_map.json")
    texts = {token_text(where.get("eos_token")) for where in (tokenizer, special)} - {None}
    listed = tokenizer.get("added_tokens_decoder")
    for text in texts:
        ids = {
            int(key)
            for key, entry in (listed.items() if isinstance(listed, dict) else ())
            if key.isdecimal() and len(key) <= _LONGEST_NUMBER and token_text(entry) == text
        }
        found |= ids or set(_ids_in_tokenizer(folder, str(text)))
    return tuple(sorted(found))


def end_tokens_of_gguf(metadata: Mapping[str, Any]) -> tuple[int, ...]:
    """Unite the end tokens that the metadata names and the control tokens that are known to end."""
    tokens, types = (metadata.get(f"tokenizer.ggml.{name}") for name in ("tokens", "token_type"))
    keys = (f"tokenizer.ggml.{name}_token_id" for name in ("eos", "eot", "eom"))
    found = {token for key in keys for token in token_ids(metadata.get(key))}
    if isinstance(tokens, list):
        found = {token for token in found if token < len(tokens)}
        if isinstance(types, list):
            marked = zip(range(len(tokens)), tokens, types, strict=False)
            found |= {
                token
                for token, text, kind in marked
                if kind == _CONTROL and isinstance(text, str) and text in END_TEXTS
            }
    return tuple(sorted(found))


def token_text(entry: object) -> str | None:
    """Return a token's text from a string or an added-token object."""
    content = entry.get("content") if isinstance(entry, dict) else entry
    return content if isinstance(content, str) else None


def token_ids(value: object) -> list[int]:
    """Return token ids from an id, a list of ids, or nothing; what is no id is left out."""
    items = value if isinstance(value, list) else [value]
    return [item for item in items if type(item) is int and 0 <= item < _LARGEST_ID]


def _ids_in_tokenizer(folder: Path, text: str) -> Iterable[int]:
    tokenizer = read_json_if_there(folder / "tokenizer.json")
    added = tokenizer.get("added_tokens")
    for entry in added if isinstance(added, list) else ():
        if isinstance(entry, dict) and token_text(entry) == text:
            yield from token_ids(entry.get("id"))
    model = tokenizer.get("model")
    vocabulary = model.get("vocab") if isinstance(model, dict) else None
    if isinstance(vocabulary, dict):
        yield from token_ids(vocabulary.get(text))
