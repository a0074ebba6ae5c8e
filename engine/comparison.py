"""Greedy speculative text against the plain target's: identical, a tie, or a fault.

Knows two lists of ids and a model to score them with; no rule and no drafter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from engine.penalties import Seen, adjusted
from engine.prefill import feed
from engine.sampling import Sampling
from engine.sequence import Sequence
from engine.trace.events import Comparison, Difference

if TYPE_CHECKING:
    from collections.abc import Sequence as Ids

    from torch import Tensor

    from engine.cache import PagePool
    from engine.models.transformer import Transformer

_WIDTHS = (1, 2, 3, 5, 9)  # of the passes whose logits are compared at the difference
_PLAIN = Sampling()


@dataclass(frozen=True)
class Gap:
    """A first difference, and how far apart passes of several widths round there."""

    difference: Difference
    rounding: float | None = None  # of a logit; None where a text had ended


def first_difference(speculative: Ids[int], plain: Ids[int]) -> int | None:
    """Return the first index at which the texts differ or one has ended, or None."""
    for index, (one, other) in enumerate(zip(speculative, plain, strict=False)):
        if one != other:
            return index
    shorter = min(len(speculative), len(plain))
    return None if len(speculative) == len(plain) else shorter


def compare(
    model: Transformer,
    pool: PagePool,
    prompt: Ids[int],
    speculative: Ids[int],
    plain: Ids[int],
    run: str,
    sampling: Sampling = _PLAIN,
) -> Comparison:
    """Compare two greedy texts of one prompt, as `first_gap` does."""
    gap = first_gap(model, pool, prompt, speculative, plain, sampling)
    if gap is None:
        return Comparison(run=run, identical=True)
    return Comparison(run=run, identical=False, first_difference=gap.difference)


def first_gap(
    model: Transformer,
    pool: PagePool,
    prompt: Ids[int],
    speculative: Ids[int],
    plain: Ids[int],
    sampling: Sampling = _PLAIN,
) -> Gap | None:
    """Find the first difference of two greedy texts of one prompt, and say what it is.

    Both tokens are scored over the common text by passes of several widths. If their logits lie no
    further apart than those passes themselves round apart, it is a *tie*: the kernels decide it.
    Otherwise it is a *fault*. So is a text that ends earlier, and a choice between logits that are
    equal in every pass: there the lowest id wins, whatever the width.

    Parameters
    ----------
    sampling
        With the bias and the penalties of both texts.

    Returns
    -------
    Gap or None
        None if the texts are one.
    """
    index = first_difference(speculative, plain)
    if index is None:
        return None
    ids = [text[index] if index < len(text) else None for text in (speculative, plain)]
    if ids[0] is None or ids[1] is None:
        return Gap(Difference(position=index, speculative_id=ids[0], plain_id=ids[1]))
    common = list(speculative[:index])
    rows = _rows(model, pool, [*prompt, *common])
    if sampling.adjusts:
        seen = Seen(model.vocabulary, rows.device, prompt)
        seen.extend(common)
        rows = torch.cat([adjusted(row[None], sampling, seen) for row in rows])
    pair = rows[:, [ids[0], ids[1]]].double()
    apart = (pair[:, 0] - pair[:, 1]).abs()
    rounding = float((pair - pair[0]).abs().max())
    tie = bool(apart.max() > 0.0) and float(apart.min()) <= 2.0 * rounding
    difference = Difference(
        position=index,
        speculative_id=ids[0],
        plain_id=ids[1],
        speculative_logit=float(pair[0, 0]),
        plain_logit=float(pair[0, 1]),
        kind="tie" if tie else "fault",
    )
    return Gap(difference, rounding)


@torch.inference_mode()
def _rows(model: Transformer, pool: PagePool, tokens: list[int]) -> Tensor:
    """Return the logits after `tokens` from passes of several widths; [widths, V]."""
    rows = []
    for width in _WIDTHS:
        if width > len(tokens):
            break
        sequence = Sequence(model, pool, tokens)
        try:
            if len(tokens) > width:
                feed(model, tokens[:-width], sequence.cache)
            hidden = model.forward(tokens[-width:], sequence.cache)
            rows.append(model.logits(hidden)[-1])
        finally:
            sequence.close()
    return torch.stack(rows)
