"""Logits to probabilities, and probabilities to a token: one function for both sides.

Knows no model, no cache and no generator: the uniforms are passed in. What comes out of
`probabilities` is what is drawn from *and* what is scored; there is no second way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from torch import Tensor

    from engine.trace.events import Settings

_SMALLEST_TEMPERATURE = 1e-30  # below it float32 could meet 0 / 0; the law is one-hot long before
_NUCLEUS_GUESS = 1024  # rows are cut among this many tokens before all are sorted


@dataclass(frozen=True)
class Sampling:
    """How logits become a law. Temperature 0 is greedy; `top_k` 0 and `top_p` 1 are off."""

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.temperature <= 1e6:
            raise DraftscopeError(
                f"The temperature is {self.temperature}; choose 0 (greedy) or a positive number."
            )
        if not 0.0 < self.top_p <= 1.0:
            raise DraftscopeError(
                f"top-p is {self.top_p}; choose a number above 0 and up to 1 (1 switches it off)."
            )
        if self.top_k < 0:
            raise DraftscopeError(f"top-k is {self.top_k}; choose 0 (off) or a positive number.")

    @classmethod
    def of(cls, settings: Settings) -> Sampling:
        """Take the sampling part of a run's settings."""
        return cls(settings.temperature, settings.top_k, settings.top_p)

    @property
    def greedy(self) -> bool:
        """Whether the law is one-hot at the argmax."""
        return self.temperature == 0.0

    @property
    def changes_nothing(self) -> bool:
        """Whether the law is the plain softmax."""
        return self.temperature == 1.0 and self.top_k == 0 and self.top_p == 1.0


def greedy_ids(logits: Tensor) -> Tensor:
    """Return the argmax of each row, the lowest id where several tie; [n] from [n, V]."""
    return logits.argmax(dim=-1)  # torch returns the first maximum


def one_hot(ids: Tensor, vocabulary: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return the law that puts all mass on each id; [n, V] from [n]."""
    law = torch.zeros(ids.shape[0], vocabulary, dtype=dtype, device=ids.device)
    return law.scatter_(1, ids[:, None], 1.0)


def probabilities(logits: Tensor, sampling: Sampling) -> Tensor:
    """Turn logits into the law that is drawn from.

    Parameters
    ----------
    logits
        [n, V], any float type.
    sampling
        Temperature first, then top-k, then top-p, as the field applies them.

    Returns
    -------
    Tensor
        [n, V] in float32 (float64 for float64 logits); rows sum to 1.
    """
    wide = logits if logits.dtype == torch.float64 else logits.float()
    if sampling.greedy:
        return one_hot(greedy_ids(wide), wide.shape[-1], wide.dtype)
    if sampling.temperature != 1.0:
        temperature = max(sampling.temperature, _SMALLEST_TEMPERATURE)
        wide = (wide - wide.amax(dim=-1, keepdim=True)) / temperature
    if 0 < sampling.top_k < wide.shape[-1]:
        threshold = wide.topk(sampling.top_k, dim=-1).values[:, -1:]
        wide = wide.masked_fill(wide < threshold, float("-inf"))
    law = torch.softmax(wide, dim=-1)
    return law if sampling.top_p >= 1.0 else _nucleus(law, sampling.top_p)


def _nucleus(law: Tensor, top_p: float) -> Tensor:
    """Keep the fewest most probable tokens that hold `top_p` of the mass; at least one.

    Among equally probable ones the lowest ids are kept, as for the argmax.
    """
    count = min(_NUCLEUS_GUESS, law.shape[-1])
    values = law.topk(count, dim=-1).values
    if count < law.shape[-1] and bool((values.sum(dim=-1) < top_p).any()):
        values = law.sort(dim=-1, descending=True).values
    before = values.cumsum(dim=-1) - values  # mass of the more probable tokens
    size = (before < top_p).sum(dim=-1, keepdim=True)  # of the nucleus, at least 1
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
    mark = cumulative[-1] * uniform
    index = int(torch.searchsorted(cumulative, mark, right=True))
    if index == law.shape[0]:  # the product rounded up to the total
        index = int(law.nonzero()[-1])
    return index
