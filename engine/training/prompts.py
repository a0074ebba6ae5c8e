"""Openings of conversations, without end, made from templates that are filled with subjects.

Knows templates and word lists (assets/prompts/training.json) and how to draw from them, and how to
keep out what is measured on. Knows no model, no tokenizer and no passages of other texts.
An opening is (kind, text, raw): `raw` texts are gone on with as they are, through no chat template.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from engine.assets import asset

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Iterator

RAW = 0.08  # share of beginnings to be gone on with among the templates
GREETED = 0.08  # share of prompts that begin with a greeting or a polite phrase
ENDED = 0.12  # share that end with a wish for the answer
LOWER = 0.1  # share typed without a capital letter
UNPOINTED = 0.12  # share whose last full stop or question mark is left out
SHINGLE = 13  # words in a row that no opening may share with the measuring prompts

_SLOT = re.compile(r"\{([a-z_]+?)([23]?)\}")
_WORD = re.compile(r"\w+")
_GREETINGS = ("Hi! ", "Hello, ", "Hey, ", "Please: ", "Quick question. ", "OK, next one. ", "So, ")
_WISHES = (
    *(" Keep it short.", " Be brief.", " Answer in one sentence.", " Please answer in detail."),
    *(" Use simple words.", " No introduction.", " Use at most 100 words.", " Thanks!", " thx"),
    *(" Think step by step.", " Give examples.", " Use bullet points.", " One paragraph only."),
)


class Material(msgspec.Struct, frozen=True):
    """What prompts are made of."""

    classes: dict[str, tuple[str, ...]]  # slot: what may fill it, itself with slots or not
    templates: dict[str, tuple[str, ...]]  # kind: what a user says
    beginnings: dict[str, tuple[str, ...]]  # kind: a text to be gone on with
    instructions: dict[str, tuple[tuple[str, str], ...]]  # sort of passage: kind and words


class Opening(NamedTuple):
    """How a conversation begins; a plain triple to those who unpack it."""

    kind: str
    text: str
    raw: bool


@cache
def material() -> Material:
    """Read the bundled templates and word lists."""
    return msgspec.json.decode(asset("prompts", "training.json").read_bytes(), type=Material)


def template_openings(rng: random.Random) -> Iterator[Opening]:
    """Yield openings made from templates, without end and without two equal ones.

    The kind is drawn first and then a template of it, so that kinds with many templates do not
    crowd out the others.
    """
    stuff = material()
    kinds, beginnings = sorted(stuff.templates), sorted(stuff.beginnings)
    seen: set[int] = set()  # hashes: some 100 bytes an opening
    while True:
        raw = rng.random() < RAW
        kind = rng.choice(beginnings if raw else kinds)
        template = rng.choice((stuff.beginnings if raw else stuff.templates)[kind])
        text = fill(template, stuff, rng)
        text = text.rstrip(" ") if raw else _as_typed(text, rng)
        if hash(text) not in seen:
            seen.add(hash(text))
            yield Opening(kind, text, raw)


def fill(template: str, stuff: Material, rng: random.Random) -> str:
    """Fill a template's slots, and the slots of what filled them.

    A slot is `{class}`; `{class2}` and `{class3}` are other members of the class, and a slot that
    is named twice is filled alike. Braces around anything else stay.
    """
    chosen: dict[str, str] = {}

    def value(match: re.Match[str]) -> str:
        name, slot = match[1], match[0]
        if slot not in chosen:
            drawn = _draw(name, stuff, rng)
            if drawn is None:
                return slot
            for _ in range(8):  # another member than those that stand already
                if drawn not in chosen.values():
                    break
                drawn = _draw(name, stuff, rng) or drawn
            chosen[slot] = drawn
        return chosen[slot]

    # twice: mails, foreign prompts and the like hold slots themselves
    return _SLOT.sub(value, _SLOT.sub(value, template))


def _draw(name: str, stuff: Material, rng: random.Random) -> str | None:
    """Draw what fills a slot; None if no such slot is known."""
    if name in stuff.classes:
        return rng.choice(stuff.classes[name])
    match name:
        case "n":
            return str(rng.randint(2, 12))
        case "number":
            return str(rng.randint(3, 99) if rng.random() < 0.6 else rng.randint(100, 999))
        case "big":
            return str(rng.choice((rng.randint(100, 9999), 50 * rng.randint(2, 200))))
        case "decimal":
            return f"{rng.uniform(0.1, 100):.{rng.randint(2, 5)}f}"
        case "year":
            return str(rng.randint(1950, 2060))
        case "percent":
            return str(rng.choice((5, 10, 15, 20, 25, 30, 40, 50, 60, 75, rng.randint(1, 99))))
        case "price":
            amount = rng.choice((f"{rng.uniform(1, 60):.2f}", str(rng.randint(2, 900))))
            return rng.choice((f"${amount}", f"{amount} euros", f"£{amount}"))
        case "age":
            return str(rng.randint(5, 90))
        case "flat":  # a paragraph's part, typed without capitals and commas
            sentences = rng.choice(stuff.classes["paragraph"]).split(". ")[: rng.randint(2, 3)]
            return re.sub(r"[,;:.?!]", "", ". ".join(sentences)).lower()
        case "paragraph_start":
            words = rng.choice(stuff.classes["paragraph"]).split()
            return " ".join(words[: rng.randint(12, 45)])
        case "snippet_start":
            lines = rng.choice(stuff.classes["snippet"]).split("\n")
            return "\n".join(lines[: max(1, rng.randint(1, len(lines) - 1))]) + "\n"
    return None


def _as_typed(text: str, rng: random.Random) -> str:
    """Vary how a prompt is typed: greeting, wish, capitals, the last mark."""
    short = "\n" not in text and len(text) < 200
    if text[0].islower() and rng.random() < 0.5:
        text = text[0].upper() + text[1:]
    if short and rng.random() < ENDED:
        text += rng.choice(_WISHES)
    if rng.random() < GREETED:
        text = rng.choice(_GREETINGS) + text
    if text[-1] in ".?!" and rng.random() < UNPOINTED:
        text = text[:-1]
    if short and rng.random() < LOWER:
        text = text.lower()
    return text


def unmeasured(
    openings: Iterable[tuple[str, str, bool]], measuring: Iterable[str]
) -> Iterator[Opening]:
    """Leave out the openings that share 13 words in a row with a text that is measured on."""
    held = {shingle for text in measuring for shingle in shingles(text, SHINGLE)}
    for kind, text, raw in openings:
        if held.isdisjoint(shingles(text, SHINGLE)):
            yield Opening(kind, text, raw)


def shingles(text: str, length: int) -> Iterator[tuple[str, ...]]:
    """Yield the runs of `length` words of a text, without case and punctuation."""
    words = _WORD.findall(text.lower())
    for start in range(len(words) - length + 1):
        yield tuple(words[start : start + length])
