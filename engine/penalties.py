"""Logits moved by what the text holds, and by the user: bias, repetition, frequency, presence.

Knows ids that were read and emitted, and logits; no temperature, no model, no rule. A row of a
draft is moved by the text *and* by the drafted tokens before it, so that each position gets what it
would get in plain decoding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from torch import Tensor

    from engine.sampling import Sampling


class Seen:
    """Which ids a text holds: whether the prompt does, and how often the output does."""

    def __init__(
        self, vocabulary: int, device: torch.device | str, prompt: Iterable[int] = ()
    ) -> None:
        self.vocabulary = vocabulary
        self.prompt = torch.zeros(vocabulary, dtype=torch.bool, device=device)  # [V]
        self.output = torch.zeros(vocabulary, device=device)  # [V], times emitted
        known = [token for token in prompt if token < vocabulary]
        if known:
            self.prompt[known] = True

    def extend(self, ids: Iterable[int]) -> None:
        """Count emitted ids."""
        self.output += _counts(ids, self.vocabulary).to(self.output.device)


def _counts(ids: Iterable[int], vocabulary: int) -> Tensor:
    known = [token for token in ids if token < vocabulary]
    return torch.bincount(torch.tensor(known, dtype=torch.long), minlength=vocabulary).float()


def adjusted(
    logits: Tensor,
    sampling: Sampling,
    seen: Seen | None,
    drafted: Sequence[int] = (),
    ids: Tensor | None = None,
) -> Tensor:
    """Return logits after bias and penalties; the same tensor where there are none.

    Parameters
    ----------
    logits
        [n, V], or [n, R] with `ids`. The last row follows all of `drafted`, the one before it all
        but the last of them, and so on.
    sampling
        Its bias is added first, then the penalties: repetition over prompt and output (Keskar et
        al. 2019, section 4.1, once per id: a positive logit is divided, a negative one multiplied),
        frequency and presence over the output alone (OpenAI's API: each time, and once).
    seen
        The text before the draft; needed where `sampling.remembers`.
    drafted
        Ids that stand between that text and the last row.
    ids
        [R], which ids the columns stand for; None: all V in order.

    Returns
    -------
    Tensor
        In float32 (float64 for float64 logits) where anything was changed.
    """
    if not sampling.adjusts:
        return logits
    wide = logits if logits.dtype == torch.float64 else logits.float()
    if sampling.logit_bias:
        wide = wide + _bias(sampling, wide, ids)
    if not sampling.remembers:
        return wide
    assert seen is not None, "penalties need to know what the text holds"
    counts = _counts_by_row(seen, drafted, wide.shape[0])
    prompt = seen.prompt
    if ids is not None:
        counts, prompt = counts[:, ids], prompt[ids]
    emitted = counts > 0
    if sampling.repetition_penalty != 1.0:
        penalty = sampling.repetition_penalty
        moved = torch.where(wide > 0, wide / penalty, wide * penalty)
        wide = torch.where(emitted | prompt, moved, wide)
    wide = wide - sampling.frequency_penalty * counts
    return wide - sampling.presence_penalty * emitted


def _bias(sampling: Sampling, like: Tensor, ids: Tensor | None) -> Tensor:
    """Return what is added to each column; [V] or [R]."""
    if ids is None:
        bias = like.new_zeros(like.shape[-1])
    else:
        largest = max(token for token, _ in sampling.logit_bias)
        bias = like.new_zeros(max(largest, int(ids.max())) + 1)
    for token, added in sampling.logit_bias:
        bias[token] += added
    return bias if ids is None else bias[ids]


def _counts_by_row(seen: Seen, drafted: Sequence[int], rows: int) -> Tensor:
    """Return how often the output holds each id before each row; [rows, V]."""
    counts = seen.output.repeat(rows, 1)
    before = len(drafted) - rows + 1  # drafted tokens before the first row
    for index, token in enumerate(drafted):
        counts[max(0, index - before + 1) :, token] += 1.0
    return counts
