"""Where a model's chat template lives, and which of several is taken. Knows no Jinja.

Of a folder, the first that is there:

1. `chat_template.jinja`,
2. `chat_template.json`,
3. `tokenizer_config.json`: a text, or of a list of named ones that named "default",
4. `additional_chat_templates/default.jinja`.

Of a GGUF file: `tokenizer.chat_template`, then `tokenizer.chat_template.default`. Templates of
other names (for tools, say) are for other purposes than talking and are never taken.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.models.formats.files import read_json_if_there, read_text
from engine.models.formats.gguf_header import read_header
from engine.models.text.end_tokens import token_text
from engine.models.text.gguf_tokenizer import token_id

if TYPE_CHECKING:
    from collections.abc import Mapping

_TOKENS = ("bos_token", "eos_token", "unk_token", "pad_token", "sep_token", "cls_token")
_GGUF_TOKENS = {
    **{"bos": "bos_token", "eos": "eos_token", "unknown": "unk_token", "padding": "pad_token"},
    **{"seperator": "sep_token", "cls": "cls_token"},
}


def find_template(path: str | Path) -> tuple[str, dict[str, str]] | None:
    """Return a model's template and the control tokens that it may name; None without one.

    Raises
    ------
    DraftscopeError
        If a file that should hold it cannot be read.
    """
    path = Path(path)
    return _of_folder(path) if os.path.isdir(path) else _of_gguf(read_header(path).metadata)


def _of_folder(folder: Path) -> tuple[str, dict[str, str]] | None:
    config = read_json_if_there(folder / "tokenizer_config.json")
    template = _template_of_folder(folder, config)
    if template is None:
        return None
    others = read_json_if_there(folder / "special_tokens_map.json")
    texts = {key: token_text(config.get(key)) or token_text(others.get(key)) for key in _TOKENS}
    return template, {key: text for key, text in texts.items() if text is not None}


def _template_of_folder(folder: Path, config: Mapping[str, Any]) -> str | None:
    alone = folder / "chat_template.jinja"
    if os.path.lexists(alone):
        return read_text(alone)
    for source in (read_json_if_there(folder / "chat_template.json"), config):
        template = _default(source.get("chat_template"))
        if template is not None:
            return template
    additional = folder / "additional_chat_templates" / "default.jinja"
    return read_text(additional) if os.path.lexists(additional) else None


def _default(given: object) -> str | None:
    """Return a template that is given as it is, or by the name of "default" in a list."""
    if isinstance(given, list):
        named = [entry for entry in given if isinstance(entry, dict)]
        given = next((one.get("template") for one in named if one.get("name") == "default"), None)
    elif isinstance(given, dict):
        given = given.get("default")
    return given if isinstance(given, str) else None


def _of_gguf(metadata: Mapping[str, Any]) -> tuple[str, dict[str, str]] | None:
    for key in ("tokenizer.chat_template", "tokenizer.chat_template.default"):
        template = metadata.get(key)
        if isinstance(template, str):
            break
    else:
        return None
    tokens = metadata.get("tokenizer.ggml.tokens")
    special = {}
    for key, name in _GGUF_TOKENS.items():
        token = token_id(metadata, key)
        if token is not None and isinstance(tokens, list) and isinstance(tokens[token], str):
            special[name] = tokens[token]
    return template, special
