"""One round's draft as it grows: draw a token, keep its law, stop before a draw when unsure.

Shared by every drafter that has logits. Knows sampling and penalties; no model and no cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from engine.drafters.protocol import Proposal
from engine.drafters.queued import QueuedDraft, spread
from engine.models.network import Wish
from engine.penalties import adjusted
from engine.sampling import draw, probabilities, sound, sound_ids, sound_law
from engine.trace.events import DraftEnd

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from engine.drafters.protocol import Context, DraftRequest
    from engine.models.network import Best, Passed
    from engine.models.transformer import LowerRows


def begin_draft(
    context: Context, request: DraftRequest, vocabulary: int, support: Tensor | None = None
) -> Draft | QueuedDraft:
    """Return a draft for this request: one that stays on the device, if that is asked for."""
    kind = Draft if request.queue is None else QueuedDraft
    return kind(context, request, vocabulary, support)


class Draft:
    """The tokens drawn so far in one round, and the law that each came from.

    Parameters
    ----------
    context, request
        As the drafter was asked.
    vocabulary
        The target's V; laws are given in it.
    support
        [R], the ids that the drafter's columns stand for; None: all V in order. Draws run through
        the columns as they stand, so that only where `support` rises do they run by ids.
    """

    def __init__(
        self,
        context: Context,
        request: DraftRequest,
        vocabulary: int,
        support: Tensor | None = None,
    ) -> None:
        self.tokens: list[int] = []
        self._context = context
        self._request = request
        self._vocabulary = vocabulary
        self._support = support
        self._laws: list[Tensor] = []
        self._unsure = False

    @property
    def full(self) -> bool:
        """Whether as many tokens were drawn as were asked for."""
        return len(self.tokens) >= self._request.k

    @property
    def over(self) -> bool:
        """Whether nothing more is to be drawn."""
        return self._unsure or self.full

    @property
    def newest(self) -> list[int]:
        """The last token drawn, as a pass reads it."""
        return self.tokens[-1:]

    def fed(self, tokens: Sequence[int]) -> Sequence[int]:
        """Return ids of the text as a pass reads them."""
        return tokens

    @property
    def wish(self) -> Wish:
        """What to find of the next scores on the way: also what is drawn, if that can be."""
        request, sampling = self._request, self._request.sampling
        shares = request.confidence > 0.0
        if not sampling.softens:
            return Wish(shares)
        return Wish(shares, sampling.temperature, request.uniforms[len(self.tokens)])

    def extend(self, logits: Tensor, found: Passed | None = None) -> int | None:
        """Draw the next token from logits [1, V] or [1, R]; None where the drafter is unsure.

        `found` is what a pass has found of them on the way, by `wish`.

        Whether to draw is decided by the law alone and before the draw: a token once drawn is in
        the proposal.
        """
        best = None if found is None or found.best is None else found.best[-1]
        if self._too_unsure(logits, best):
            self._unsure = True
            return None
        sampling = self._request.sampling
        scores = adjusted(logits, sampling, self._context.seen, self.tokens, self._support)
        if found is None or best is None or scores is not logits:
            column = self._drawn(scores)
        elif sampling.greedy:
            column = sound(best, "drafter")
        elif found.laws is not None and found.drawn is not None:
            sound(best, "drafter")
            self._laws.append(found.laws)
            column = found.drawn
        else:
            column = self._drawn(scores)
        token = column if self._support is None else int(self._support[column])
        self.tokens.append(token)
        return token

    def proposal(self, lower: LowerRows | None = None) -> Proposal:
        """Return what was drawn."""
        return Proposal(
            tuple(self.tokens),
            spread(self._laws, self._support, self._vocabulary),
            self._support if self._laws else None,
            end=DraftEnd.UNSURE if self._unsure else None,
            lower=lower,
        )

    def _drawn(self, scores: Tensor) -> int:
        """Return the column that is drawn from scores [1, R], and keep the law that it is from."""
        request, sampling, laws = self._request, self._request.sampling, self._request.laws
        if sampling.greedy:
            return sound_ids(scores, "drafter")[0]
        uniform = request.uniforms[len(self.tokens)]
        if laws is None:
            law = sound_law(probabilities(scores, sampling), "drafter")
        else:
            law = laws.law(scores, sampling, "drafter")
        self._laws.append(law)
        if laws is None or not laws.takes(law):
            return draw(law[0], uniform)
        return laws.draw(law, 0, uniform)[0]

    def _too_unsure(self, logits: Tensor, best: Best | None) -> bool:
        """Return whether the largest probability, at temperature 1, is below what was asked."""
        request = self._request
        if request.confidence <= 0.0 or len(self.tokens) < request.k_min:
            return False
        if best is not None:
            return best.share < request.confidence
        wide = logits if logits.dtype == torch.float64 else logits.float()
        return float(torch.softmax(wide, dim=-1).amax()) < request.confidence
