"""Text drawn from a target for many prompts at once. Knows ids and laws; no text and no file."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

import torch

from engine.models.attention_many import STEP
from engine.repetition import repeated, where_repeated
from engine.training.batched import BatchCache

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torch import Tensor

    from engine.training.batched import BatchedTransformer

SEQUENCES = 96  # at once: more make products faster and the cache larger
REFILL = 8  # free places that are filled together


@dataclass(frozen=True)
class Prompt:
    """What the target is to go on from."""

    tokens: tuple[int, ...]
    temperature: float  # of its law; 0: greedy
    limit: int  # tokens to draw, at most
    tag: object = None  # whatever the asker knows it by


@dataclass(frozen=True)
class Answer:
    """A prompt with what the target went on with."""

    prompt: Prompt
    drawn: tuple[int, ...]  # tokens that the target drew
    repeats: bool = False  # it was ended because it only repeated itself


@dataclass
class _Place:
    """One of the sequences that are being written."""

    prompt: Prompt
    tokens: list[int] = field(default_factory=list)


def answer(
    model: BatchedTransformer,
    prompts: Iterable[Prompt],
    ends: frozenset[int],
    generator: torch.Generator,
    *,
    sequences: int = SEQUENCES,
    longest: int = 1024,
) -> Iterator[Answer]:
    """Yield answers as they end: at an end token, at the limit, or where they only repeat.

    Parameters
    ----------
    prompts
        Read as places get free. Prompt and answer have `longest` tokens at most; a longer prompt
        is left out.
    ends
        Ids that end an answer; they are kept in it.
    generator
        Draws the tokens.
    sequences
        How many are written at once.
    """
    waiting = iter(prompts)
    cache = BatchCache(model, sequences, -(-longest // STEP) * STEP)
    places: list[_Place | None] = [None] * sequences
    exhausted = False
    while True:
        free = [index for index, place in enumerate(places) if place is None]
        if not exhausted and len(free) >= min(REFILL, sequences):
            fitting = (prompt for prompt in waiting if 0 < len(prompt.tokens) < longest)
            taken = list(islice(fitting, len(free)))
            exhausted = len(taken) < len(free)
            _fill(model, cache, places, free, taken, generator)
            order = sorted(range(sequences), key=lambda index: _length(places[index]))
            cache.arrange(order)
            places = [places[index] for index in order]
        elif len(free) == sequences:
            return
        else:
            _advance(model, cache, places, generator)
        for index, place in enumerate(places):
            done = None if place is None else _finished(place, ends, longest)
            if done is not None:
                places[index] = None
                yield done


def _fill(
    model: BatchedTransformer,
    cache: BatchCache,
    places: list[_Place | None],
    free: list[int],
    prompts: list[Prompt],
    generator: torch.Generator,
) -> None:
    """Read prompts into free places, those of like length together, and draw a token for each."""
    ordered = sorted(prompts, key=lambda prompt: len(prompt.tokens))
    for begin in range(0, len(ordered), REFILL):
        group = ordered[begin : begin + REFILL]
        slots = free[begin : begin + REFILL][: len(group)]
        width = max(len(prompt.tokens) for prompt in group)
        padded = [[*prompt.tokens, *[0] * (width - len(prompt.tokens))] for prompt in group]
        states = model.read(torch.tensor(padded, device=model.plan.device), cache, slots)
        last = torch.tensor([len(prompt.tokens) - 1 for prompt in group])
        hidden = states.hidden[torch.arange(len(group)), last.to(states.hidden.device)]
        drawn = _draw(model, hidden, [prompt.temperature for prompt in group], generator)
        for slot, prompt, token in zip(slots, group, drawn, strict=True):
            places[slot] = _Place(prompt, [*prompt.tokens, token])


def _advance(
    model: BatchedTransformer,
    cache: BatchCache,
    places: list[_Place | None],
    generator: torch.Generator,
) -> None:
    """Draw one more token for each sequence; free places are computed along and never read."""
    device = model.plan.device
    newest = [0 if place is None else place.tokens[-1] for place in places]
    positions = [0 if place is None else len(place.tokens) - 1 for place in places]
    hidden = model.step(
        torch.tensor(newest, device=device), torch.tensor(positions, device=device), cache
    )
    heats = [0.0 if place is None else place.prompt.temperature for place in places]
    for place, token in zip(places, _draw(model, hidden, heats, generator), strict=True):
        if place is not None:
            place.tokens.append(token)


@torch.inference_mode()
def _draw(
    model: BatchedTransformer, hidden: Tensor, heats: list[float], generator: torch.Generator
) -> list[int]:
    """Draw a token a row, by inverting the law's distribution function; greedy at 0."""
    logits = model.transformer.logits(hidden)
    greedy = logits.argmax(dim=-1)
    if not any(heats):
        return list(greedy.tolist())
    heat = torch.tensor([value or 1.0 for value in heats], device=logits.device)
    mass = (logits / heat[:, None]).softmax(dim=-1).cumsum(dim=-1)
    uniforms = torch.rand(len(heats), 1, generator=generator).to(mass)
    drawn = torch.searchsorted(mass, uniforms * mass[:, -1:]).squeeze(1)
    drawn = drawn.clamp_(max=mass.shape[-1] - 1)
    warm = torch.tensor([value > 0 for value in heats], device=logits.device)
    return list(torch.where(warm, drawn, greedy).tolist())


def _length(place: _Place | None) -> int:
    return 0 if place is None else len(place.tokens)


def _finished(place: _Place, ends: frozenset[int], longest: int) -> Answer | None:
    """Return the answer if it is over."""
    prompt, length = place.prompt, len(place.tokens)
    drawn = place.tokens[len(prompt.tokens) :]
    if repeated(drawn):  # the first time is kept
        return Answer(prompt, tuple(drawn[: where_repeated(drawn)]), repeats=True)
    if drawn[-1] in ends or len(drawn) >= prompt.limit or length >= longest:
        return Answer(prompt, tuple(drawn))
    return None
