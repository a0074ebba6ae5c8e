"""What is to be run, as the prompt panel holds it. Knows no widget and no model.

One value holds every field, so that the panel, the remembered settings, a session that was opened
and the request to the engine speak of the same things.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from app.viewmodels.more import MOST_K, MOST_TEMPERATURE, More
from app.viewmodels.numbers import count
from engine.drafters.names import (
    EARLY,
    LOOKUP_FIRST,
    MODEL,
    QUICKEST,
    TRAINED,
    behind,
    is_trained,
    usual_exit,
)
from engine.request import RunRequest
from engine.trace.events import RunStarted, Settings

if TYPE_CHECKING:
    from app.settings import Settings as Remembered

MOST_TOP_K = 1_000_000
MOST_TOKENS = 1_000_000
LARGEST_SEED = 2**63 - 1

# What a new user finds: a run that drafts, draws and rejects, so that the court has something to
# show, and a question that the default model answers at some length.
FIRST_PROMPT = "Explain to a curious child why the sky is blue."
DEFAULT_LAYERS = 30  # of the default target
_TRAINED_WORD = "trained "
_UNSCORED = ("ngram", "none")  # these have no logits, so nothing to draw from or to be unsure of


@dataclass(frozen=True)
class PromptState:
    """Everything that a run is asked with."""

    prompt: str = FIRST_PROMPT
    raw: bool = False
    target: str = "smollm2-135m"
    drafter: str = QUICKEST
    k: int = 3
    temperature: float = 0.7
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 2  # of which the default model says something worth reading
    limit: int = 128
    baseline: bool = True
    more: More = field(default_factory=More)

    @property
    def settings(self) -> Settings:
        """What may change between rounds."""
        return self.more.put_into(
            Settings(
                drafter=self.drafter,
                k=self.k,
                temperature=self.temperature,
                top_k=self.top_k,
                top_p=self.top_p,
            )
        )

    @property
    def request(self) -> RunRequest:
        """The run as the engine is asked for it."""
        return RunRequest(
            prompt=self.prompt,
            settings=self.settings,
            raw=self.raw,
            seed=self.seed,
            max_new_tokens=self.limit,
            baseline=self.baseline,
        )

    @property
    def typed(self) -> bool:
        """Whether the prompt is the user's own: neither empty nor the one that a new user finds."""
        return self.prompt.strip() not in ("", FIRST_PROMPT)

    @property
    def scored(self) -> bool:
        """Whether the drafter has logits: a law to draw from, and to be unsure of."""
        return self.drafter not in _UNSCORED

    @property
    def draws(self) -> bool:
        """Whether anything is drawn, by either side: else top-k, top-p and min-p decide nothing."""
        own = self.more.drafter_temperature
        return self.temperature > 0 or (self.scored and own is not None and own > 0)

    @classmethod
    def remembered(cls, settings: Remembered) -> PromptState:
        """Return the state as it was left."""
        return cls(
            prompt=settings["decode.prompt"],
            raw=settings["decode.raw"],
            target=settings["models.target"],
            drafter=settings["models.drafter"],
            k=settings["decode.k"],
            temperature=float(settings["decode.temperature"]),
            top_k=settings["decode.top_k"],
            top_p=float(settings["decode.top_p"]),
            seed=settings["decode.seed"],
            limit=settings["decode.limit"],
            baseline=settings["decode.baseline"],
            more=More.remembered(settings),
        )

    def remember(self, settings: Remembered) -> None:
        """Store the state for the next start."""
        settings["decode.prompt"] = self.prompt
        settings["decode.raw"] = self.raw
        settings["models.target"] = self.target
        settings["models.drafter"] = self.drafter
        settings["decode.k"] = self.k
        settings["decode.temperature"] = self.temperature
        settings["decode.top_k"] = self.top_k
        settings["decode.top_p"] = self.top_p
        settings["decode.seed"] = self.seed
        settings["decode.limit"] = self.limit
        settings["decode.baseline"] = self.baseline
        self.more.remember(settings)

    def after_opening(self, started: RunStarted) -> PromptState:
        """Take the prompt and the settings of a session, as far as the fields can hold them.

        Models that are files stay as chosen: those of the session may not be here.
        """
        settings = started.settings
        portable = not behind(settings.drafter).startswith((MODEL, TRAINED))
        return replace(
            self,
            prompt=started.prompt,
            raw=started.raw,
            drafter=settings.drafter if portable else self.drafter,
            k=min(settings.k, MOST_K),
            temperature=min(settings.temperature, MOST_TEMPERATURE),
            top_k=min(settings.top_k, MOST_TOP_K),
            top_p=settings.top_p,
            seed=min(started.seed, LARGEST_SEED),
            limit=min(started.max_new_tokens, MOST_TOKENS),
            more=More.of(settings),
        )


def early_spec(layers: int = 0) -> str:
    """Name early exit after five sixths of a target's layers; 0: it is not known how many."""
    return f"{EARLY}{usual_exit(layers or DEFAULT_LAYERS)}"


def early_layers(spec: str) -> int:
    """Return after how many layers an early exit drafts; 0 if this is no early exit."""
    written = spec.removeprefix(EARLY) if spec.startswith(EARLY) else ""
    return int(written) if re.fullmatch("[0-9]{1,4}", written) else 0


def drafter_label(spec: str) -> str:
    """Write a drafter in the glossary's words."""
    known = {
        "ngram": "n-gram look-up",
        "head": f"{_TRAINED_WORD}head",
        "none": "none (plain rounds)",
    }
    if spec in known:
        return known[spec]
    if spec.startswith(LOOKUP_FIRST):
        return f"n-gram, else {drafter_label(behind(spec)).removeprefix(_TRAINED_WORD)}"
    if is_trained(spec):
        return (
            f"{_TRAINED_WORD}{_last_part(spec.removeprefix(TRAINED)).removesuffix('.safetensors')}"
        )
    if spec.startswith(EARLY):
        return f"early exit, first {count(early_layers(spec), 'layer')}"
    return f"small model: {_last_part(spec.removeprefix(MODEL))}"


def replaced_words(asked: str, used: str) -> str:
    """Say that a drafter cannot draft for this target, and which one does instead."""
    exits, layers = early_layers(behind(used)), early_layers(behind(asked))
    drafts = f"its first {count(exits, 'layer')}" if exits else f"the {drafter_label(used)}"
    verb = "draft" if exits > 1 else "drafts"
    if layers:
        return f"The target has too few layers to exit after {layers}, so {drafts} {verb}."
    return (
        f"The {drafter_label(asked)} was made for another target, so {drafts} {verb} for this one."
    )


def target_label(name: str) -> str:
    """Write a target: a known name as it is, a path by its last part."""
    return _last_part(name)


def _last_part(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
