"""Looking at a round's laws: the rows worth showing, entropies, overlap. Draws nothing.

Runs after the verdict and outside the round's own time. Knows laws and token pieces; no model, no
cache, no rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from engine.trace.events import Laws

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from engine.acceptance import Verdict
    from engine.drafters.protocol import Proposal
    from engine.sampling import Sampling

_BLOCK = 128  # ids whose maximum is taken first when looking for the largest


@dataclass(frozen=True)
class Column:
    """One law over the shown ids, and the mass of all other ids."""

    values: tuple[float, ...]
    rest: float


def top_ids(law: Tensor, count: int) -> Tensor:
    """Return the ids of the `count` largest entries of each row; [n, count] from [n, V].

    The largest entries lie in the blocks with the largest maxima, so only those are sorted: a
    pass over V and a small sort instead of a sort over V.
    """
    rows, vocabulary = law.shape
    if vocabulary <= 2 * count * _BLOCK:
        return law.topk(min(count, vocabulary), dim=-1).indices
    whole = vocabulary // _BLOCK
    blocks = law[:, : whole * _BLOCK].view(rows, whole, _BLOCK)
    best = blocks.amax(dim=-1).topk(count, dim=-1).indices
    ids = (best[:, :, None] * _BLOCK + torch.arange(_BLOCK, device=law.device)).flatten(1)
    tail = torch.arange(whole * _BLOCK, vocabulary, device=law.device).expand(rows, -1)
    ids = torch.cat((ids, tail), dim=-1)
    return ids.gather(1, law.gather(1, ids).topk(count, dim=-1).indices)


def entropies(law: Tensor) -> list[float]:
    """Return the entropy of each row in nats; n numbers from [n, V]."""
    logs = law.log().clamp_(min=-1e4)  # 0 log 0 = 0
    return [max(0.0, -value) for value in (law * logs).sum(dim=-1).tolist()]


class Observer:
    """Turns one round's tensors into `Laws`, a row each."""

    def __init__(self, top_n: int, piece: Callable[[int], bytes]) -> None:
        self._top_n = top_n
        self._piece = piece

    def observe(
        self,
        logits: Tensor,
        p_target: Tensor | None,
        proposal: Proposal,
        verdict: Verdict,
        sampling: Sampling,
    ) -> list[Laws]:
        """Describe every row of a pass.

        Parameters
        ----------
        logits
            [k+1, V].
        p_target
            [k+1, V], or None if greedy (one-hot at the argmax).
        proposal, verdict, sampling
            Of the round.

        Returns
        -------
        list of Laws
            k+1 of them; row `verdict.accepted` carries the residual if a token was rejected.
        """
        p_raw = torch.softmax(logits, dim=-1)
        raw_entropies = entropies(p_raw)
        if p_target is None:
            target_entropies = [0.0] * len(raw_entropies)
        elif sampling.changes_nothing:
            target_entropies = raw_entropies
        else:
            target_entropies = entropies(p_target)
        draft_entropies = (
            [0.0] * len(proposal.tokens)
            if proposal.q_draft is None
            else entropies(proposal.q_draft)
        )
        shown = self._shown(p_raw, proposal, verdict)
        laws = []
        for row, ids in enumerate(shown):
            drafted = row < len(proposal.tokens)
            index = torch.tensor(ids, device=logits.device)
            raw = _column(p_raw[row], index)
            target = _target_column(logits, p_target, row, ids, index)
            draft = _draft_column(proposal, row, ids, index) if drafted else Column((), 0.0)
            left = self._residual(verdict, proposal, row, ids, index)
            laws.append(
                Laws(
                    ids=tuple(ids),
                    pieces=tuple(self._piece(token) for token in ids),
                    p_target=target.values,
                    p_raw=raw.values,
                    q_draft=draft.values,
                    residual=left.values,
                    rest_p_target=target.rest,
                    rest_p_raw=raw.rest,
                    rest_q_draft=draft.rest,
                    rest_residual=left.rest,
                    entropy_target=target_entropies[row],
                    entropy_raw=raw_entropies[row],
                    entropy_draft=draft_entropies[row] if drafted else 0.0,
                    overlap=_overlap(p_target, logits, proposal, row) if drafted else None,
                )
            )
        return laws

    def _shown(self, p_raw: Tensor, proposal: Proposal, verdict: Verdict) -> list[list[int]]:
        """Return the ids to show of each row, most probable under the raw target law first.

        Temperature, top-k and top-p keep the order, so these are the top of `p_target` too.
        """
        union = top_ids(p_raw, self._top_n).tolist()
        if proposal.q_draft is not None:
            for row, ids in enumerate(top_ids(proposal.q_draft, self._top_n).tolist()):
                union[row] += ids
        for row, token in enumerate(proposal.tokens):
            union[row].append(token)
        union[verdict.accepted].append(verdict.closing)
        if verdict.residual is not None:
            union[verdict.accepted] += top_ids(verdict.residual[None], self._top_n)[0].tolist()
        shown = []
        for row, ids in enumerate(union):
            unique = list(dict.fromkeys(ids))
            mass = p_raw[row][torch.tensor(unique, device=p_raw.device)].tolist()
            order = sorted(range(len(unique)), key=lambda i: (-mass[i], unique[i]))
            shown.append([unique[i] for i in order])
        return shown

    def _residual(
        self, verdict: Verdict, proposal: Proposal, row: int, ids: Sequence[int], index: Tensor
    ) -> Column:
        rejected = row == verdict.accepted and row < len(proposal.tokens)
        if not rejected:
            return Column((), 0.0)
        if verdict.residual is not None:
            return _column(verdict.residual, index)
        return _one_hot(ids, verdict.closing)  # greedy: the residual of one-hot laws


def _column(law: Tensor, index: Tensor) -> Column:
    values = tuple(law[index].tolist())
    return Column(values, max(0.0, 1.0 - sum(values)))


def _one_hot(ids: Sequence[int], token: int) -> Column:
    return Column(tuple(float(other == token) for other in ids), 0.0)


def _target_column(
    logits: Tensor, p_target: Tensor | None, row: int, ids: Sequence[int], index: Tensor
) -> Column:
    if p_target is not None:
        return _column(p_target[row], index)
    return _one_hot(ids, int(logits[row].argmax()))


def _draft_column(proposal: Proposal, row: int, ids: Sequence[int], index: Tensor) -> Column:
    if proposal.q_draft is not None:
        return _column(proposal.q_draft[row], index)
    return _one_hot(ids, proposal.tokens[row])


def _overlap(p_target: Tensor | None, logits: Tensor, proposal: Proposal, row: int) -> float:
    """Return sum(min(p_target, q_draft)) of one row: its probability of acceptance."""
    token = proposal.tokens[row]
    if p_target is None:
        return float(int(logits[row].argmax()) == token)
    if proposal.q_draft is None:
        return float(p_target[row, token])
    return min(1.0, float(torch.minimum(p_target[row], proposal.q_draft[row]).sum()))
