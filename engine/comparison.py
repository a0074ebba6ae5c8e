"""Greedy speculative text against the plain target's: identical, a tie, or a fault.

Knows two lists of ids and a model to score them with; no rule and no drafter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from engine.prefill import feed
from engine.sequence import Sequence
from engine.trace.events import Comparison, Difference

if TYPE_CHECKING:
    from collections.abc import Sequence as Ids

    from torch import Tensor

    from engine.cache import PagePool
    from engine.models.transformer import Transformer

_WIDTHS = (1, 2, 3, 5, 9)  # of the passes whose logits are compared at the difference


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
) -> Comparison:
    """Compare two greedy texts of one prompt.

    At a first difference both tokens are scored over the common text by passes of several widths.
    If their logits lie no further apart than those passes themselves round apart, it is a *tie*:
    the kernels decide it. Otherwise it is a *fault*.
    """
    index = first_difference(speculative, plain)
    if index is None:
        return Comparison(run=run, identical=True)
    ids = [text[index] if index < len(text) else None for text in (speculative, plain)]
    if ids[0] is None or ids[1] is None:
        difference = Difference(position=index, speculative_id=ids[0], plain_id=ids[1])
        return Comparison(run=run, identical=False, first_difference=difference)
    rows = _rows(model, pool, [*prompt, *speculative[:index]])
    pair = rows[:, [ids[0], ids[1]]]
    gap = float((pair[:, 0] - pair[:, 1]).abs().min())
    rounding = float((pair - pair[0]).abs().max())
    difference = Difference(
        position=index,
        speculative_id=ids[0],
        plain_id=ids[1],
        speculative_logit=float(pair[0, 0]),
        plain_logit=float(pair[0, 1]),
        kind="tie" if gap <= 2.0 * rounding else "fault",
    )
    return Comparison(run=run, identical=False, first_difference=difference)


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
