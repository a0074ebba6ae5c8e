"""A run as far as its events have told it. Knows what is in force; checks nothing."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.trace.events import FinishReason, Round, RunStarted, Settings


@dataclass
class Record:
    """What the checks of one round need to know of everything before it."""

    started: RunStarted
    settings: Settings  # in force
    tokens: list[int]  # prompt + emitted
    rounds: int = 0
    end: FinishReason | None = None  # what ended the text, once something has
    drafter_cache: tuple[str, int] | None = None  # drafter and length after the last round
    output: Counter[int] = field(default_factory=Counter)  # how often each id was emitted
    laws: set[tuple[object, ...]] = field(default_factory=set)  # every sampling in force so far

    @classmethod
    def of(cls, started: RunStarted) -> Record:
        """Begin where the run began."""
        prompt = [piece.id for piece in started.prompt_tokens]
        record = cls(started, started.settings, prompt)
        record.change(started.settings)
        return record

    @property
    def greedy(self) -> bool:
        """Whether the target's law is one-hot."""
        return self.settings.temperature == 0.0

    @property
    def drafter_greedy(self) -> bool:
        """Whether the drafter's law is one-hot: it looks up, or it has the temperature 0."""
        own = self.settings.drafter_temperature
        temperature = self.settings.temperature if own is None else own
        return temperature == 0.0 or self.settings.drafter == "ngram"

    @property
    def one_greedy_law(self) -> bool:
        """Whether all rounds so far were greedy under the same settings: then texts compare."""
        return self.greedy and len(self.laws) == 1

    @property
    def emitted(self) -> list[int]:
        """Ids emitted so far."""
        return self.tokens[len(self.started.prompt_tokens) :]

    @property
    def longest(self) -> float:
        """Tokens that the text may have at most."""
        context = self.started.target.context_length or math.inf
        return min(len(self.started.prompt_tokens) + self.started.max_new_tokens, context)

    def change(self, settings: Settings) -> None:
        """Put settings in force."""
        self.settings = settings
        self.laws.add(
            (
                *(settings.temperature, settings.top_k, settings.top_p, settings.min_p),
                *(settings.repetition_penalty, settings.presence_penalty),
                *(settings.frequency_penalty, settings.logit_bias),
            )
        )

    def commit(self, one: Round) -> None:
        """Add what a round emitted."""
        self.tokens += one.emitted_ids
        self.output.update(one.emitted_ids)
        self.rounds += 1
        span = one.drafter_cache
        self.drafter_cache = None if span is None else (one.drafter, span.after)
