"""Drafting with the target itself, cut short: its first layers, then its own norm and head.

Early exit, as in LayerSkip (Elhoushi et al. 2024) and Draft & Verify (Zhang et al. 2023), without
any training. It has no cache of its own: it writes the target's lower layers, past the target's
length, where the verifying pass would write the same. Knows the target's layers; no rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from engine.drafters.drafting import begin_draft
from engine.drafters.names import EARLY
from engine.drafters.protocol import Proposal
from engine.models.transformer import LowerRows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from engine.drafters.protocol import Context, DraftRequest, QueuedProposal
    from engine.models.transformer import Transformer
    from engine.trace.events import ModelInfo


class EarlyExitDrafter:
    """Draws k tokens from the target's first layers.

    Where rows round alike whatever a pass's width, the verifying pass goes on from the rows that
    drafting has computed; elsewhere it computes them again, as it would for any other drafter.
    """

    cache = None  # the target's own serves

    def __init__(self, target: Transformer, layers: int, info: ModelInfo) -> None:
        """Attach to a target; `layers` from 1 to one less than it has."""
        self.spec = f"{EARLY}{layers}"
        self.info = info
        self._target = target
        self._layers = layers

    def begin(self) -> None:
        """Nothing to forget."""

    def prepare(self, context: Context, stopped: Callable[[], bool]) -> None:
        """Nothing to read: the target's prefill has filled its lower layers too."""

    def propose(self, context: Context, request: DraftRequest) -> Proposal | QueuedProposal:
        """Draft up to k tokens; each is run through the lower layers before the next is drawn."""
        if request.k == 0:
            return Proposal(())
        target, cache = self._target, context.cache
        assert cache is not None, "early exit reads and writes the target's cache"
        draft = begin_draft(context, request, target.vocabulary)
        waiting = draft.fed(context.tokens[cache.length :])
        rows: list[Tensor] = []  # one each, since the target's cache lacks one token only
        while not draft.over:
            rows.append(target.run_lower(waiting, cache, self._layers, len(rows)))
            draft.extend(target.logits(rows[-1]))
            waiting = draft.newest
        if not target.plan.rounds_alike:
            return draft.proposal()
        return draft.proposal(LowerRows(torch.cat(rows), self._layers))

    def observe(self, tokens: Sequence[int]) -> None:
        """Nothing to drop: nothing was counted in the target's cache."""

    def close(self) -> None:
        """Nothing is held."""
