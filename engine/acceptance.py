"""The acceptance rule. Pure: no model, no cache, no generator; the uniforms are passed in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from engine.sampling import draw

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from engine.laws import Lawmaker


@dataclass(frozen=True)
class Verdict:
    """What the rule decided for one proposal of k tokens.

    The first `accepted` tokens are kept. If `accepted < k`, token `accepted` is rejected and
    `closing` is the correction; otherwise `closing` is the bonus (with k = 0: the plain token).
    """

    accepted: int
    closing: int
    p_target: tuple[float, ...]  # of each drafted token
    q_draft: tuple[float, ...]  # of each drafted token
    closing_probability: float  # in the law it was drawn from
    residual: Tensor | None  # [V], normalised; None if nothing was rejected

    @property
    def acceptance_probabilities(self) -> tuple[float, ...]:
        """min(1, p_target / q_draft) of each drafted token."""
        pairs = zip(self.p_target, self.q_draft, strict=True)
        return tuple(min(1.0, p_target / q_draft) for p_target, q_draft in pairs)


def residual_law(p_target: Tensor, q_draft: Tensor) -> Tensor:
    """Return max(0, p_target - q_draft), renormalised; [V] from [V] and [V].

    Leviathan et al. 2023, section 2.3. Where the laws are equal nothing is left but rounding, and
    the rejection itself was rounding: the law falls back to `p_target` and is never NaN.
    """
    left = (p_target - q_draft).clamp_(min=0.0)
    mass = left.sum()
    if not float(mass) > 0.0:
        return p_target
    return left / mass


def accept(
    p_target: Tensor,
    q_draft: Tensor | None,
    tokens: Sequence[int],
    test_uniforms: Sequence[float],
    closing_uniforms: Sequence[float],
    laws: Lawmaker | None = None,
) -> Verdict:
    """Apply the rule of Leviathan et al. 2023, Alg. 1 (Chen et al. 2023, Alg. 2) to one proposal.

    Parameters
    ----------
    p_target
        [k+1, V], float32 or wider: the target's law after each prefix of the proposal.
    q_draft
        [k, V]: the law that each token was drawn from; None for a deterministic drafter, whose
        laws are one-hot at its tokens.
    tokens
        The k drafted ids.
    test_uniforms
        k numbers in [0, 1), one for each test.
    closing_uniforms
        k+1 numbers in [0, 1): number i draws the closing token if i tokens were accepted.
    laws
        Who reads laws and draws from them; None: torch.

    Returns
    -------
    Verdict
        With the text's law equal to the target's, whatever the drafter.

    Raises
    ------
    ValueError
        If a drafted token has no mass in the law it is said to come from.
    """
    k = len(tokens)
    native = laws if laws is not None and laws.takes(p_target, q_draft) else None
    p_of, q_of = _masses(p_target, q_draft, tokens, native)
    accepted = 0
    # keep x_i while u_i < p_i(x_i) / q_i(x_i); written without the division, which could overflow
    while accepted < k and test_uniforms[accepted] * q_of[accepted] < p_of[accepted]:
        accepted += 1
    uniform, residual = closing_uniforms[accepted], None
    if native is not None:
        if accepted < k:
            residual = native.residual(p_target, q_draft, accepted, tokens[accepted])
        rows, row = (p_target, accepted) if residual is None else (residual, 0)
        closing, probability = native.draw(rows, row, uniform)
        residual = None if residual is None else residual[0]
        return Verdict(accepted, closing, p_of, q_of, probability, residual)
    law = p_target[accepted]
    if accepted < k:
        residual = law = residual_law(law, _row(q_draft, tokens, accepted, law))
    closing = draw(law, uniform)
    probability = float(law[closing]) / float(law.sum())
    return Verdict(accepted, closing, p_of, q_of, probability, residual)


def accept_greedy(
    target_ids: Sequence[int], tokens: Sequence[int], q_draft: Tensor | None = None
) -> Verdict:
    """Apply the rule to one-hot laws of the target: keep tokens while each is its argmax.

    Parameters
    ----------
    target_ids
        The k+1 argmax ids of the target, lowest id on a tie.
    tokens
        The k drafted ids.
    q_draft
        [k, V]: the law that each token was drawn from, where the drafter has a temperature of its
        own; None for one-hot laws. With u < 1 <= 1 / q it decides nothing, and is recorded.
    """
    k = len(tokens)
    accepted = 0
    while accepted < k and tokens[accepted] == target_ids[accepted]:
        accepted += 1
    p_of = tuple(float(tokens[i] == target_ids[i]) for i in range(k))
    return Verdict(accepted, target_ids[accepted], p_of, _draft_masses(q_draft, tokens), 1.0, None)


def _masses(
    p_target: Tensor, q_draft: Tensor | None, tokens: Sequence[int], laws: Lawmaker | None
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return p_target and q_draft of each drafted token."""
    k = len(tokens)
    if k == 0:
        return (), ()
    if laws is not None:
        q_of = (1.0,) * k if q_draft is None else laws.at(q_draft, tokens)
        return laws.at(p_target, tokens), check_masses(tokens, q_of)
    index = torch.tensor(tokens, device=p_target.device)[:, None]
    p_of = tuple(p_target[:k].gather(1, index)[:, 0].tolist())
    return p_of, _draft_masses(q_draft, tokens)


def _draft_masses(q_draft: Tensor | None, tokens: Sequence[int]) -> tuple[float, ...]:
    """Return q_draft of each drafted token; each must have been possible."""
    if q_draft is None or not tokens:
        return (1.0,) * len(tokens)
    index = torch.tensor(tokens, device=q_draft.device)[:, None]
    return check_masses(tokens, q_draft.gather(1, index)[:, 0].tolist())


def check_masses(tokens: Sequence[int], masses: Sequence[float]) -> tuple[float, ...]:
    """Return q_draft of each drafted token, if each was possible; else raise a ValueError."""
    for i, mass in enumerate(masses):
        if not mass > 0.0:
            raise ValueError(f"drafted token {tokens[i]} at {i} has no mass in its own law")
    return tuple(masses)


def _row(q_draft: Tensor | None, tokens: Sequence[int], i: int, like: Tensor) -> Tensor:
    """Return the law of the i-th drafted token; [V]."""
    if q_draft is not None:
        return q_draft[i]
    law = torch.zeros_like(like)
    law[tokens[i]] = 1.0
    return law
