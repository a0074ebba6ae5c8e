"""What happens while a drafter is made, as plain values. Knows no torch and no model.

They cross from the program that trains to whoever watches it, one JSON object a line.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec


class _Event(msgspec.Struct, frozen=True, tag_field="type", forbid_unknown_fields=False):
    pass


class Preparing(_Event, frozen=True, tag="preparing"):
    """Text is being written, or the target's states are being computed."""

    what: str  # in words
    done: int  # tokens
    total: int
    tokens_per_second: float


class Stepped(_Event, frozen=True, tag="stepped"):
    """A step of the optimiser, or the last of several."""

    step: int
    steps: int
    loss: float  # nats, averaged over the last steps
    rate: float  # learning rate
    tokens_per_second: float
    seconds_left: float


class Evaluated(_Event, frozen=True, tag="evaluated"):
    """The drafter on rows that training never saw, by position in the draft."""

    step: int
    greedy: tuple[float, ...]  # acceptance at position i + 1, all before it accepted
    overlap: tuple[float, ...]  # sum(min(p_target, q_draft)) at temperature 1
    loss: float
    best: bool  # whether this is the one to keep


class Saved(_Event, frozen=True, tag="saved"):
    """The end: the best drafter is in its file, also after a stop."""

    path: str
    step: int  # at which it was the best
    greedy: tuple[float, ...]
    overlap: tuple[float, ...]


class Failed(_Event, frozen=True, tag="failed"):
    """The end, without a file."""

    message: str


TrainingEvent: TypeAlias = Preparing | Stepped | Evaluated | Saved | Failed
_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(TrainingEvent)


def to_line(event: TrainingEvent) -> str:
    """Return an event as one line of JSON."""
    return _ENCODER.encode(event).decode()


def from_line(line: str | bytes) -> TrainingEvent:
    """Return the event of a line.

    Raises
    ------
    msgspec.DecodeError
        If it is none.
    """
    return _DECODER.decode(line)
