"""A batch of a corpus with the target's states, as drafters are fitted to it. Knows no drafter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from engine.training.corpus import Corpus
    from engine.training.states import States


@dataclass(frozen=True)
class Batch:
    """B rows, padded on the right to T places."""

    tokens: Tensor  # [B, T] ids
    hidden: Tensor  # [B, T, (1 + taps) D] float32, as in States
    normalisers: Tensor  # [B, T]
    choices: Tensor  # [B, T], the target's argmax, an id
    counted: Tensor  # [B, T] of bool: laws that a drafter is to learn


def make_batch(
    corpus: Corpus, states: States, rows: Sequence[int], prefix: int, device: torch.device
) -> Batch:
    """Gather rows.

    Parameters
    ----------
    prefix
        Laws of so many first tokens are not counted: the chat template's own words, the same in
        every row.
    """
    width = max(int(corpus.starts[row + 1] - corpus.starts[row]) for row in rows)

    def padded(source: Tensor) -> Tensor:
        parts = []
        for row in rows:
            part = source[int(corpus.starts[row]) : int(corpus.starts[row + 1])]
            missing = (0,) * (2 * part.dim() - 1) + (width - part.shape[0],)
            parts.append(functional.pad(part, missing))
        return torch.stack(parts).to(device)

    lengths = torch.tensor([int(corpus.starts[row + 1] - corpus.starts[row]) for row in rows])
    place = torch.arange(width)
    counted = (place < lengths[:, None]) & (place >= prefix)
    return Batch(
        padded(corpus.tokens).long(),
        padded(states.hidden).float(),
        padded(states.normalisers),
        padded(states.choices).long(),
        counted.to(device),
    )
