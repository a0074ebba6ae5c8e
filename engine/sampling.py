"""Logits to probabilities, and probabilities to a token: one function for both sides.

Knows no model, no cache and no generator: the uniforms are passed in. What comes out of
`probabilities` is what is drawn from *and* what is scored; there is no second way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import torch

from engine.bounds import HOTTEST, LARGEST_SHIFT
from engine.errors import DraftscopeError
from engine.scans import TorchScans

if TYPE_CHECKING:
    from torch import Tensor

    from engine.models.network import Best
    from engine.scans import Scans
    from engine.trace.events import Settings

SMALLEST_TEMPERATURE = 1e-30  # below it float32 could meet 0 / 0; the law is one-hot long before
_NUCLEUS_GUESS = 1024  # rows are cut among this many tokens before all are sorted


@dataclass(frozen=True)
class Sampling:
    """How logits become a law. Temperature 0 is greedy; the defaults of the rest are off.

    Each field is as in `engine.Settings`: `logit_bias`, `repetition_penalty`, `presence_penalty`
    and `frequency_penalty` move the logits (`engine.penalties`), then `probabilities` applies
    `temperature`, `top_k`, `top_p` and `min_p`.
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    logit_bias: tuple[tuple[int, float], ...] = ()

    def __post_init__(self) -> None:
        _check_temperature(self.temperature, "The temperature")
        if not 0.0 < self.top_p <= 1.0:
            raise DraftscopeError(
                f"top-p is {self.top_p}; choose a number above 0 and up to 1 (1 switches it off)."
            )
        if self.top_k < 0:
            raise DraftscopeError(f"top-k is {self.top_k}; choose 0 (off) or a positive number.")
        if not 0.0 <= self.min_p <= 1.0:
            raise DraftscopeError(
                f"min-p is {self.min_p}; choose a number from 0 (off) to 1 (the argmax alone)."
            )
        self._check_shifts()

    def _check_shifts(self) -> None:
        if not 1 / LARGEST_SHIFT <= self.repetition_penalty <= LARGEST_SHIFT:
            raise DraftscopeError(
                f"The repetition penalty is {self.repetition_penalty}; choose a number from "
                f"{1 / LARGEST_SHIFT:.4f} to {LARGEST_SHIFT:.0f} (1 switches it off)."
            )
        named = [("presence penalty", self.presence_penalty)]
        named.append(("frequency penalty", self.frequency_penalty))
        named += [(f"bias of token {token}", added) for token, added in self.logit_bias]
        for name, value in named:
            if not -LARGEST_SHIFT <= value <= LARGEST_SHIFT:
                raise DraftscopeError(
                    f"The {name} is {value}; choose a number from {-LARGEST_SHIFT:.0f} to "
                    f"{LARGEST_SHIFT:.0f} (0 switches it off)."
                )
        for token, _ in self.logit_bias:
            if token < 0:
                raise DraftscopeError(
                    f"The logit bias names token {token}; choose an id of the vocabulary."
                )

    @classmethod
    def of(cls, settings: Settings) -> Sampling:
        """Take the sampling part of a run's settings, for the target."""
        return cls(**{field.name: getattr(settings, field.name) for field in fields(cls)})

    @classmethod
    def of_drafter(cls, settings: Settings) -> Sampling:
        """Take it for the drafter, which may have a temperature of its own."""
        own = settings.drafter_temperature
        shared = cls.of(settings)
        if own is None:
            return shared
        _check_temperature(own, "The drafter's own temperature")
        return replace(shared, temperature=own)

    @property
    def greedy(self) -> bool:
        """Whether the law is one-hot at the argmax."""
        return self.temperature == 0.0

    @property
    def remembers(self) -> bool:
        """Whether the law depends on what the text holds."""
        penalties = (self.repetition_penalty, self.presence_penalty, self.frequency_penalty)
        return penalties != (1.0, 0.0, 0.0)

    @property
    def adjusts(self) -> bool:
        """Whether logits are moved before they become a law."""
        return self.remembers or bool(self.logit_bias)

    @property
    def cuts(self) -> bool:
        """Whether tokens are left out of the law."""
        return self.top_k > 0 or self.top_p < 1.0 or self.min_p > 0.0

    @property
    def softens(self) -> bool:
        """Whether the law is the softmax at a temperature, and nothing else."""
        return not (self.greedy or self.cuts or self.adjusts)

    @property
    def changes_nothing(self) -> bool:
        """Whether the law is the plain softmax."""
        return self == Sampling(temperature=1.0)


def _check_temperature(temperature: float, name: str) -> None:
    if not 0.0 <= temperature <= HOTTEST:
        raise DraftscopeError(
            f"{name} is {temperature}; choose a number from 0 (greedy) to {HOTTEST:.0f}."
        )


def greedy_ids(logits: Tensor) -> Tensor:
    """Return the argmax of each row, the lowest id where several tie; [n] from [n, V]."""
    return logits.argmax(dim=-1)  # torch returns the first maximum


def sound_ids(logits: Tensor, side: str, scans: Scans | None = None) -> list[int]:
    """Return each row's argmax, unless what chose it is no number; it is read by the host.

    Raises
    ------
    DraftscopeError
        Naming the side, "target" or "drafter", whose logits hold a NaN or an infinity.
    """
    largest, ids = (scans or TorchScans()).largest(logits)
    if not all(map(math.isfinite, largest)):
        raise not_finite(side)
    return ids


def sound(best: Best, side: str) -> int:
    """Return the place of a row's largest score, if it is a number; raises as `sound_ids` does."""
    if not math.isfinite(best.score):
        raise not_finite(side)
    return best.place


def sound_law(law: Tensor, side: str) -> Tensor:
    """Return a law as it is, unless it holds a NaN; raises as `sound_ids` does."""
    if not math.isfinite(float(law.sum())):
        raise not_finite(side)
    return law


def not_finite(side: str) -> DraftscopeError:
    """Return the error that names the side, "target" or "drafter", whose logits are no numbers."""
    return DraftscopeError(
        f"The {side}'s logits are not finite numbers, so nothing can be drawn from them; "
        "check its weights, or choose the eager plan (--plan eager)."
    )


def one_hot(ids: Tensor, vocabulary: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return the law that puts all mass on each id; [n, V] from [n]."""
    law = torch.zeros(ids.shape[0], vocabulary, dtype=dtype, device=ids.device)
    return law.scatter_(1, ids[:, None], 1.0)


def probabilities(logits: Tensor, sampling: Sampling, *, queued: bool = False) -> Tensor:
    """Turn logits into the law that is drawn from.

    Parameters
    ----------
    logits
        [n, V], any float type; bias and penalties are in them already.
    sampling
        Temperature first, then top-k, top-p and min-p, as the field applies them.
    queued
        Whether nothing may be read back on the way.

    Returns
    -------
    Tensor
        [n, V] in float32 (float64 for float64 logits); rows sum to 1.
    """
    wide = logits if logits.dtype == torch.float64 else logits.float()
    if sampling.greedy:
        return one_hot(greedy_ids(wide), wide.shape[-1], wide.dtype)
    if sampling.temperature != 1.0:
        temperature = max(sampling.temperature, SMALLEST_TEMPERATURE)
        wide = (wide - wide.amax(dim=-1, keepdim=True)) / temperature
    if 0 < sampling.top_k < wide.shape[-1]:
        threshold = wide.topk(sampling.top_k, dim=-1).values[:, -1:]
        wide = wide.masked_fill(wide < threshold, float("-inf"))
    law = torch.softmax(wide, dim=-1)
    if sampling.top_p < 1.0:
        law = _nucleus(law, sampling.top_p, queued)
    return law if sampling.min_p <= 0.0 else _above_share(law, sampling.min_p)


def _above_share(law: Tensor, min_p: float) -> Tensor:
    """Keep what has at least `min_p` of the largest probability (Nguyen et al. 2024, eq. 2)."""
    kept = law * (law >= min_p * law.amax(dim=-1, keepdim=True))
    return kept / kept.sum(dim=-1, keepdim=True)


def _nucleus(law: Tensor, top_p: float, queued: bool) -> Tensor:
    """Keep the fewest most probable tokens that hold `top_p` of the mass; at least one.

    Among equally probable ones the lowest ids are kept, as for the argmax.
    """
    if queued:  # whether the guess was enough would have to be read
        values = law.sort(dim=-1, descending=True).values
    else:
        count = min(_NUCLEUS_GUESS, law.shape[-1])
        values = law.topk(count, dim=-1).values
        if count < law.shape[-1] and bool((values.sum(dim=-1) < top_p).any()):
            values = law.sort(dim=-1, descending=True).values
    before = values.cumsum(dim=-1) - values  # mass of the more probable tokens
    # of the nucleus, at least 1: in float32 the smallest top-p are 0
    size = (before < top_p).sum(dim=-1, keepdim=True).clamp_(min=1)
    smallest = values.gather(1, size - 1)
    above, equal = law > smallest, law == smallest
    room = size - above.sum(dim=-1, keepdim=True)
    kept = law * (above | (equal & (equal.cumsum(dim=-1) <= room)))
    return kept / kept.sum(dim=-1, keepdim=True)


def draw(law: Tensor, uniform: float) -> int:
    """Draw a token by inverting the cumulative law, in float64.

    Parameters
    ----------
    law
        [V], not negative; it need not sum to exactly 1.
    uniform
        In [0, 1).

    Returns
    -------
    int
        The first id whose cumulative mass exceeds `uniform` of the total: never one of mass 0.
    """
    # MPS has no float64; there the law is read by the host
    wide = law.cpu().double() if law.device.type == "mps" else law.double()
    cumulative = wide.cumsum(dim=0)
    total = cumulative[-1]
    index = int(torch.searchsorted(cumulative, total * uniform, right=True))
    if index == law.shape[0]:  # the product rounded up to the total
        index = int(torch.searchsorted(cumulative, total))
    return index


def drawn_ids(law: Tensor, uniforms: Tensor) -> Tensor:
    """Draw a token from each row as `draw` does, with nothing read back; [n] from [n, V] and [n].

    Where a row holds no numbers what is drawn means nothing, but it is an id.
    """
    cumulative = law.cumsum(dim=-1, dtype=torch.float64)
    marks = cumulative[:, -1:] * uniforms[:, None]  # below the total, as 1 - 2**-53 of it still is
    ids = torch.searchsorted(cumulative, marks, right=True)[:, 0]
    return ids.clamp_(max=law.shape[-1] - 1)


def finite_rows(values: Tensor) -> Tensor:
    """Return whether each row sums to a number; [n] of bool from [n, V]."""
    return values.sum(dim=-1).isfinite()
