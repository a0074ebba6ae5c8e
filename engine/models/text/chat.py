"""From messages to a prompt, by the model's own chat template in a sandbox.

Knows no tokenizer: it makes text. `chat_places` says where a template comes from.
"""

from __future__ import annotations

import datetime
import json
import threading
import warnings
from typing import TYPE_CHECKING, Any

from jinja2 import TemplateError, TemplateSyntaxError
from jinja2.exceptions import SecurityError

from engine.errors import DraftscopeError, short
from engine.models.text.chat_places import find_template
from engine.models.text.template_budget import MOST_TEXT, BoundExceeded, Budget
from engine.models.text.template_growth import is_wide_format
from engine.models.text.template_sandbox import BoundedEnvironment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from jinja2 import Template

    Message = Mapping[str, Any]

LONGEST_TEMPLATE = 500_000  # characters
_LONGEST_REASON = 200  # characters of what a template or Jinja says itself
_LONGEST_DATE = 100  # characters of a date's format
_RAW = "Use raw text instead."
_PROBE = "Words of the system."


class TemplateRefusal(DraftscopeError):
    """The template itself refuses the conversation, a system message for example."""


class _Raised(Exception):
    """What a template's `raise_exception` raises."""


class ChatTemplate:
    """A template with the control tokens that it may name.

    It is compiled when it is first used: a model whose template is broken still takes raw text.
    """

    def __init__(self, source: str, special: Mapping[str, str] | None = None) -> None:
        self.source = source
        self._special = dict(special or {})
        self._lock = threading.Lock()  # the environment counts one rendering at a time
        self._environment = _environment()
        self._compiled: Template | None = None

    def render(self, messages: Sequence[Message], add_generation_prompt: bool = True) -> str:
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
            If the template is not valid, fails, tries something unsafe, or asks for too much.
        """
        given = sum(len(str(message)) for message in messages)
        limit = MOST_TEXT + 8 * given
        with self._lock:
            self._environment.budget = Budget(limit)
            try:
                template = self._compiled or self._compile()
                return self._pieces(template, messages, add_generation_prompt, limit)
            except DraftscopeError:
                raise
            except _Raised as error:
                raise TemplateRefusal(
                    "The model's chat template refuses this conversation: "
                    f"{short(str(error), _LONGEST_REASON)}. {_RAW}"
                ) from error
            except SecurityError as error:
                raise DraftscopeError(
                    "The model's chat template tried something unsafe and was stopped "
                    f"({short(str(error), _LONGEST_REASON)}). {_RAW}"
                ) from error
            except BoundExceeded as error:
                raise DraftscopeError(
                    f"The model's chat template was stopped because {error}. {_RAW}"
                ) from error
            except Exception as error:  # whatever a template's own mistakes raise
                reason = short(str(error), _LONGEST_REASON) or type(error).__name__
                raise DraftscopeError(
                    f"The model's chat template failed: {reason}. {_RAW}"
                ) from error

    def takes_system(self) -> bool:
        """Return whether a system message reaches the text: neither refused nor left out.

        Raises
        ------
        DraftscopeError
            If the template cannot be used at all.
        """
        asked = [{"role": "system", "content": _PROBE}, {"role": "user", "content": "Hello"}]
        try:
            return _PROBE in self.render(asked)
        except TemplateRefusal:
            return False

    def _compile(self) -> Template:
        if len(self.source) > LONGEST_TEMPLATE:
            raise DraftscopeError(
                f"The model's chat template is {len(self.source)} characters long; at most "
                f"{LONGEST_TEMPLATE} are accepted. {_RAW}"
            )
        try:
            with warnings.catch_warnings():  # Python's remarks on the code are no use to anyone
                warnings.simplefilter("ignore", SyntaxWarning)
                self._compiled = self._environment.from_string(self.source)
        except TemplateSyntaxError as error:
            raise DraftscopeError(
                "The model's chat template is not valid: "
                f"{short(str(error.message), _LONGEST_REASON)} (line {error.lineno}). {_RAW}"
            ) from error
        except (TemplateError, RecursionError, MemoryError, ValueError, SyntaxError) as error:
            raise DraftscopeError(
                f"The model's chat template cannot be used ({type(error).__name__}). {_RAW}"
            ) from error
        return self._compiled

    def _pieces(
        self, template: Template, messages: Sequence[Message], prompt: bool, limit: int
    ) -> str:
        pieces: list[str] = []
        left = limit
        for piece in template.generate(
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


def merge_system(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Put what system messages say before the first user's turn, for templates that take none."""
    said = [str(message["content"]) for message in messages if message["role"] == "system"]
    others = [dict(message) for message in messages if message["role"] != "system"]
    if not said:
        return others
    first = next((message for message in others if message["role"] == "user"), None)
    if first is None:
        return [{"role": "user", "content": "\n\n".join(said)}, *others]
    first["content"] = "\n\n".join([*said, str(first["content"])])
    return others


def open_chat_template(path: str | Path) -> ChatTemplate | None:
    """Open a model's chat template; None where it has none (a base model: raw text only).

    Raises
    ------
    DraftscopeError
        If there is a file for it that cannot be read.
    """
    found = find_template(path)
    return None if found is None else ChatTemplate(*found)


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
    if len(format) > _LONGEST_DATE or is_wide_format(format):
        raise BoundExceeded("it makes too much text")
    return datetime.datetime.now().strftime(format)
