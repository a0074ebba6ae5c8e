"""What a target thinks along a corpus: its states, and what its laws need beside them.

Computed once and kept in files that are mapped into memory, since every epoch reads them again.
Knows a target in batches and a corpus; no drafter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch.nn import functional

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from torch import Tensor

    from engine.training.batched import BatchedTransformer
    from engine.training.corpus import Corpus

TOGETHER = 4096  # tokens of a batch, padding included
_LAW_ROWS = 512  # rows of the whole vocabulary at a time
_JITTER = 24.0  # tokens by which rows of a batch may differ for the sake of variety


@dataclass(frozen=True)
class States:
    """One row for each token of a corpus."""

    hidden: Tensor  # [N, (1 + taps) D] bfloat16: the last layer's state, then the taps'
    normalisers: Tensor  # [N] float32: log of the sum of exp of the logits
    choices: Tensor  # [N] int32: the target's argmax


def state_files(folder: Path, tokens: int, width: int) -> States:
    """Map the files of a corpus's states, made if they are not there."""
    folder.mkdir(parents=True, exist_ok=True)

    def mapped(name: str, count: int, dtype: torch.dtype) -> Tensor:
        path = folder / name
        return torch.from_file(str(path), shared=True, size=count, dtype=dtype)

    return States(
        mapped("hidden", tokens * width, torch.bfloat16).view(tokens, width),
        mapped("normalisers", tokens, torch.float32),
        mapped("choices", tokens, torch.int32),
    )


def compute_states(
    model: BatchedTransformer,
    corpus: Corpus,
    rows: Sequence[int],
    taps: Sequence[int],
    states: States,
) -> Iterator[list[int]]:
    """Fill in the states of some rows; yield those that are done, batch after batch."""
    for batch in batches(corpus, rows, TOGETHER):
        width = max(len(corpus.row(row)) for row in batch)
        padded = torch.stack(
            [functional.pad(corpus.row(row), (0, width - len(corpus.row(row)))) for row in batch]
        )
        found = model.read(padded.long().to(model.plan.device), taps=taps)
        for place, row in enumerate(batch):
            begin, end = int(corpus.starts[row]), int(corpus.starts[row + 1])
            length = end - begin
            parts = [found.hidden[place, :length], *(tap[place, :length] for tap in found.taps)]
            states.hidden[begin:end] = torch.cat(parts, dim=-1).to("cpu", torch.bfloat16)
            for first in range(0, length, _LAW_ROWS):
                logits = _logits(model, parts[0][first : first + _LAW_ROWS])
                span = slice(begin + first, begin + min(length, first + _LAW_ROWS))
                states.normalisers[span] = logits.logsumexp(dim=-1).cpu()
                states.choices[span] = logits.argmax(dim=-1).to("cpu", torch.int32)
        yield batch


@torch.inference_mode()
def _logits(model: BatchedTransformer, hidden: Tensor) -> Tensor:
    return model.transformer.logits(hidden)


def batches(
    corpus: Corpus, rows: Sequence[int], tokens: int, shuffle: random.Random | None = None
) -> Iterator[list[int]]:
    """Group rows of like length so that a batch has at most so many places, padding included.

    With `shuffle` rows of nearly the same length meet others each time.
    """
    lengths = corpus.lengths()
    jitter = {row: shuffle.uniform(0, _JITTER) if shuffle else 0.0 for row in rows}
    batch: list[int] = []
    longest = 0
    for row in sorted(rows, key=lambda row: lengths[row] + jitter[row]):
        longest = max(longest, lengths[row])
        if batch and longest * (len(batch) + 1) > tokens:
            yield batch
            batch, longest = [], lengths[row]
        batch.append(row)
    if batch:
        yield batch
