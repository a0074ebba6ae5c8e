"""A training as its events tell it: how far it is, how it does, how it ended, in words and curves.

Knows the events of `engine.training.events`. Knows no process, no widget and no torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from engine.training.events import Evaluated, Failed, Preparing, Saved, Stepped

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from engine.training.events import TrainingEvent

    Array = npt.NDArray[np.float64]

Phase = Literal["idle", "going", "paused", "stopping", "saved", "failed", "cancelled"]
POSITIONS = 4  # of a draft, as far as they are plotted
SHARED = (
    "Training and runs share this machine: while both go on, each is slower, and the times of such "
    "a run are marked."
)


@dataclass(frozen=True)
class Curves:
    """What is plotted: two losses over all steps that are known, and the rest over evaluations.

    Attributes
    ----------
    steps
        At which either loss was measured; shape [n].
    loss, held_out_loss
        Nats, between two measurements on the line between them; shape [n].
    evaluated
        Steps at which held-out text was looked at; shape [m].
    greedy
        Acceptance by position, per cent; POSITIONS arrays of shape [m].
    overlap
        At the first position, per cent; shape [m].
    """

    steps: Array
    loss: Array
    held_out_loss: Array
    evaluated: Array
    greedy: tuple[Array, ...]
    overlap: Array

    def read_loss(self, index: int) -> tuple[str, str]:
        """Write both losses at one of `steps`; held-out text was looked at only now and then."""
        measured = self.steps[index] in self.evaluated
        values = (self.loss[index], self.held_out_loss[index] if measured else np.nan)
        return _written(values[0], 3), _written(values[1], 3)

    def read_accepted(self, index: int) -> tuple[str, ...]:
        """Write the shares at one of `evaluated`."""
        return tuple(_written(one[index], 1) for one in (*self.greedy, self.overlap))


class TrainingModel:
    """One training, from its start to its end.

    Attributes
    ----------
    phase
        What it does now, as far as the window asked for it and was told.
    name
        Of the drafter that is made.
    error
        One sentence if it failed.
    fraction
        How far what is under way is, from 0 to 1; None if nobody knows.
    """

    def __init__(self) -> None:
        self.phase: Phase = "idle"
        self.error = ""
        self.begin("")
        self.phase = "idle"

    def begin(self, name: str) -> None:
        """Forget everything: a training begins."""
        self.name, self.error, self.phase = name, "", "going"
        self.fraction: float | None = None
        self._now: Preparing | Stepped | None = None
        self._steps: list[tuple[int, float]] = []
        self._evaluated: list[Evaluated] = []
        self._saved: Saved | None = None

    @property
    def under_way(self) -> bool:
        """Whether it has begun and not ended."""
        return self.phase in ("going", "paused", "stopping")

    @property
    def working(self) -> bool:
        """Whether it keeps the machine busy."""
        return self.phase in ("going", "stopping")

    @property
    def saved(self) -> bool:
        """Whether the program said that the drafter is in its file."""
        return self._saved is not None

    def take(self, event: TrainingEvent) -> None:
        """Take in what happened."""
        match event:
            case Preparing():
                self._now = event
                self.fraction = _share(event.done, event.total)
            case Stepped():
                self._now = event
                self.fraction = _share(event.step, event.steps)
                self._steps.append((event.step, event.loss))
            case Evaluated():
                self._evaluated.append(event)
            case Saved():
                self._saved = event
            case Failed():
                self.error = event.message

    @property
    def words(self) -> str:
        """What is under way or how it ended, in one line."""
        match self.phase:
            case "idle":
                return "Nothing is being trained."
            case "paused":
                return f"Paused. {self._doing()}"
            case "stopping":
                return "Stopping: the best so far is being saved."
            case "saved":
                return f"{self.name} is saved. {self.accepted}".strip()
            case "failed":
                return self.error
            case "cancelled":
                return "The training was given up; nothing of it is left."
        return self._doing()

    def _doing(self) -> str:
        now = self._now
        if now is None:
            return "Beginning: the target is being loaded."
        rate = f"{now.tokens_per_second:,.0f} tokens a second"
        if isinstance(now, Preparing):
            if not now.tokens_per_second:  # no tokens are counted yet
                return _capital(now.what)
            done = f"{now.done:,} of {now.total:,} tokens" if now.total else f"{now.done:,} tokens"
            left = (now.total - now.done) / now.tokens_per_second
            return " · ".join(one for one in (_capital(now.what), done, rate, _left(left)) if one)
        step = f"Training, step {now.step:,} of {now.steps:,}"
        return " · ".join(one for one in (step, rate, _left(now.seconds_left)) if one)

    @property
    def accepted(self) -> str:
        """How the drafter does on held-out text, in one line: the one to keep, if there is any."""
        best = self._saved or self._best()
        if best is None or not best.greedy:
            return ""
        greedy = ", ".join(f"{100 * one:.0f}" for one in best.greedy)
        words = f"accepted on held-out text, by position: {greedy} % (greedy)"
        if best.overlap:
            words += f"; overlap at temperature 1: {100 * best.overlap[0]:.0f} %"
        return f"{'Best so far' if self._saved is None else 'Best'}, step {best.step:,}: {words}."

    def _best(self) -> Evaluated | None:
        return next((one for one in reversed(self._evaluated) if one.best), None)

    def curves(self) -> Curves:
        """Return what is plotted."""
        steps, loss = np.array(self._steps, dtype=np.float64).reshape(-1, 2).T
        evaluated = _array([one.step for one in self._evaluated])
        grid = np.union1d(steps, evaluated)
        held_out = _array([one.loss for one in self._evaluated])
        return Curves(
            steps=grid,
            loss=_between(grid, steps, loss),
            held_out_loss=_between(grid, evaluated, held_out),
            evaluated=evaluated,
            greedy=tuple(
                100 * _array([_at(one.greedy, position) for one in self._evaluated])
                for position in range(POSITIONS)
            ),
            overlap=100 * _array([_at(one.overlap, 0) for one in self._evaluated]),
        )


def _between(grid: Array, steps: Array, values: Array) -> Array:
    """Put values on a grid that has all their steps: nothing before or after them."""
    if not len(steps):
        return np.full(len(grid), np.nan)
    return np.interp(grid, steps, values, left=np.nan, right=np.nan)


def _written(value: float, digits: int) -> str:
    return f"{value:.{digits}f}" if np.isfinite(value) else "–"


def _share(done: int, total: int) -> float | None:
    return min(1.0, done / total) if total > 1 else None


def _array(values: Sequence[float]) -> Array:
    return np.array(values, dtype=np.float64)


def _at(values: Sequence[float], position: int) -> float:
    return values[position] if position < len(values) else float("nan")


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _left(seconds: float) -> str:
    """Write how long it still takes; "" if nobody knows."""
    if not 0 < seconds < 1e7:
        return ""
    if seconds < 90:
        return f"{seconds:.0f} s left"
    minutes = round(seconds / 60)
    return f"{minutes} min left" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min left"
