"""The text that drafters are trained on: a safetensors file of token ids. Knows no model.

As this program writes it, rows of any length stand one after another; a table of rows of one length
is read too. Which rows are kept for measuring is in the file, so that no later training sees them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch
from safetensors.torch import save
from torch import Tensor

from engine.errors import DraftscopeError
from engine.models.formats.safetensors_header import read_header
from engine.models.formats.safetensors_reader import read_stored
from engine.whole import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from engine.training.conversations import Row

_TYPES = {"F32": 4, "I64": 8, "I32": 4}
MEASURED = 24  # one row in so many is kept for measuring


@dataclass(frozen=True)
class Corpus:
    """Rows of ids."""

    tokens: Tensor  # [N] int32, row after row
    starts: Tensor  # [rows + 1] int64, where each begins; the last is N
    kinds: tuple[str, ...]  # a word for each row
    temperatures: tuple[float, ...]  # at which the target drew its part of each row
    validation: frozenset[int]  # rows that are never trained on

    @property
    def rows(self) -> int:
        """How many texts there are."""
        return len(self.kinds)

    def row(self, index: int) -> Tensor:
        """Return the ids of a text; [n]."""
        return self.tokens[int(self.starts[index]) : int(self.starts[index + 1])]

    @cached_property
    def trained(self) -> tuple[int, ...]:
        """Rows that may be trained on: none that is kept, nor one with the very text of such a one.

        A target that is asked twice what has one answer gives it twice.
        """
        kept = {self._text(row) for row in self.validation}
        return tuple(
            row
            for row in range(self.rows)
            if row not in self.validation and self._text(row) not in kept
        )

    def places(self, rows: Iterable[int]) -> Tensor:
        """Return where the ids of some rows stand; [n] int64."""
        spans = [torch.arange(int(self.starts[row]), int(self.starts[row + 1])) for row in rows]
        return torch.cat(spans) if spans else torch.empty(0, dtype=torch.int64)

    def _text(self, row: int) -> bytes:
        return self.row(row).numpy().tobytes()

    def lengths(self) -> list[int]:
        """Return how many ids each text has."""
        return list((self.starts[1:] - self.starts[:-1]).tolist())

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Corpus:
        """Put texts one after another; one in 24 is kept for measuring."""
        lengths = torch.tensor([0, *(len(row.tokens) for row in rows)])
        return cls(
            torch.tensor([token for row in rows for token in row.tokens], dtype=torch.int32),
            lengths.cumsum(0),
            tuple(row.kind for row in rows),
            tuple(row.temperature for row in rows),
            kept_rows(len(rows)),
        )


def kept_rows(rows: int) -> frozenset[int]:
    """Return which of so many rows are kept for measuring: one at least.

    Not the first, where there are others: of texts written at once the shortest end first.
    """
    return frozenset(range(rows // 2 % MEASURED, rows, MEASURED))


def joined(parts: Iterable[Corpus]) -> Corpus:
    """Put corpora one after another."""
    tokens, starts = list[Tensor](), [torch.zeros(1, dtype=torch.int64)]
    kinds, temperatures = list[str](), list[float]()
    validation: set[int] = set()
    begun = 0
    for part in parts:
        validation |= {len(kinds) + row for row in part.validation}
        tokens.append(part.tokens)
        starts.append(part.starts[1:] + begun)
        begun += int(part.starts[-1])
        kinds.extend(part.kinds)
        temperatures.extend(part.temperatures)
    return Corpus(
        torch.cat(tokens),
        torch.cat(starts),
        tuple(kinds),
        tuple(temperatures),
        frozenset(validation),
    )


def write_corpus(corpus: Corpus, path: Path) -> None:
    """Write a corpus; a file of that name is replaced at once or not at all.

    Raises
    ------
    DraftscopeError
        If the file cannot be written; nothing is left of it then.
    """
    kinds = sorted(set(corpus.kinds))
    places = {kind: place for place, kind in enumerate(kinds)}
    tensors = {
        "tokens": corpus.tokens,
        "starts": corpus.starts,
        "temperature": torch.tensor(corpus.temperatures),
        "kind": torch.tensor([places[kind] for kind in corpus.kinds], dtype=torch.int32),
        "validation": torch.tensor(sorted(corpus.validation), dtype=torch.int64),
    }
    written = save(tensors, metadata={"kinds": json.dumps(kinds)})
    write_whole(path, written, "make room, or choose another place")


def read_corpus(path: Path, vocabulary: int) -> Corpus:
    """Read a corpus for a target of so many ids.

    Raises
    ------
    DraftscopeError
        If the file is none, is damaged, or holds ids that the target does not have.
    """
    header = read_header(path, _TYPES)
    stored = {name: read_stored(path, entry) for name, entry in header.tensors.items()}
    tokens = stored.get("tokens")
    if tokens is None or tokens.dtype != torch.int32 or not tokens.numel() or tokens.dim() > 2:
        raise DraftscopeError(
            f"{path.name} holds no text for training: it lacks the ids. Choose another file."
        )
    if int(tokens.min()) < 0 or int(tokens.max()) >= vocabulary:
        raise DraftscopeError(
            f"{path.name} holds ids that this target does not have; choose text that was made by "
            "this target or one with the same vocabulary."
        )
    if tokens.dim() == 2:
        rows, length = tokens.shape
        stored["starts"] = torch.arange(rows + 1) * length
    starts = _starts(stored.get("starts"), tokens.numel(), path)
    rows = len(starts) - 1
    kinds = _list(stored.get("kind", torch.zeros(rows, dtype=torch.int32)), torch.int32, path)
    heats = _list(stored.get("temperature", torch.ones(rows)), torch.float32, path)
    kept = _list(stored.get("validation", torch.arange(0, rows, MEASURED)), torch.int64, path)
    if not len(kinds) == len(heats) == rows or any(not 0 <= row < rows for row in kept):
        raise _damaged(path, "its lists do not fit")
    names = _kinds(header.metadata)
    return Corpus(
        tokens.flatten(),
        starts,
        tuple(names[kind] if 0 <= kind < len(names) else "text" for kind in kinds),
        tuple(heats),
        frozenset(kept),
    )


def _starts(starts: Tensor | None, tokens: int, path: Path) -> Tensor:
    """Return where rows begin; refuse rows that do not fill the file or hold nothing."""
    if starts is None or starts.dtype != torch.int64 or starts.dim() != 1 or len(starts) < 2:
        raise _damaged(path, "it does not say where its rows begin")
    filled = int(starts[0]) == 0 and int(starts[-1]) == tokens
    if not filled or bool((starts[1:] <= starts[:-1]).any()):
        raise _damaged(path, "its rows do not fill it")
    return starts


def _list(stored: Tensor, kind: torch.dtype, path: Path) -> list[Any]:
    """Return the numbers of a list with one for each row, or for some."""
    if stored.dtype != kind or stored.dim() != 1:
        raise _damaged(path, "its lists do not fit")
    return list(stored.tolist())


def _damaged(path: Path, what: str) -> DraftscopeError:
    return DraftscopeError(f"{path.name} is damaged: {what}. Make it again.")


def _kinds(metadata: Mapping[str, str]) -> list[str]:
    """Return the words for kinds; none where the file says nothing of them."""
    try:
        found = json.loads(metadata.get("kinds", "[]"))
    except (ValueError, RecursionError):
        return []
    return [str(kind) for kind in found] if isinstance(found, list) else []
