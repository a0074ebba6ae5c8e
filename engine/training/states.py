"""What a target thinks along a corpus: its states, and what its laws need beside them.

Computed once and kept in files that are mapped into memory, since every epoch reads them again.
Knows a target in batches and a corpus; no drafter.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from engine.errors import DraftscopeError

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from torch import Tensor

    from engine.training.batched import BatchedTransformer
    from engine.training.corpus import Corpus

DONE = "rows"  # a file that names the rows whose states are there
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
    """Map the files of a corpus's states, made if they are not there.

    Raises
    ------
    DraftscopeError
        If the disk has no room for them: to write into a mapped file that has none would end the
        program.
    """
    kinds = {
        "hidden": (tokens * width, torch.bfloat16),
        "normalisers": (tokens, torch.float32),
        "choices": (tokens, torch.int32),
    }
    sizes = {name: count * dtype.itemsize for name, (count, dtype) in kinds.items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _make_room(folder, sizes, tokens)
    except OSError as error:
        raise DraftscopeError(
            f"The target's states cannot be kept in {folder.parent.name}: {error.strerror}. Choose "
            "another place."
        ) from error
    hidden, normalisers, choices = (
        torch.from_file(str(folder / name), shared=True, size=count, dtype=dtype)
        for name, (count, dtype) in kinds.items()
    )
    return States(hidden.view(tokens, width), normalisers, choices)


def _make_room(folder: Path, sizes: dict[str, int], tokens: int) -> None:
    """Take the room of files that are not whole yet; nothing in such files counts as done."""
    paths = {name: folder / name for name in sizes}
    if all(path.is_file() and path.stat().st_size == sizes[name] for name, path in paths.items()):
        return
    (folder / DONE).unlink(missing_ok=True)
    needed, free = sum(sizes.values()), shutil.disk_usage(folder).free
    if needed > free:
        raise DraftscopeError(
            f"The target's states along {tokens} tokens need {needed / 1e9:.1f} GB on disk, and "
            f"{free / 1e9:.1f} GB are free; make room, train on less text, or give --out another "
            "place."
        )
    for name, path in paths.items():
        with path.open("wb") as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, sizes[name])
            else:
                file.truncate(sizes[name])


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
