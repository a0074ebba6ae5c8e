"""The text of a training: what the target writes itself, corpora of ids, and the user's files.

Knows a target in batches and its tokenizer; no drafter. What is written is kept in a file from
time to time, so that a training that ended can go on.
"""

from __future__ import annotations

import os
import random
import time
from contextlib import closing
from typing import TYPE_CHECKING

import torch

from engine.errors import DraftscopeError, short_path
from engine.training.answers import SEQUENCES
from engine.training.conversations import Conversation, Row, converse
from engine.training.corpus import Corpus, joined, kept_rows, read_corpus, write_corpus
from engine.training.events import Preparing
from engine.training.prompts_mixed import mixed_openings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from engine.training.opened import OpenedTarget

IDS = ".safetensors"
TEMPERATURES = (0.0, 0.0, 0.7, 1.0, 1.0)  # one of them for each conversation
MADE_UP = 0.45  # share of conversations whose user the target makes up
LONGEST = 384  # tokens of a row
LIMIT = 240  # tokens of an answer
KEPT_EVERY = 20_000  # tokens


def own_text(
    target: OpenedTarget,
    tokens: int,
    files: tuple[Path, ...],
    seed: int,
    kept: Path,
    stopped: Callable[[], bool],
) -> Iterator[Preparing]:
    """Let the target write, and keep it in a corpus file; say how far it is.

    Parameters
    ----------
    tokens
        How many are wanted; what the file holds already counts.
    files
        The user's texts: passages of them stand in some of the prompts.
    kept
        The corpus file.
    stopped
        Polled between conversations; what was written by then is kept.
    """
    parts = [read_corpus(kept, target.tokenizer.vocabulary)] if kept.is_file() else []
    before = done = sum(part.tokens.numel() for part in parts)
    if done >= tokens:
        return
    conversations = _conversations(target, files, random.Random(seed + done))
    generator = torch.Generator().manual_seed(seed + done)
    rows: list[Row] = []
    begin, said = time.monotonic(), 0.0
    # a handful of sequences is enough for a small wish, and its tail is not waited for so long
    sequences = max(1, min(SEQUENCES, tokens // LIMIT))
    texts = converse(
        target.model,
        target.tokenizer,
        target.turns,
        conversations,
        target.ends,
        generator,
        longest=min(LONGEST, target.model.config.context_length),
        sequences=sequences,
    )
    with closing(texts):
        for row in texts:
            rows.append(row)
            done += len(row.tokens)
            over = done >= tokens or stopped()
            if over or done - sum(part.tokens.numel() for part in parts) >= KEPT_EVERY:
                parts.append(Corpus.of(rows))
                rows = []
                write_corpus(joined(parts), kept)
            now = time.monotonic()
            if over or now - said >= 1.0:
                said = now
                rate = (done - before) / max(1e-3, now - begin)
                yield Preparing("The target writes text", min(done, tokens), tokens, rate)
            if over:
                return


def _conversations(
    target: OpenedTarget, files: tuple[Path, ...], rng: random.Random
) -> Iterator[Conversation]:
    """Yield beginnings without end, of all kinds that this target can take."""
    for opening in mixed_openings(rng, files):
        heat = rng.choice(TEMPERATURES)
        if target.turns is not None and rng.random() < MADE_UP:
            yield Conversation("made-up", heat, limit=LIMIT)
        raw = opening.raw or target.turns is None
        yield Conversation(opening.kind, heat, opening.text, raw=raw, limit=LIMIT)


def given_text(target: OpenedTarget, files: tuple[Path, ...]) -> list[Corpus]:
    """Read the user's files: corpora of ids as they are, text cut into rows.

    Raises
    ------
    DraftscopeError
        If a file cannot be read or holds no text.
    """
    vocabulary = target.tokenizer.vocabulary
    return [
        read_corpus(path, vocabulary) if path.suffix == IDS else _text_rows(target, path)
        for path in files
    ]


def _text_rows(target: OpenedTarget, path: Path) -> Corpus:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no UTF-8 text"
        raise DraftscopeError(
            f"{short_path(os.fspath(path))} cannot be read: {reason}. Check the path, or leave it "
            "out."
        ) from error
    ids = torch.tensor(target.tokenizer.encode(text, add_special=True), dtype=torch.int32)
    if len(ids) < 2:
        raise DraftscopeError(f"{path.name} holds no text to train on; leave it out.")
    # never a row of one id: there is no next one to it
    starts = torch.tensor([*range(0, len(ids) - 1, LONGEST), len(ids)])
    rows = len(starts) - 1
    return Corpus(ids, starts, ("file",) * rows, (1.0,) * rows, kept_rows(rows))
