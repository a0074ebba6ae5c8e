"""Settings in words: what holds, what changed, and what a law went through. One wording for all.

Knows the fields of `engine.trace.events.Settings` and the glossary. Knows no panel and no format.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from app.viewmodels.numbers import count
from app.viewmodels.prompt import drafter_label
from engine.trace.events import Settings

if TYPE_CHECKING:
    from app.viewmodels.more import More

_OFF = Settings(drafter="none", k=0, temperature=0.0)

# In the order in which they are said; the name before a number. k and temperature are always said.
_NAMES = {
    "k": "k",
    "k_min": "at least",
    "confidence": "confidence",
    "temperature": "temperature",
    "top_k": "top-k",
    "top_p": "top-p",
    "min_p": "min-p",
    "repetition_penalty": "repetition penalty",
    "presence_penalty": "presence penalty",
    "frequency_penalty": "frequency penalty",
    "drafter_temperature": "drafter temperature",
    "logit_bias": "logit biases",
}
_ALWAYS = ("k", "temperature")
_ALONE = {"drafter": "drafter", "k_min": "least draft"}  # names that need no "k 4" before them
# In the order in which a law goes through them.
_MOVES = ("logit_bias", "repetition_penalty", "frequency_penalty", "presence_penalty")
_CUTS = ("top_k", "top_p", "min_p")


def settings_words(settings: Settings, k: int | None = None) -> str:
    """Return k and the sampling in words: "k 4, at least 2, temperature 0.8, top-p 0.95".

    What is at its default is left out. The drafter is named elsewhere, with its model.

    Parameters
    ----------
    k
        That of a round, which is 0 where there is no drafter; None: as asked.
    """
    said = settings if k is None else msgspec.structs.replace(settings, k=k)
    return ", ".join(
        _written(said, field) for field in _NAMES if field in _ALWAYS or _is_on(said, field)
    )


def more_words(more: More) -> str:
    """Return in words what of the further settings is not at its default; "" where all is."""
    settings = more.put_into(_OFF)
    return ", ".join(
        f"{_ALONE[field]} {settings.k_min}" if field in _ALONE else _written(settings, field)
        for field in _NAMES
        if field not in _ALWAYS and _is_on(settings, field)
    )


def change_words(before: Settings | None, after: Settings) -> str:
    """Name what changed: "k 4 → 2, temperature 0 → 0.7"."""
    parts = []
    for field in ("drafter", *_NAMES):
        name, new = _ALONE.get(field) or _NAMES[field], getattr(after, field)
        old = None if before is None else getattr(before, field)
        if before is None:
            if field in ("drafter", *_ALWAYS) or _is_on(after, field):
                parts.append(f"{name} {_value(field, new)}")
        elif new != old:
            was, now = _value(field, old), _value(field, new)
            parts.append(f"{name} changed" if was == now else f"{name} {was} → {now}")
    return ", ".join(parts) or "settings repeated"


def law_words(settings: Settings) -> str:
    """Return what the target's law went through: "after logit bias, temperature 0.8, top-p 0.9".

    Only what is switched on is named, in the order in which it is applied.
    """
    steps = _moves(settings)
    if settings.temperature == 0:
        return f"after {', '.join(steps)}, at temperature 0" if steps else "at temperature 0"
    if settings.temperature != 1:
        steps.append(_written(settings, "temperature"))
    steps += [_written(settings, field) for field in _CUTS if _is_on(settings, field)]
    return f"after {', '.join(steps)}" if steps else "at temperature 1, nothing cut"


def moved_words(settings: Settings) -> str:
    """Say that logits were moved before they became p_target, where they were; else ""."""
    moves = _moves(settings)
    if not moves:
        return ""
    *first, last = moves
    said = f"{', '.join(first)} and {last}" if first else last
    return f"p_target has {said} in it; the raw law has not."


def _moves(settings: Settings) -> list[str]:
    """Name what moves logits before the temperature."""
    return [
        "logit bias" if field == "logit_bias" else _written(settings, field)
        for field in _MOVES
        if _is_on(settings, field)
    ]


def _is_on(settings: Settings, field: str) -> bool:
    return bool(getattr(settings, field) != getattr(_OFF, field))


def _written(settings: Settings, field: str) -> str:
    value = getattr(settings, field)
    if field == "logit_bias":
        return count(len(value), "logit bias", "logit biases")
    if field == "temperature" and value == 0:
        return "greedy"
    return f"{_NAMES[field]} {_value(field, value)}"


def _value(field: str, value: object) -> str:
    write: Callable[[Any], str] = _VALUES.get(field, "{:g}".format)
    return write(value)


_VALUES: dict[str, Callable[[Any], str]] = {
    "drafter": drafter_label,
    "logit_bias": lambda bias: str(len(bias)),
    "drafter_temperature": lambda own: "the target's" if own is None else f"{own:g}",
}
