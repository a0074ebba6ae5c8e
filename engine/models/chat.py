"""From messages to a prompt, by the model's own chat template in a sandbox.

Where a template comes from, in this order: `chat_template.jinja`, `tokenizer_config.json` (of a
folder); `tokenizer.chat_template` (of a GGUF file). Knows no tokenizer: it makes text.
"""

from __future__ import annotations

import datetime
import json
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import TemplateError, TemplateSyntaxError
from jinja2.exceptions import SecurityError

from engine.errors import DraftscopeError
from engine.models.end_tokens import token_text
from engine.models.files import read_json_if_there, read_text
from engine.models.gguf_header import read_header
from engine.models.template_sandbox import MOST_TEXT, BoundedEnvironment, BoundExceeded, Budget

if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST_TEMPLATE = 500_000  # characters
_RAW = "Use raw text instead."


class TemplateRefusal(DraftscopeError):
    """The template itself refuses the conversation, a system message for example."""


class _Raised(Exception):
    """What a template's `raise_exception` raises."""


class ChatTemplate:
    """A compiled template with the control tokens that it may name.

    Raises
    ------
    DraftscopeError
        If the template is not valid.
    """

    def __init__(self, source: str, special: Mapping[str, str] | None = None) -> None:
        if len(source) > LONGEST_TEMPLATE:
            raise DraftscopeError(
                f"The model's chat template is {len(source)} characters long; at most "
                f"{LONGEST_TEMPLATE} are accepted. {_RAW}"
            )
        self.source = source
        self._special = dict(special or {})
        self._lock = threading.Lock()  # the environment counts one rendering at a time
        self._environment = _environment()
        try:
            self._template = self._environment.from_string(source)
        except TemplateSyntaxError as error:
            raise DraftscopeError(
                f"The model's chat template is not valid: {error.message} (line {error.lineno}). "
                f"{_RAW}"
            ) from error
        except (TemplateError, RecursionError, MemoryError, ValueError, SyntaxError) as error:
            raise DraftscopeError(
                f"The model's chat template cannot be used ({type(error).__name__}). {_RAW}"
            ) from error

    def render(self, messages: list[dict[str, Any]], add_generation_prompt: bool = True) -> str:
        """Return the prompt's text.

        Parameters
        ----------
        messages
            With `role` and `content` each.
        add_generation_prompt
            End with what begins the assistant's turn.

        Raises
        ------
        TemplateRefusal
            If the template itself refuses the conversation.
        DraftscopeError
            If the template fails, tries something unsafe, or asks for too much.
        """
        given = sum(len(str(message)) for message in messages)
        limit = MOST_TEXT + 8 * given
        with self._lock:
            self._environment.budget = Budget(limit)
            try:
                return self._pieces(messages, add_generation_prompt, limit)
            except _Raised as error:
                raise TemplateRefusal(
                    f"The model's chat template refuses this conversation: {error}. {_RAW}"
                ) from error
            except SecurityError as error:
                raise DraftscopeError(
                    f"The model's chat template tried something unsafe and was stopped "
                    f"({error}). {_RAW}"
                ) from error
            except BoundExceeded as error:
                raise DraftscopeError(
                    f"The model's chat template was stopped because {error}. {_RAW}"
                ) from error
            except Exception as error:  # whatever a template's own mistakes raise
                raise DraftscopeError(
                    f"The model's chat template failed: {str(error) or type(error).__name__}. "
                    f"{_RAW}"
                ) from error

    def _pieces(self, messages: list[dict[str, Any]], prompt: bool, limit: int) -> str:
        pieces: list[str] = []
        left = limit
        for piece in self._template.generate(
            messages=messages,
            add_generation_prompt=prompt,
            tools=None,
            documents=None,
            **self._special,
        ):
            left -= len(piece)
            if left < 0:
                raise BoundExceeded("it makes too much text")
            pieces.append(piece)
        return "".join(pieces)


def _environment() -> BoundedEnvironment:
    environment = BoundedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.add_filter("tojson", _tojson)
    environment.globals["raise_exception"] = _raise_exception
    environment.globals["strftime_now"] = _strftime_now
    return environment


def _tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """Write JSON as it is: a prompt is no web page, so nothing is escaped for one."""
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
    )


def _raise_exception(message: str) -> None:
    raise _Raised(message)


def _strftime_now(format: str) -> str:  # noqa: A002 - the templates' own name for it
    return datetime.datetime.now().strftime(format)


def open_chat_template(path: str | Path) -> ChatTemplate | None:
    """Open a model's chat template; None where it has none (a base model: raw text only).

    Raises
    ------
    DraftscopeError
        If there is a template but it cannot be used.
    """
    path = Path(path)
    return _from_folder(path) if path.is_dir() else _from_gguf(path)


def _from_folder(folder: Path) -> ChatTemplate | None:
    config = read_json_if_there(folder / "tokenizer_config.json")
    special = {
        key: text
        for key in ("bos_token", "eos_token", "unk_token", "pad_token")
        if (text := token_text(config.get(key))) is not None
    }
    alone = folder / "chat_template.jinja"
    if alone.is_file():
        return ChatTemplate(read_text(alone), special)
    source = config.get("chat_template")
    if isinstance(source, list):
        named = {
            entry["name"]: entry.get("template")
            for entry in source
            if isinstance(entry, dict) and isinstance(entry.get("name"), str)
        }
        source = named.get("default")
    return ChatTemplate(source, special) if isinstance(source, str) else None


def _from_gguf(path: Path) -> ChatTemplate | None:
    metadata = read_header(path).metadata
    source = metadata.get("tokenizer.chat_template")
    if not isinstance(source, str):
        return None
    tokens = metadata.get("tokenizer.ggml.tokens")
    special = {}
    for key, name in (("bos", "bos"), ("eos", "eos"), ("unknown", "unk"), ("padding", "pad")):
        token = metadata.get(f"tokenizer.ggml.{key}_token_id")
        if isinstance(tokens, list) and isinstance(token, int) and 0 <= token < len(tokens):
            special[f"{name}_token"] = str(tokens[token])
    return ChatTemplate(source, special)
