"""The acceptance rule as tensors: the verdict stands on the device until one transfer reads it.

The rule of `engine.acceptance`, number for number, without a branch on what a tensor holds. Pure:
no model, no cache, no generator; the uniforms are passed in. Knows no text and no record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from engine.acceptance import Verdict, check_masses
from engine.packet import Packet
from engine.sampling import drawn_ids, one_hot

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class QueuedUniforms:
    """What decides a round, on the device: numbers in [0, 1), float64."""

    tests: Tensor  # [k], one for each test
    corrections: Tensor  # [k]: number i draws the token in place of drafted token i
    lasts: Tensor  # [k+1]: number i draws the closing token where i were drafted and all are kept


@dataclass(frozen=True)
class QueuedVerdict:
    """A verdict that nobody has read yet."""

    parts: dict[str, Tensor]  # to be read together
    residual: Tensor | None  # [V]; means something only where a token was rejected


@dataclass(frozen=True)
class ReadVerdict:
    """A verdict with the proposal that it turned out to be of."""

    tokens: tuple[int, ...]  # as many as the drafter was sure of
    verdict: Verdict
    target_ids: tuple[int, ...] | None  # the target's argmax ids of their rows; only if greedy


def residual_rows(p_target: Tensor, q_draft: Tensor) -> Tensor:
    """Return `engine.acceptance.residual_law` of each row; [n, V] from [n, V] and [n, V]."""
    left = (p_target - q_draft).clamp_(min=0.0)
    mass = left.sum(dim=-1, keepdim=True)
    return torch.where(mass > 0.0, left / mass, p_target)


def accept_queued(
    p_target: Tensor,
    q_draft: Tensor | None,
    ids: Tensor,
    sure: Tensor | None,
    uniforms: QueuedUniforms,
) -> QueuedVerdict:
    """Apply Leviathan et al. 2023, Alg. 1 to one proposal.

    Parameters
    ----------
    p_target
        [k+1, V], float32 or wider: the target's law after each prefix of the draft.
    q_draft
        [k, V]: the law that each token was drawn from; None for one-hot laws at `ids`.
    ids
        [k], the drafted ids.
    sure
        [k] of bool: the proposal ends before the first False. What was drawn from there on was
        never proposed: it is not tested, whatever it is, so that the law is that of a draft which
        stopped there. None: the proposal is the whole draft.
    uniforms
        Of the round.
    """
    k = ids.shape[0]
    index = ids[:, None]
    p_of = p_target[:k].gather(1, index)[:, 0].double()
    q_of = _draft_masses(q_draft, ids)
    # keep x_i while u_i < p_i(x_i) / q_i(x_i); written without the division, which could overflow
    accepted, count = _lengths(uniforms.tests * q_of < p_of, sure)
    law = p_target.index_select(0, accepted)
    number = uniforms.lasts.index_select(0, accepted)
    residual = None
    if k:
        rejected = accepted < count
        place = accepted.clamp(max=k - 1)
        if q_draft is None:
            taken = one_hot(ids.index_select(0, place), law.shape[-1], law.dtype)
        else:
            taken = q_draft.index_select(0, place)
        residual = residual_rows(law, taken)
        law = torch.where(rejected[:, None], residual, law)
        number = torch.where(rejected, uniforms.corrections.index_select(0, place), number)
    closing = drawn_ids(law, number)
    probability = law.gather(1, closing[:, None])[:, 0].double() / law.sum(dim=-1).double()
    parts = {
        "accepted": accepted,
        "count": count,
        "closing": closing,
        "probability": probability,
        "ids": ids,
        "p_target": p_of,
        "q_draft": q_of,
    }
    return QueuedVerdict(parts, None if residual is None else residual[0])


def accept_greedy_queued(
    target_ids: Tensor, q_draft: Tensor | None, ids: Tensor, sure: Tensor | None
) -> QueuedVerdict:
    """Apply the rule to one-hot laws of the target: keep tokens while each is its argmax.

    `target_ids` are [k+1], the lowest id on a tie; the rest is as for `accept_queued`.
    """
    same = ids == target_ids[: ids.shape[0]]
    accepted, count = _lengths(same, sure)
    parts = {
        "accepted": accepted,
        "count": count,
        "closing": target_ids.index_select(0, accepted),
        "probability": torch.ones_like(accepted, dtype=torch.float64),
        "ids": ids,
        "p_target": same,
        "q_draft": _draft_masses(q_draft, ids),
        "target_ids": target_ids,
    }
    return QueuedVerdict(parts, None)


def read_verdict(numbers: dict[str, list[float]], residual: Tensor | None) -> ReadVerdict:
    """Return what a packet with a verdict's parts says.

    Raises
    ------
    ValueError
        If a proposed token has no mass in the law it is said to come from.
    """
    accepted, count = int(numbers["accepted"][0]), int(numbers["count"][0])
    tokens = tuple(map(int, numbers["ids"][:count]))
    q_of = check_masses(tokens, numbers["q_draft"][:count])
    verdict = Verdict(
        accepted,
        int(numbers["closing"][0]),
        tuple(numbers["p_target"][:count]),
        q_of,
        numbers["probability"][0],
        residual if accepted < count else None,
    )
    best = numbers.get("target_ids")
    if best is None:
        return ReadVerdict(tokens, verdict, None)
    return ReadVerdict(tokens, verdict, tuple(map(int, best[: count + 1])))


def packet_of(verdict: QueuedVerdict, **more: Tensor) -> Packet:
    """Return a verdict's parts, and what else is to be read with them, as one tensor."""
    return Packet.of({**verdict.parts, **more})


def _draft_masses(q_draft: Tensor | None, ids: Tensor) -> Tensor:
    """Return q_draft of each drafted token; [k]."""
    if q_draft is None:
        return torch.ones_like(ids, dtype=torch.float64)
    return q_draft.gather(1, ids[:, None])[:, 0].double()


def _lengths(kept: Tensor, sure: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return how many tokens are accepted and how many were proposed; [1] and [1] from [k]."""
    if sure is None:
        count = torch.full((1,), kept.shape[0], device=kept.device)
    else:
        proposed = sure.long().cumprod(0)
        count = proposed.sum(0, keepdim=True)
        kept = kept & proposed.bool()
    return kept.long().cumprod(0).sum(0, keepdim=True), count
