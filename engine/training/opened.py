"""A target opened for training: in batches, with its text side. Knows readers; no drafter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.errors import DraftscopeError
from engine.loading import choose_device
from engine.models.fingerprint import Fingerprint, fingerprint_of
from engine.models.formats.weights import open_checkpoint
from engine.models.registry import resolve
from engine.models.text.chat import open_chat_template
from engine.models.text.tokenizer import Tokenizer, open_tokenizer
from engine.training.batched import BatchedTransformer
from engine.training.conversations import Turns

if TYPE_CHECKING:
    import torch

    from engine.models.text.chat import ChatTemplate


@dataclass(frozen=True)
class OpenedTarget:
    """Everything that a training asks of a target."""

    name: str
    model: BatchedTransformer
    tokenizer: Tokenizer
    turns: Turns | None  # None: a base model
    ends: frozenset[int]
    fingerprint: Fingerprint
    device: torch.device


def open_target(name: str, device: str | None = None) -> OpenedTarget:
    """Open a target by name or path.

    Raises
    ------
    DraftscopeError
        For anything wrong with the file or the device.
    """
    path, where = resolve(name), choose_device(device)
    checkpoint = open_checkpoint(path)
    tokenizer = open_tokenizer(path)
    model = BatchedTransformer.of(checkpoint, tokenizer.vocabulary, where)
    template = open_chat_template(path)
    return OpenedTarget(
        checkpoint.name,
        model,
        tokenizer,
        None if template is None else _turns(template, tokenizer),
        frozenset(checkpoint.config.end_tokens) | frozenset(tokenizer.end_tokens),
        fingerprint_of(checkpoint, tokenizer),
        where,
    )


def _turns(template: ChatTemplate, tokenizer: Tokenizer) -> Turns | None:
    """Return the template's turns; None where it cannot be used or takes words apart."""
    try:
        return Turns.of(template, tokenizer)
    except (DraftscopeError, ValueError):  # then the target goes on with raw texts
        return None
