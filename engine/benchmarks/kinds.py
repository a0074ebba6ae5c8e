"""The prompts and beginnings that drafters are measured on; no training text may hold them.

Knows the bundled file (assets/prompts/kinds.json). Knows no model and no tokenizer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import msgspec

from engine.assets import asset


@dataclass(frozen=True)
class KindPrompt:
    """A prompt of one kind of task."""

    id: str
    kind: str  # story, explanation, code, list, translation, arithmetic, summary or rewriting
    prompt: str
    subject: str  # what it is about: words that no training prompt contains
    raw: bool = False


@dataclass(frozen=True)
class Beginning:
    """Running text of at least 32 tokens, whose first 32 are gone on with."""

    id: str
    kind: str  # what sort of text it is
    text: str
    subject: str


@dataclass(frozen=True)
class _Measuring:
    prompts: tuple[KindPrompt, ...]
    beginnings: tuple[Beginning, ...]


@cache
def _measuring() -> _Measuring:
    return msgspec.json.decode(asset("prompts", "kinds.json").read_bytes(), type=_Measuring)


def kinds() -> tuple[KindPrompt, ...]:
    """Return the prompts by kind, in the file's order."""
    return _measuring().prompts


def beginnings() -> tuple[Beginning, ...]:
    """Return the beginnings of running text, in the file's order."""
    return _measuring().beginnings


def measuring_texts() -> tuple[str, ...]:
    """Return all texts that are measured on, for those who must keep clear of them."""
    return (*(one.prompt for one in kinds()), *(one.text for one in beginnings()))
