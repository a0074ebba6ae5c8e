"""Logits moved by what the text holds, and by the user: bias, repetition, frequency, presence.

Knows ids that were read and emitted, and logits; no temperature, no model, no rule. A row of a
draft is moved by the text *and* by the drafted tokens before it, so that each position gets what it
would get in plain decoding.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import torch

from engine.models.settling import uploaded

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
        self.prompt.index_fill_(0, self._known(prompt), True)

    def extend(self, ids: Iterable[int]) -> None:
        """Count emitted ids."""
        index = self._known(ids)
        self.output.index_add_(0, index, torch.ones_like(index, dtype=self.output.dtype))

    def _known(self, ids: Iterable[int]) -> Tensor:
        known = [token for token in ids if token < self.vocabulary]
        return uploaded(known, torch.long, self.output.device)


def adjusted(
    logits: Tensor,
    sampling: Sampling,
    seen: Seen | None,
    drafted: Sequence[int] | Tensor = (),
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
        Ids that stand between that text and the last row; on the device, [m], nothing is read back.
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
    known = _biases(sampling.logit_bias, like.dtype, like.device)
    if ids is not None:
        return known[ids.clamp(max=known.shape[0] - 1)]
    missing = like.shape[-1] - known.shape[0]
    return torch.nn.functional.pad(known, (0, missing))  # cut, where it is longer than V


@lru_cache(maxsize=4)
def _biases(
    pairs: tuple[tuple[int, float], ...], dtype: torch.dtype, device: torch.device
) -> Tensor:
    """Return what is added to each id, up to one past the largest named, which gets nothing."""
    bias = torch.zeros(max(token for token, _ in pairs) + 2, dtype=dtype)
    for token, added in pairs:
        bias[token] += added
    return uploaded(bias.tolist(), dtype, device)


def _counts_by_row(seen: Seen, drafted: Sequence[int] | Tensor, rows: int) -> Tensor:
    """Return how often the output holds each id before each row; [rows, V]."""
    counts = seen.output.repeat(rows, 1)
    before = len(drafted) - rows + 1  # drafted tokens before the first row
    if isinstance(drafted, torch.Tensor):
        places = torch.arange(len(drafted), device=drafted.device)
        row = torch.arange(before, before + rows, device=drafted.device)
        added = (places < row[:, None]).to(counts.dtype)  # [rows, m]
        return counts.scatter_add_(1, drafted.expand(rows, -1), added)
    for index, token in enumerate(drafted):
        counts[max(0, index - before + 1) :, token] += 1.0
    return counts
