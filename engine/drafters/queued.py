"""One round's draft as it grows on a device, with nothing read back until the round is judged.

What `engine.drafters.drafting` does token by token, as tensors: the draft does not stop where the
drafter is unsure, but says so of each token. Knows sampling and penalties; no model and no cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from engine.drafters.protocol import QueuedProposal
from engine.models.network import NOTHING
from engine.models.settling import uploaded
from engine.penalties import adjusted
from engine.sampling import drawn_ids, finite_rows, probabilities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from engine.drafters.protocol import Context, DraftRequest
    from engine.models.network import Passed, Wish
    from engine.models.transformer import LowerRows


class QueuedDraft:
    """The tokens drawn so far in one round, all of them on the device.

    Parameters are those of `engine.drafters.drafting.Draft`; the request has a `queue`.
    """

    def __init__(
        self,
        context: Context,
        request: DraftRequest,
        vocabulary: int,
        support: Tensor | None = None,
    ) -> None:
        assert request.queue is not None, "a queued draft draws with uniforms on the device"
        self._uniforms = request.queue
        self._context = context
        self._request = request
        self._vocabulary = vocabulary
        self._support = support
        self._ids: list[Tensor] = []  # [1] each, as all of these
        self._laws: list[Tensor] = []
        self._sure: list[Tensor] = []
        self._sound: list[Tensor] = []

    @property
    def over(self) -> bool:
        """Whether as many tokens were drawn as were asked for."""
        return self.full

    @property
    def full(self) -> bool:
        """Whether as many tokens were drawn as were asked for."""
        return len(self._ids) >= self._request.k

    @property
    def newest(self) -> Tensor:
        """The last token drawn, as a pass reads it; [1]."""
        return self._ids[-1]

    def fed(self, tokens: Sequence[int]) -> Tensor:
        """Return ids of the text as a pass reads them."""
        return uploaded(tokens, torch.long, self._uniforms.device)

    @property
    def wish(self) -> Wish:
        """What to find of scores on the way: nothing, as all is found on the device."""
        return NOTHING

    def extend(self, logits: Tensor, found: Passed | None = None) -> Tensor:
        """Draw the next token from logits [1, V] or [1, R], and return it; [1].

        `found`, which the host knows already, is not used.
        """
        sampling = self._request.sampling
        self._note_confidence(logits)
        drawn = self._drawn() if sampling.remembers else ()
        scores = adjusted(logits, sampling, self._context.seen, drawn, self._support)
        if sampling.greedy:
            largest, columns = scores.max(dim=-1)  # the lowest id on a tie
            self._sound.append(largest.isfinite())
        else:
            law = probabilities(scores, sampling, queued=True)
            at = len(self._ids)
            columns = drawn_ids(law, self._uniforms[at : at + 1])
            self._sound.append(finite_rows(law))
            self._laws.append(law)
        support = self._support
        self._ids.append(columns if support is None else support.index_select(0, columns))
        return self._ids[-1]

    def proposal(self, lower: LowerRows | None = None) -> QueuedProposal:
        """Return what was drawn."""
        return QueuedProposal(
            self._drawn(),
            spread(self._laws, self._support, self._vocabulary),
            self._support if self._laws else None,
            torch.cat(self._sure) if self._sure else None,
            torch.cat(self._sound) if self._sound else None,
            lower=lower,
        )

    def _drawn(self) -> Tensor:
        if not self._ids:
            return self._uniforms.new_empty(0, dtype=torch.long)
        return torch.cat(self._ids)

    def _note_confidence(self, logits: Tensor) -> None:
        """Keep whether the drafter, before this draw, is as sure as was asked."""
        request = self._request
        if request.confidence <= 0.0:
            return
        if len(self._ids) < request.k_min:
            self._sure.append(torch.ones(1, dtype=torch.bool, device=logits.device))
            return
        wide = logits if logits.dtype == torch.float64 else logits.float()
        largest = torch.softmax(wide, dim=-1).amax(dim=-1).double()
        self._sure.append(~(largest < request.confidence))  # what is no number is told elsewhere


def spread(laws: Sequence[Tensor], support: Tensor | None, vocabulary: int) -> Tensor | None:
    """Put the laws of a draft, [1, R] each, into the target's vocabulary; [k, V], None of none."""
    if not laws:
        return None
    rows = torch.cat(list(laws))
    if support is None:
        return rows
    full = torch.zeros(len(laws), vocabulary, dtype=rows.dtype, device=rows.device)
    return full.scatter_(1, support.expand(len(laws), -1), rows)
