"""The settings that a new user need not see: how laws are shaped further, and when a draft ends.

Knows their ranges in the window, and how they are remembered. Knows no widget and no engine.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import msgspec

from app.viewmodels.logit_bias import Bias, parse_biases, written_bias

if TYPE_CHECKING:
    from app.settings import Settings as Remembered
    from engine.trace.events import Settings

# What the window's fields can hold; the engine takes more.
MOST_TEMPERATURE = 5.0
MOST_K = 16
MOST_PENALTY = 10.0
LEAST_REPETITION = 0.1
_SHARED = -1.0  # remembered in place of a drafter's own temperature where it has none


@dataclass(frozen=True)
class More:
    """Values of the fields under *More*, named as in `engine.trace.events.Settings`."""

    min_p: float = 0.0
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    logit_bias: Bias = ()
    drafter_temperature: float | None = None
    k_min: int = 0
    confidence: float = 0.0

    @classmethod
    def of(cls, settings: Settings) -> More:
        """Take the fields from settings, as far as the window's fields can hold them."""
        taken = cls(**{field.name: getattr(settings, field.name) for field in fields(cls)})
        own = taken.drafter_temperature
        return cls(
            min_p=_within(taken.min_p, 0.0, 1.0),
            repetition_penalty=_within(taken.repetition_penalty, LEAST_REPETITION, MOST_PENALTY),
            presence_penalty=_within(taken.presence_penalty, -MOST_PENALTY, MOST_PENALTY),
            frequency_penalty=_within(taken.frequency_penalty, -MOST_PENALTY, MOST_PENALTY),
            logit_bias=taken.logit_bias,
            drafter_temperature=None if own is None else _within(own, 0.0, MOST_TEMPERATURE),
            k_min=min(taken.k_min, MOST_K),
            confidence=_within(taken.confidence, 0.0, 1.0),
        )

    def put_into(self, settings: Settings) -> Settings:
        """Return settings with these fields."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return msgspec.structs.replace(settings, **values)

    @classmethod
    def remembered(cls, settings: Remembered) -> More:
        """Return the values as they were left."""
        own = float(settings["decode.drafter_temperature"])
        try:
            bias = parse_biases(settings["decode.logit_bias"])
        except ValueError:  # the file was edited
            bias = ()
        return cls(
            min_p=float(settings["decode.min_p"]),
            repetition_penalty=float(settings["decode.repetition_penalty"]),
            presence_penalty=float(settings["decode.presence_penalty"]),
            frequency_penalty=float(settings["decode.frequency_penalty"]),
            logit_bias=bias,
            drafter_temperature=own if own >= 0 else None,
            k_min=settings["decode.k_min"],
            confidence=float(settings["decode.confidence"]),
        )

    def remember(self, settings: Remembered) -> None:
        """Store the values for the next start."""
        own = self.drafter_temperature
        settings["decode.min_p"] = self.min_p
        settings["decode.repetition_penalty"] = self.repetition_penalty
        settings["decode.presence_penalty"] = self.presence_penalty
        settings["decode.frequency_penalty"] = self.frequency_penalty
        settings["decode.logit_bias"] = written_bias(self.logit_bias)
        settings["decode.drafter_temperature"] = _SHARED if own is None else own
        settings["decode.k_min"] = self.k_min
        settings["decode.confidence"] = self.confidence


def _within(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)
