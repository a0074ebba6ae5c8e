"""One drafted token put through the rule: the law of what comes out, in closed form."""

from __future__ import annotations

import numpy as np
import torch

from engine.acceptance import accept

P = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)
Q = torch.tensor([0.2, 0.3, 0.5], dtype=torch.float64)


def output_law(p_target: torch.Tensor, q_draft: torch.Tensor) -> torch.Tensor:
    """The law of one token put through `accept`; [V] from [V] and [V].

    The verdict is asked at both ends of the unit interval of the test's uniform: accepted mass is
    where the threshold lies, found from the verdict's own acceptance probability; the residual is
    the one that the verdict drew from.
    """
    law = torch.zeros_like(p_target)
    both = torch.stack((p_target, p_target))
    for token in range(len(q_draft)):
        if q_draft[token] == 0.0:
            continue
        kept = accept(both, q_draft[None], [token], [0.0], [0.5, 0.5])
        chance = kept.acceptance_probabilities[0]
        assert (kept.accepted == 1) == (chance > 0.0)
        law[token] += q_draft[token] * chance
        refused = accept(both, q_draft[None], [token], [np.nextafter(1.0, 0.0)], [0.5, 0.5])
        if chance < 1.0 - 1e-12:
            assert refused.accepted == 0
            assert refused.residual is not None
            law += q_draft[token] * (1.0 - chance) * refused.residual
    return law
