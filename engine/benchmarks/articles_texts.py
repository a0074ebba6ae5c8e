"""What `articles` decodes: beginnings of running text, and prompts of several kinds.

Knows where they come from and a tokenizer to cut them by; no model and no figure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.benchmarks import kinds as bundled

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine.models.text.tokenizer import Tokenizer

BEGINNINGS = "beginnings"
BEGINNING = 32  # tokens of each
_REPEAT_SEEDS = 10_000  # texts are fewer


@dataclass(frozen=True)
class Text:
    """One of them."""

    kind: str  # "beginnings", or what sort of task a prompt is
    prompt: str
    raw: bool  # through no chat template
    seed: int


def whole_beginnings(count: int) -> tuple[str, ...]:
    """Return so many of the texts that beginnings are cut from."""
    return tuple(one.text for one in bundled.beginnings()[:count])


def begin_texts(tokenizer: Tokenizer, count: int) -> tuple[Text, ...]:
    """Return so many beginnings, each of 32 of the tokenizer's tokens."""
    cut = (tokenizer.encode(text)[:BEGINNING] for text in whole_beginnings(count))
    return tuple(
        Text(BEGINNINGS, tokenizer.decode(ids), raw=True, seed=seed) for seed, ids in enumerate(cut)
    )


def kind_texts(count: int) -> tuple[Text, ...]:
    """Return so many prompts of each kind, kind by kind."""
    taken: dict[str, list[Text]] = {}
    for seed, one in enumerate(bundled.kinds()):
        some = taken.setdefault(one.kind, [])
        if len(some) < count:
            some.append(Text(one.kind, one.prompt, raw=one.raw, seed=seed))
    return tuple(text for some in taken.values() for text in some)


def repeated_texts(texts: Iterable[Text], repeats: int) -> tuple[Text, ...]:
    """Return the texts so many times over, each time with seeds of their own."""
    every = tuple(texts)
    return tuple(
        replace(text, seed=text.seed + _REPEAT_SEEDS * repeat)
        for repeat in range(repeats)
        for text in every
    )
