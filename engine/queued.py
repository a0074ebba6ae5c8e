"""A round that runs on the device without the host: what is sent before it, what is read after.

The one transfer to the host brings the whole verdict: tokens, lengths, probabilities, and whether
every law was one. Knows drafts, laws and the rule as tensors; no model, no cache, no text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from engine.drafters.protocol import QueuedProposal
from engine.judgement import Judged
from engine.models.settling import uploaded
from engine.queued_rule import (
    QueuedUniforms,
    accept_greedy_queued,
    accept_queued,
    packet_of,
    read_verdict,
)
from engine.sampling import finite_rows, not_finite, probabilities
from engine.uniforms import Purpose, uniform

if TYPE_CHECKING:
    from torch import Tensor

    from engine.drafters.protocol import Proposal
    from engine.sampling import Sampling


@dataclass(frozen=True)
class Sent:
    """What the host knows of a round before it begins, on the device."""

    last: Tensor  # [1], the id that the target's pass reads first
    drafts: Tensor  # [k]: number i draws drafted token i
    uniforms: QueuedUniforms  # of a draft of k tokens

    @classmethod
    def of(cls, last: int, position: int, k: int, seed: int, device: torch.device) -> Sent:
        """Send the last token and the uniforms of a round that drafts k tokens, in one piece."""
        places = range(position, position + k)
        rows = [
            [uniform(seed, at, purpose) for at in places]
            for purpose in (Purpose.DRAFT, Purpose.TEST, Purpose.CORRECTION)
        ]
        lasts = [uniform(seed, position, Purpose.PLAIN)]
        lasts += [uniform(seed, at + 1, Purpose.BONUS) for at in places]
        numbers = [float(last), *rows[0], *rows[1], *rows[2], *lasts]
        flat = uploaded(numbers, torch.float64, device)
        first, drafts, tests, corrections, closings = torch.split(flat, [1, k, k, k, k + 1])
        return cls(first.long(), drafts, QueuedUniforms(tests, corrections, closings))


@dataclass(frozen=True)
class QueuedRound:
    """A round on its way: what was sent for it, and its draft."""

    sent: Sent
    proposal: QueuedProposal

    @classmethod
    def of(cls, sent: Sent, proposal: Proposal | QueuedProposal) -> QueuedRound:
        """Take a draft that stands on the device already, or send one that the host has made."""
        if isinstance(proposal, QueuedProposal):
            return cls(sent, proposal)
        ids = uploaded(proposal.tokens, torch.long, sent.last.device)
        queued = QueuedProposal(
            ids,
            proposal.q_draft,
            proposal.support,
            match=proposal.match,
            end=proposal.end,
            lower=proposal.lower,
        )
        return cls(sent, queued)

    @property
    def ids(self) -> Tensor:
        """The ids of the target's pass; [k+1]."""
        return torch.cat((self.sent.last, self.proposal.ids))

    def judge(
        self, logits: Tensor, scores: Tensor, sampling: Sampling, position: int, seed: int
    ) -> Judged:
        """Apply the rule, and read what came of the round.

        Parameters
        ----------
        logits, scores
            [k+1, V]: of the pass, and after bias and penalties.
        sampling
            Of the target.
        position, seed
            Of the round, for its records.

        Raises
        ------
        DraftscopeError
            Naming the side whose logits hold a NaN or an infinity.
        ValueError
            If a proposed token has no mass in the law it is said to come from.
        """
        ids, q_draft, sure = self.proposal.ids, self.proposal.q_draft, self.proposal.sure
        p_target: Tensor | None = None
        if sampling.greedy:
            largest, target_ids = scores.max(dim=-1)  # the lowest id on a tie
            verdict = accept_greedy_queued(target_ids, q_draft, ids, sure)
            flags = {"target_sound": largest.isfinite()}
        else:
            p_target = probabilities(scores, sampling, queued=True)
            verdict = accept_queued(p_target, q_draft, ids, sure, self._uniforms(ids.shape[0]))
            flags = {"target_sound": finite_rows(p_target)}
        if self.proposal.sound is not None:
            flags["drafter_sound"] = self.proposal.sound
        numbers = packet_of(verdict, **flags).read()
        count = int(numbers["count"][0])
        if not all(numbers.get("drafter_sound", ())[:count]):
            raise not_finite("drafter")
        if not all(numbers["target_sound"][: count + 1]):
            raise not_finite("target")
        found = read_verdict(numbers, verdict.residual)
        return Judged(
            self.proposal.read(found.tokens),
            position,
            seed,
            logits[: count + 1],
            None if p_target is None else p_target[: count + 1],
            found.verdict,
            found.target_ids,
        )

    def _uniforms(self, k: int) -> QueuedUniforms:
        """Return those of a draft of k tokens, which may be fewer than were sent for."""
        sent = self.sent.uniforms
        return QueuedUniforms(sent.tests[:k], sent.corrections[:k], sent.lasts[: k + 1])
